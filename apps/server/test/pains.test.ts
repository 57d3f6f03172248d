/**
 * What people suffer with systems that do this job, where it is a matter of measure. The numbers are those of the list in
 * `docs/invariants.md`; the other cases are scenario files (`scenarios/pain-….ndjson`) or named by the tests it points to.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { ClientCommand } from "@tributary/contracts";
import type { Receipt } from "@tributary/contracts";
import { limits } from "@tributary/ingestion";
import { Views } from "@tributary/projections";
import { Clock, Effect, Schema } from "effect";
import { openStage } from "../src/scenario/stage.ts";
import type { Stage } from "../src/scenario/stage.ts";
import { addInstance } from "./support/agents.ts";
import { freshServer } from "./support/server.ts";
import { is, openSse } from "./support/sse.ts";

const decode = Schema.decodeUnknownSync(ClientCommand);

/** A stage of the scenario runner, played by hand. */
const onStage = <A, E>(play: (stage: Stage) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tributary-pains-"))),
    (dir) =>
      Effect.flatMap(openStage(dir, dir), (stage) =>
        Effect.orDie(stage.open).pipe(
          Effect.andThen(play(stage)),
          Effect.ensuring(stage.close),
          Effect.provideService(Clock.Clock, stage.time.clock),
        ),
      ),
    (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true })),
  );

let commands = 0;
const send = (stage: Stage, command: Readonly<Record<string, unknown>>) =>
  Effect.suspend((): Effect.Effect<Receipt, unknown> => {
    commands += 1;
    const body = decode({ commandId: `c${commands}`, ...command });
    return stage.world().engine.dispatch(body, { kind: "client", id: "test" });
  }).pipe(
    Effect.orDie,
    Effect.tap(() => stage.settle),
  );

const openThread = Effect.fnUntraced(function* (stage: Stage, threadId: string) {
  yield* send(stage, { type: "thread.create", threadId, cwd: "/p", instance: "stub" });
  yield* Effect.orDie(stage.world().engine.open(threadId));
  yield* stage.settle;
});

const says = (stage: Stage, threadId: string, ...events: ReadonlyArray<Record<string, unknown>>) =>
  stage.world().ingestion.submitAll(
    threadId,
    stage.world().writer.state(threadId)?.session?.generation ?? 1,
    events.map((event) => ({ kind: "frame", native: { kind: "test", frame: {} }, events: [event] })),
  );

const started = (turnId: string) => ({ type: "turn.started", turnId, payload: {} });
const completed = (turnId: string) => ({ type: "turn.completed", turnId, payload: { outcome: "completed" } });
const delta = (turnId: string, text: string) => ({
  type: "content.delta",
  turnId,
  itemId: "m",
  payload: { stream: "assistant_text", text },
});

describe("pain 14: one reply is a flood of events, and each costs what the thread weighs", () => {
  const pieces = 3_000;
  const piece = "abc ";

  /** A reply of 12,000 characters over 30 s, and what it cost in message events and statements. */
  const reply = Effect.fnUntraced(function* (stage: Stage, turnId: string) {
    const { connections, log } = stage.world();
    const head = yield* Effect.orDie(log.head);
    const before = connections.main.executed;
    yield* says(stage, "T", started(turnId));
    for (let tick = 0; tick < 300; tick += 1) {
      yield* says(stage, "T", ...Array.from({ length: pieces / 300 }, () => delta(turnId, piece)));
      yield* stage.time.advance(100, stage.settle);
    }
    yield* says(stage, "T", completed(turnId));
    yield* stage.drain;
    const events = yield* Effect.orDie(log.page({ after: head }));
    const messages = events.filter(({ type }) => type.startsWith("message."));
    return { messages: messages.length, statements: connections.main.executed - before };
  });

  it.effect(
    "a reply over 30 s is at most 40 message events, and costs as much in a long thread as in an empty one",
    () =>
      onStage((stage) =>
        Effect.gen(function* () {
          yield* openThread(stage, "T");
          yield* reply(stage, "first");
          const second = yield* reply(stage, "second");
          assert.isAtMost(second.messages, 40);
          for (let turn = 0; turn < 200; turn += 1)
            yield* says(
              stage,
              "T",
              started(`t${turn}`),
              delta(`t${turn}`, piece.repeat(pieces)),
              completed(`t${turn}`),
            );
          yield* stage.drain;
          const last = yield* reply(stage, "last");
          assert.strictEqual(last.messages, second.messages);
          // Housekeeping by the clock is a statement more or less.
          assert.closeTo(last.statements, second.statements, 3);
        }),
      ),
  );
});

describe("pain 15: one busy thread delays another's reply", () => {
  const flood = 20_000;

  it.effect("another thread's prompt and reply come after a share of the flood, not after it", () =>
    onStage((stage) =>
      Effect.gen(function* () {
        yield* openThread(stage, "busy");
        yield* openThread(stage, "quiet");
        yield* says(stage, "busy", started("t"));
        yield* stage.settle;
        const { ingestion } = stage.world();
        const progress = (n: number) => ({
          type: "task.updated",
          turnId: "t",
          payload: { taskId: `k${n % 9}`, kind: "subagent", summary: `step ${n}` },
        });
        yield* says(stage, "busy", ...Array.from({ length: flood }, (_, n) => progress(n)));
        const waiting = () => ingestion.diagnostics("busy").waiting;
        const before = waiting();
        assert.isAbove(before, flood / 2);
        yield* says(stage, "quiet", started("q"), delta("q", "an answer"), completed("q"));
        yield* ingestion.interpreted("quiet");
        assert.strictEqual(stage.world().writer.state("quiet")?.lastTurnState, "completed");
        assert.isAtMost(before - waiting(), 4 * limits.roundRecords);
        yield* stage.drain;
        assert.strictEqual(waiting(), 0);
      }),
    ),
  );
});

describe("pains 16 and 17: a heavy thread", () => {
  const mebi = 2 ** 20;

  const heavy = Effect.fnUntraced(function* (stage: Stage, errors: number) {
    yield* openThread(stage, "T");
    yield* says(stage, "T", started("t"));
    for (let n = 0; n < errors; n += 1) {
      const message = `${n} `.padEnd(mebi, "e");
      const error = { class: "provider", message, retryable: true, fatal: false };
      yield* says(
        stage,
        "T",
        { type: "runtime.error", turnId: "t", payload: error },
        {
          type: "item.completed",
          turnId: "t",
          itemId: `i${n}`,
          payload: { itemType: "tool", status: "failed", title: message, output: { text: message } },
        },
      );
    }
    yield* says(stage, "T", completed("t"));
    yield* stage.drain;
  });

  /** How many statements it takes to be there again after an orderly end. */
  const restartCost = Effect.fnUntraced(function* (stage: Stage) {
    yield* Effect.orDie(stage.restart);
    const { main, journal } = stage.world().connections;
    return { main: main.executed, journal: journal.executed };
  });

  it.effect(
    "73 MB of errors and tools of a megabyte: the log stays small, a page is limited by bytes, and a start reads none of it",
    () =>
      Effect.gen(function* () {
        const light = yield* onStage((stage) => Effect.andThen(heavy(stage, 1), restartCost(stage)));
        yield* onStage((stage) =>
          Effect.gen(function* () {
            yield* heavy(stage, 73);
            const { log, rows } = stage.world();
            const events = yield* Effect.orDie(log.page({ after: 0 }));
            const sizes = events.map(({ payload }) => Buffer.byteLength(JSON.stringify(payload)));
            assert.isAtMost(Math.max(...sizes), 65_536);
            const page = yield* Effect.orDie(Views.make(rows).threadPage({ threadId: "T" }));
            assert.isAbove(page?.rows.length ?? 0, 0);
            assert.isDefined(page?.before);
            assert.isAtMost(Buffer.byteLength(JSON.stringify(page?.rows)), 131_072);
            assert.deepStrictEqual(yield* restartCost(stage), light);
          }),
        );
      }),
    60_000,
  );
});

describe("pain 19: catching up ends after a thousand events", () => {
  const tools = 600;
  const script = {
    name: "many",
    otherwise: Array.from({ length: tools }, (_, n) => ({
      do: "tool",
      itemType: "command",
      title: `step ${n}`,
      input: { command: `step ${n}` },
      exitCode: 0,
    })),
  };

  it.live(
    "a reader that comes late gets all of it, live and by pages",
    () =>
      Effect.gen(function* () {
        const server = yield* freshServer;
        const call = (...args: Parameters<typeof server.call>) => Effect.promise(() => server.call(...args));
        yield* addInstance(server, "many", script);
        const body = { threadId: "T", cwd: server.work, instance: "many", input: { inputId: "i", text: "go" } };
        yield* call("/threads", { body });
        const open = () => Effect.promise(() => openSse(`${server.url}/threads/T/live`, { token: server.token }));
        const first = yield* open();
        yield* Effect.promise(() => first.take(is("event", "turn.ended")));
        first.close();
        const late = yield* open();
        const frames = yield* Effect.promise(() => late.take(is("synced")));
        late.close();
        const streamed = frames.filter(is("event")).map(({ data }) => data as { readonly sequence: number });
        assert.strictEqual(streamed.filter((data) => "type" in data && data.type === "activity.ended").length, tools);
        const paged: Array<unknown> = [];
        for (let next: string | undefined = ""; next !== undefined;) {
          const page: { readonly events: ReadonlyArray<unknown>; readonly next?: string } = (yield* call(
            `/threads/T/events${next === "" ? "" : `?after=${encodeURIComponent(next)}`}`,
          )).body;
          paged.push(...page.events);
          next = page.events.length === 0 ? undefined : page.next;
        }
        assert.deepStrictEqual(streamed.slice(0, paged.length), paged);
        assert.isAbove(streamed.length, 1_000);
        assert.isAtLeast(paged.length, streamed.length - 1);
      }),
    60_000,
  );
});

describe("pain 22: whether a message steered, waits or began a turn is not told", () => {
  it.effect("its receipt says so, and so do its events", () =>
    onStage((stage) =>
      Effect.gen(function* () {
        yield* openThread(stage, "T");
        const submit = (inputId: string, delivery: string) =>
          Effect.map(send(stage, { type: "input.submit", threadId: "T", inputId, text: "x", delivery }), (receipt) =>
            receipt.status === "accepted" ? receipt.mode : receipt.rejection.code,
          );
        const modes = [yield* submit("i1", "auto")];
        yield* says(stage, "T", started("t"));
        yield* stage.settle;
        modes.push(yield* submit("i2", "auto"), yield* submit("i3", "queue"), yield* submit("i4", "prompt"));
        assert.deepStrictEqual(modes, ["prompt", "steer", "queue", "busy"]);
        const events = yield* Effect.orDie(stage.world().log.page({ after: 0 }));
        const queued = events.filter(({ type }) => type === "input.queued");
        assert.deepStrictEqual(
          queued.map(({ payload }) => (payload as { readonly mode: string }).mode),
          ["prompt", "steer", "queue"],
        );
      }),
    ),
  );
});
