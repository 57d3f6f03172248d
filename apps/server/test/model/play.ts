/** Plays a script on the stage of the scenario runner, and writes down what each line brought about. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scenarioState } from "@tributary/projections";
import type { ScenarioState } from "@tributary/projections";
import type { LogEvent } from "@tributary/store";
import type { Refusal } from "@tributary/contracts";
import { Clock, Effect, References } from "effect";
import { runLine } from "../../src/scenario/lines.ts";
import { parseScript } from "../../src/scenario/script.ts";
import { openStage } from "../../src/scenario/stage.ts";
import type { ScenarioReceipt, Stage } from "../../src/scenario/stage.ts";
import type { StubCall } from "../../src/scenario/stub.ts";
import { letGo, stopEverything } from "./script.ts";
import type { ScriptLine } from "./script.ts";

export interface Played {
  readonly line: ScriptLine;
  readonly receipt: ScenarioReceipt | undefined;
  readonly calls: ReadonlyArray<StubCall>;
  readonly events: ReadonlyArray<LogEvent>;
  /** How many deltas had been refused after it. */
  readonly refused: number;
}

export interface Trace {
  readonly script: ReadonlyArray<Played>;
  /** People stopped everything while every call hung, and waited as long as an interrupt may take. */
  readonly stopped: ReadonlyArray<Played>;
  /** They released every session, and waited. */
  readonly released: ReadonlyArray<Played>;
  /** The whole log as it stands at the end. */
  readonly log: ReadonlyArray<LogEvent>;
  readonly refusals: ReadonlyArray<Refusal>;
  readonly final: ScenarioState;
  readonly rebuilt: ScenarioState;
  readonly liveSessions: number;
}

const paged = Effect.fnUntraced(function* <A, E>(
  after: number,
  numberOf: (item: A) => number,
  page: (after: number) => Effect.Effect<ReadonlyArray<A>, E>,
) {
  const all: Array<A> = [];
  for (let from = after; ;) {
    const next = yield* page(from);
    const last = next.at(-1);
    if (last === undefined) return all;
    all.push(...next);
    from = numberOf(last);
  }
});

const logAfter = (stage: Stage, after: number) =>
  paged(
    after,
    ({ sequence }: LogEvent) => sequence,
    (from) => stage.world().log.page({ after: from }),
  );

const allRefusals = (stage: Stage) =>
  paged(
    0,
    ({ id }: Refusal & { readonly id: number }) => id,
    (after) => stage.world().refusals.page({ after, limit: 500 }),
  );

const perform = Effect.fnUntraced(function* (stage: Stage, script: ReadonlyArray<ScriptLine>) {
  let head = 0;
  const play = Effect.fnUntraced(function* (line: ScriptLine) {
    const receipts = stage.receipts.length;
    const calls = stage.stub.calls.length;
    for (const numbered of parseScript(JSON.stringify(line))) yield* runLine(stage, numbered);
    yield* stage.settle;
    const events = yield* logAfter(stage, head);
    head = events.at(-1)?.sequence ?? head;
    const refused = (yield* allRefusals(stage)).filter(({ type }) => type === "content.delta").length;
    return { line, receipt: stage.receipts[receipts], calls: stage.stub.calls.slice(calls), events, refused };
  });
  yield* stage.open;
  const played: Array<Played> = yield* Effect.forEach(script, play);
  const stopped: Array<Played> = yield* Effect.forEach(stopEverything, play);
  const released: Array<Played> = yield* Effect.forEach(letGo, play);
  yield* stage.drain;
  const { engine, rows, store } = stage.world();
  const final = scenarioState(rows);
  const liveSessions = (yield* engine.sessions).length;
  yield* store.rebuild;
  const trace: Trace = {
    script: played,
    stopped,
    released,
    log: yield* logAfter(stage, 0),
    refusals: yield* allRefusals(stage),
    final,
    rebuilt: scenarioState(rows),
    liveSessions,
  };
  return trace;
});

/** Plays it on a fresh temporary store. */
export const playScript = (script: ReadonlyArray<ScriptLine>): Promise<Trace> =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tributary-model-"))),
    (dir) =>
      Effect.flatMap(openStage(dir, dir), (stage) =>
        Effect.ensuring(perform(stage, script), stage.close).pipe(
          Effect.provideService(Clock.Clock, stage.time.clock),
          // Hosts that are killed on purpose have much to complain about.
          Effect.provideService(References.MinimumLogLevel, "None"),
        ),
      ),
    (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true })),
  ).pipe(Effect.runPromise);
