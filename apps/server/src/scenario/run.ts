/** Runs a scenario file: a script on a fresh store with a stub runtime and a virtual clock (design section 11). */
import type { Refusal } from "@tributary/contracts";
import { scenarioState } from "@tributary/projections";
import type { ScenarioState } from "@tributary/projections";
import type { Difference, StoreError } from "@tributary/store";
import { Clock, Effect, References } from "effect";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runLine } from "./lines.ts";
import { parseScript, ScenarioFileError } from "./script.ts";
import { openStage } from "./stage.ts";
import type { ScenarioReceipt, Stage } from "./stage.ts";
import type { StubCall } from "./stub.ts";

/** What a scenario run prints. Arrays are in the order of occurrence. */
export interface ScenarioOutput {
  readonly receipts: ReadonlyArray<ScenarioReceipt>;
  readonly calls: ReadonlyArray<StubCall>;
  readonly refused: ReadonlyArray<Refusal>;
  readonly snapshots: Readonly<Record<string, ScenarioState>>;
  readonly final: ScenarioState;
  readonly events: ReadonlyArray<{
    readonly sequence: number;
    readonly type: string;
    readonly threadId?: string;
    readonly payload: unknown;
  }>;
}

export interface ScenarioOptions {
  /** Where relative `feed` files are looked for; the working folder unless said. */
  readonly folder?: string;
  /** Told at the end what a rebuild of the projections would change: nothing, if all is well (I14). */
  readonly onDifferences?: (differences: ReadonlyArray<Difference>) => void;
}

const pageSize = 1_000;

/** Reads all pages of something that is asked for after a number. */
const allPages = Effect.fnUntraced(function* <A>(
  page: (after: number) => Effect.Effect<ReadonlyArray<A>, StoreError>,
  numberOf: (item: A) => number,
) {
  const all: Array<A> = [];
  for (;;) {
    const last = all.at(-1);
    const next = yield* page(last === undefined ? 0 : numberOf(last));
    if (next.length === 0) return all;
    all.push(...next);
  }
});

const output = Effect.fnUntraced(function* (stage: Stage): Effect.fn.Return<ScenarioOutput, StoreError> {
  const { log, refusals, rows, writer } = stage.world();
  const refused = yield* allPages(
    (after) => refusals.page({ after, limit: pageSize }),
    ({ id }) => id,
  );
  const events = yield* allPages(
    (after) => log.page({ after, limit: pageSize }),
    ({ sequence }) => sequence,
  );
  return {
    receipts: stage.receipts,
    calls: stage.stub.calls,
    refused: refused.map(({ threadId, generation, seq, type, reason }) => ({
      threadId,
      generation,
      seq,
      type,
      reason,
    })),
    snapshots: stage.snapshots,
    final: scenarioState(rows),
    events: events.map(({ sequence, streamId, type, payload }) => ({
      sequence,
      type,
      ...(writer.state(streamId) === undefined ? {} : { threadId: streamId }),
      payload,
    })),
  };
});

const perform = Effect.fnUntraced(function* (text: string, dir: string, options: ScenarioOptions) {
  const script = yield* Effect.try({
    try: () => parseScript(text),
    catch: (cause) =>
      cause instanceof ScenarioFileError ? cause : new ScenarioFileError({ line: 0, message: String(cause) }),
  });
  const stage = yield* openStage(dir, options.folder ?? process.cwd());
  const play = Effect.gen(function* () {
    yield* stage.open;
    for (const numbered of script) {
      yield* runLine(stage, numbered);
      yield* stage.settle;
    }
    yield* stage.drain;
    if (options.onDifferences !== undefined) options.onDifferences(yield* stage.world().store.diff);
    return yield* output(stage);
  });
  return yield* Effect.ensuring(play, stage.close).pipe(
    Effect.provideService(Clock.Clock, stage.time.clock),
    // A host that is killed on purpose has much to complain about.
    Effect.provideService(References.MinimumLogLevel, "Error"),
  );
});

/** Runs a script. Fails with `ScenarioFileError`, which names the line, or with `StoreError`. */
export const runScenario = (
  text: string,
  options: ScenarioOptions = {},
): Effect.Effect<ScenarioOutput, ScenarioFileError | StoreError> =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tributary-scenario-"))),
    (dir) => perform(text, dir, options),
    (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true })),
  );
