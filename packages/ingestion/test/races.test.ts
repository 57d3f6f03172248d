/** What others commit in the middle of a visit: between the look at the committed state and the step, or beside it. */
import { assert, describe, it } from "@effect/vitest";
import type { ClientCommand } from "@tributary/contracts";
import { Writer } from "@tributary/store";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { ProviderRuntimeIngestion } from "../src/index.ts";
import { completed, delta, itemStarted, requestOpened, turnCompleted, turnStarted } from "./events.ts";
import {
  dispatch,
  journalledEvents,
  layer,
  logOf,
  memoryStore,
  messagesOf,
  openThread,
  pushAndInterpret,
  record,
  refusalsOf,
  typesOf,
  withService,
} from "./support.ts";

const actor = { kind: "client", id: "test" } as const;

/** A store where `command` is committed right before the step that comes when `now` says so. */
const before = (now: () => boolean, command: ClientCommand) => {
  let isDone = false;
  return withService(
    Writer,
    (real) => ({
      ...real,
      step: (threadId, run) =>
        Effect.suspend(() => {
          if (isDone || !now()) return real.step(threadId, run);
          isDone = true;
          return Effect.andThen(
            real.dispatch(command, { now: "2026-01-01T00:00:00.000Z", actor }),
            real.step(threadId, run),
          );
        }),
    }),
    memoryStore(),
  );
};

const everythingIsAccounted = Effect.gen(function* () {
  const ingestion = yield* ProviderRuntimeIngestion;
  const { applied, folded, held, refused } = ingestion.diagnostics("T");
  const counted = Object.values(refused).reduce((sum, count) => sum + count, 0);
  assert.strictEqual(applied + folded + held + counted, yield* journalledEvents());
  const rows = (yield* refusalsOf()).reduce((sum, { events = 1 }) => sum + events, 0);
  assert.strictEqual(rows, counted);
});

describe("a release that lands in the middle of a visit", () => {
  for (const [name, records] of [
    ["before a tool", [record(delta(" world")), record(itemStarted("a", "tool")), record(delta("!"))]],
    ["before a question", [record(delta(" world"), requestOpened(), delta("!"))]],
    ["before the end of its item", [record(delta(" world"), delta("!"), completed("Hello world!"))]],
    ["before the end of its turn", [record(delta(" world"), delta("!")), record(turnCompleted())]],
  ] as const)
    it.effect(`${name}: the text is there once, the session stays over, and nothing is open (I4, I5, I8)`, () => {
      let isArmed = false;
      const store = before(() => isArmed, { type: "session.release", commandId: "r", threadId: "T" });
      return Effect.gen(function* () {
        const ingestion = yield* ProviderRuntimeIngestion;
        const writer = yield* Writer;
        yield* openThread();
        yield* pushAndInterpret(turnStarted(), delta("Hello"));
        isArmed = true;
        yield* ingestion.submitAll("T", 1, records);
        yield* ingestion.drain("T");
        yield* TestClock.adjust(1_000);
        yield* ingestion.drain("T");
        const types = yield* typesOf();
        assert.strictEqual(types.filter((type) => type === "session.released").length, 1);
        assert.strictEqual(Object.values(yield* messagesOf()).join(""), "Hello world!");
        const state = writer.state("T");
        assert.strictEqual(state?.session?.state, "released");
        assert.isUndefined(state?.turn);
        for (const open of [state?.texts, state?.activities, state?.requests, state?.tasks])
          assert.deepStrictEqual(open, []);
        assert.deepStrictEqual(ingestion.live("T"), []);
        const ended = (yield* logOf()).filter(({ type }) => type === "turn.ended");
        assert.strictEqual(ended.length, 1);
        yield* everythingIsAccounted;
      }).pipe(Effect.provide(layer({}, store)));
    });

  it.effect("a deletion: what was on its way is refused, with as many events as there were (I5)", () => {
    let isArmed = false;
    const store = before(() => isArmed, { type: "thread.delete", commandId: "d", threadId: "T" });
    return Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* pushAndInterpret(turnStarted(), delta("Hel"), delta("lo"));
      isArmed = true;
      yield* ingestion.submit("T", 1, record(delta(" world"), itemStarted("a", "tool")));
      yield* ingestion.drain("T");
      assert.deepStrictEqual(yield* messagesOf(), {});
      assert.deepStrictEqual(
        (yield* refusalsOf()).map(({ seq, type, reason, events = 1 }) => [seq, type, reason, events]),
        [
          [2, "content.delta", "thread_deleted", 3],
          [4, "item.started", "thread_deleted", 1],
        ],
      );
      yield* everythingIsAccounted;
    }).pipe(Effect.provide(layer({}, store)));
  });
});

describe("delivery that is switched in the middle of a message", () => {
  const configure = (commandId: string, textDelivery: "streaming" | "buffered") =>
    dispatch({ type: "thread.configure", commandId, threadId: "T", textDelivery });

  it.effect("to buffered: what came is held from then on; back to streaming: it ages again", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const text = Effect.map(Effect.andThen(ingestion.interpreted("T"), messagesOf()), (all) => all["t1//m#0"]);
      yield* openThread();
      yield* pushAndInterpret(turnStarted(), delta("one "));
      yield* TestClock.adjust(1_000);
      assert.strictEqual(yield* text, "one ");
      yield* pushAndInterpret(delta("two "));
      yield* TestClock.adjust(500);
      // Its timer is set already: it must not go off.
      yield* configure("b", "buffered");
      yield* pushAndInterpret(delta("three "));
      yield* TestClock.adjust(60_000);
      assert.strictEqual(yield* text, "one ");
      yield* ingestion.drain("T");
      assert.strictEqual(yield* text, "one ");
      assert.deepInclude(ingestion.live("T")[0], { offset: 4, text: "two three " });
      yield* configure("s", "streaming");
      yield* TestClock.adjust(1);
      assert.strictEqual(yield* text, "one two three ");
      yield* pushAndInterpret(delta("four"));
      yield* TestClock.adjust(1_000);
      assert.strictEqual(yield* text, "one two three four");
      yield* everythingIsAccounted;
    }).pipe(Effect.provide(layer())),
  );

  it.effect("to buffered, and the item ends: its text is whole, in one message", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* pushAndInterpret(turnStarted(), delta("one "));
      yield* TestClock.adjust(1_000);
      yield* configure("b", "buffered");
      yield* pushAndInterpret(delta("two"), completed("one two"));
      yield* ingestion.interpreted("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "one two" });
      assert.deepStrictEqual(
        (yield* typesOf()).slice(1),
        ["message.appended", "message.appended", "message.completed"].toSpliced(1, 0, "thread.configured"),
      );
    }).pipe(Effect.provide(layer())),
  );
});
