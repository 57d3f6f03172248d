/** The service over the real store: push, drain, assert. Time is virtual; nothing sleeps. */
import { assert, describe, it } from "@effect/vitest";
import { mask } from "@tributary/domain";
import { Journal, Signals, Writer } from "@tributary/store";
import { Deferred, Effect, Fiber, Layer } from "effect";
import { TestClock } from "effect/testing";
import { ProviderRuntimeIngestion, Secrets } from "../src/index.ts";
import { completed, delta, exited, itemStarted, requestOpened, turnCompleted, turnStarted } from "./events.ts";
import {
  decide,
  dispatch,
  journalledEvents,
  layer,
  logOf,
  messagesOf,
  openSession,
  openThread,
  push,
  pushAndDrain,
  pushAndInterpret,
  pushTo,
  record,
  refusalsOf,
  typesOf,
} from "./support.ts";

const run = <A, E>(
  name: string,
  body: Effect.Effect<A, E, Layer.Success<ReturnType<typeof layer>>>,
  over: ReturnType<typeof layer> = layer(),
) => it.effect(name, () => Effect.provide(body, over));

describe("drain", () => {
  run(
    "resolves when everything taken before is journalled, interpreted, committed and visible",
    Effect.gen(function* () {
      yield* openThread();
      yield* pushAndDrain(turnStarted(), delta("Hello "), delta("world"));
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello world" });
      yield* pushAndDrain(completed("Hello world!"), turnCompleted(), exited);
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello world!" });
      assert.deepStrictEqual(yield* typesOf(), [
        "turn.started",
        "message.appended",
        "message.appended",
        "message.completed",
        "turn.ended",
        "session.exited",
      ]);
    }),
  );

  run(
    "leaves buffered text held, and interprets all the same",
    Effect.gen(function* () {
      yield* openThread("T", "buffered");
      yield* pushAndDrain(turnStarted(), delta("Hello"));
      assert.deepStrictEqual(yield* typesOf(), ["turn.started"]);
      yield* dispatch({ type: "thread.configure", commandId: "c", threadId: "T", textDelivery: "streaming" });
      yield* (yield* ProviderRuntimeIngestion).drain("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello" });
    }),
  );

  run(
    "that comes while a step is under way is not resolved by that step",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const signals = yield* Signals;
      yield* openThread();
      yield* pushAndInterpret(turnStarted());
      // The step with the tool commits; before it is told so, somebody asks for a flush.
      const fork = Effect.runForkWith(yield* Effect.context<Layer.Success<ReturnType<typeof layer>>>());
      const asked = yield* Deferred.make<Record<string, string>>();
      let isAsked = false;
      yield* signals.onCommit(() => {
        if (!isAsked) fork(Deferred.into(Effect.orDie(Effect.andThen(ingestion.drain("T"), messagesOf())), asked));
        isAsked = true;
      });
      yield* ingestion.submit("T", 1, record(itemStarted("a", "tool"), delta("Hello")));
      assert.deepStrictEqual(yield* Deferred.await(asked), { "t1//m#0": "Hello" });
    }).pipe(Effect.scoped),
  );

  run(
    "of all threads waits for all",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      for (const thread of ["A", "B", "C"]) {
        yield* openThread(thread);
        yield* pushTo(thread, turnStarted(), delta(`I am ${thread}`));
      }
      yield* ingestion.drain();
      for (const thread of ["A", "B", "C"])
        assert.deepStrictEqual(yield* messagesOf(thread), { "t1//m#0": `I am ${thread}` });
    }),
  );

  run(
    "of nothing resolves",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* ingestion.drain();
      yield* ingestion.drain("nobody");
      yield* ingestion.interpreted("nobody");
    }),
  );
});

describe("age", () => {
  run(
    "streamed text enters the log a second after it came, updates after 200 ms",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* pushAndInterpret(turnStarted(), itemStarted("a", "tool"), delta("Hello"));
      yield* pushAndInterpret({
        type: "item.updated",
        turnId: "t1",
        itemId: "a",
        payload: { itemType: "tool", title: "x" },
      });
      yield* TestClock.adjust(200);
      yield* ingestion.interpreted("T");
      assert.deepStrictEqual((yield* typesOf()).slice(2), ["activity.updated"]);
      yield* TestClock.adjust(799);
      yield* ingestion.interpreted("T");
      assert.deepStrictEqual(yield* messagesOf(), {});
      yield* TestClock.adjust(1);
      yield* ingestion.interpreted("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello" });
    }),
  );

  run(
    "begins when delivery is switched to streaming",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread("T", "buffered");
      yield* pushAndInterpret(turnStarted(), delta("Hello"));
      yield* TestClock.adjust(60_000);
      yield* ingestion.interpreted("T");
      assert.deepStrictEqual(yield* messagesOf(), {});
      yield* dispatch({ type: "thread.configure", commandId: "c", threadId: "T", textDelivery: "streaming" });
      yield* TestClock.adjust(1);
      yield* ingestion.interpreted("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello" });
    }),
  );
});

describe("what others do to a thread", () => {
  run(
    "an interrupt flushes what is held, buffered text too",
    Effect.gen(function* () {
      const signals = yield* Signals;
      yield* openThread("T", "buffered");
      yield* pushAndInterpret(turnStarted(), delta("Hello"));
      const signal = yield* signals.subscribe(["T"]);
      yield* dispatch({ type: "turn.interrupt", commandId: "i", threadId: "T" });
      // Of its own accord: nobody asks for it, no record comes.
      yield* signal.wait;
      if ((yield* typesOf()).at(-1) !== "message.appended") yield* signal.wait;
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello" });
    }).pipe(Effect.scoped),
  );

  run(
    "a released session's held text still finds its message, which stays closed",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const writer = yield* Writer;
      yield* openThread();
      yield* pushAndDrain(turnStarted(), delta("Hello"));
      yield* pushAndInterpret(delta(" world"));
      yield* dispatch({ type: "session.release", commandId: "r", threadId: "T" });
      yield* ingestion.interpreted("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello world" });
      assert.deepStrictEqual(writer.state("T")?.texts, []);
    }),
  );

  run(
    "flush ends every segment, before somebody settles the session",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread("T", "buffered");
      yield* push(turnStarted(), delta("Half a\ud83d"));
      yield* ingestion.flush("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Half a\ud83d" });
      yield* decide("T", {
        type: "session.exit",
        generation: 1,
        seen: "host_restart",
        kind: "killed",
        recoverable: true,
      });
      assert.deepStrictEqual((yield* typesOf()).slice(2), ["message.completed", "turn.ended", "session.exited"]);
    }),
  );

  run(
    "a deleted thread takes nothing: held text and records are refused",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* pushAndInterpret(turnStarted(), delta("Hello"));
      yield* dispatch({ type: "thread.delete", commandId: "d", threadId: "T" });
      yield* pushAndDrain(delta(" world"));
      assert.deepStrictEqual(yield* messagesOf(), {});
      const { refused, held } = ingestion.diagnostics("T");
      assert.deepStrictEqual({ refused, held }, { refused: { thread_deleted: 2 }, held: 0 });
    }),
  );
});

describe("refusals", () => {
  run(
    "are recorded with session, seq and reason, and counted; nothing ends the stream",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* push(delta("before any turn"), turnStarted());
      yield* ingestion.submit("T", 7, record(delta("another generation")));
      yield* pushAndDrain(delta("fine"));
      const refusals = yield* refusalsOf();
      assert.deepStrictEqual(
        refusals.map(({ generation, seq, type, reason }) => [generation, seq, type, reason]),
        [
          [1, 1, "content.delta", "turn_unknown"],
          [7, 1, "content.delta", "other_generation"],
        ],
      );
      assert.deepStrictEqual(ingestion.diagnostics("T").refused, { turn_unknown: 1, other_generation: 1 });
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "fine" });
    }),
  );

  run(
    "of an unknown thread are recorded once, however often it speaks",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      for (let n = 0; n < 3; n += 1) {
        yield* pushTo("nobody", delta("x"));
        yield* ingestion.drain("nobody");
      }
      assert.strictEqual((yield* refusalsOf("nobody")).length, 3);
      assert.deepStrictEqual(ingestion.diagnostics("nobody").refused, { thread_unknown: 3 });
    }),
  );

  run(
    "of undecodable events keep the record, and its good events count",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const journal = yield* Journal;
      yield* openThread();
      yield* push(turnStarted());
      const events = [
        delta("good"),
        { type: "content.delta", payload: {} },
        "nonsense",
        { type: "future.event", payload: {} },
      ];
      yield* ingestion.submit("T", 1, record(...events));
      yield* ingestion.drain("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "good" });
      assert.deepStrictEqual(
        (yield* refusalsOf()).map(({ seq, type, reason }) => [seq, type, reason]),
        [
          [2, "content.delta", "undecodable"],
          [2, "unknown", "undecodable"],
          [2, "future.event", "undecodable"],
        ],
      );
      const [, kept] = journal.read({ threadId: "T", generation: 1, after: 0, limit: 9 });
      assert.strictEqual(kept?.frame, '{"test":true}');
    }),
  );
});

describe("the journal", () => {
  run(
    "numbers records of each session, and takes an event once",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const journal = yield* Journal;
      yield* openThread();
      const hello = { ...delta("Hello"), id: "d1" };
      yield* pushAndDrain(turnStarted(), hello, hello, { ...delta(" twice?"), id: "d1" }, delta("!"));
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello!" });
      const records = journal.read({ threadId: "T", generation: 1, after: 0, limit: 9 });
      assert.deepStrictEqual(
        records.map(({ seq, events }) => [seq, events.length]),
        [
          [1, 1],
          [2, 1],
          [3, 0],
          [4, 0],
          [5, 1],
        ],
      );
      const { applied } = ingestion.diagnostics("T");
      assert.strictEqual(applied, yield* journalledEvents());
    }),
  );

  run(
    "masks values known as secrets, and so does the log (I16)",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const journal = yield* Journal;
      yield* openThread();
      yield* push(turnStarted());
      const secret = "sk-12345";
      yield* ingestion.submit("T", 1, {
        kind: "frame",
        native: { kind: "k", frame: { text: `key ${secret}` } },
        events: [delta(`my key is ${secret}.`)],
      });
      yield* ingestion.drain("T");
      const everything = JSON.stringify([
        journal.read({ threadId: "T", generation: 1, after: 0, limit: 9 }),
        yield* logOf(),
        ingestion.live("T"),
      ]);
      assert.isFalse(everything.includes(secret));
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": `my key is ${mask}.` });
    }),
    layer().pipe(Layer.provide(Layer.succeed(Secrets, { of: () => ["sk-12345"] }))),
  );
});

describe("generations", () => {
  run(
    "follow each other; the older one's text is not lost when it was flushed in time, and its records are refused",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* push(turnStarted(), delta("Hello"));
      yield* ingestion.flush("T");
      yield* decide("T", {
        type: "session.exit",
        generation: 1,
        seen: "host_restart",
        kind: "killed",
        recoverable: true,
      });
      yield* openSession("T", 2);
      yield* ingestion.submit("T", 2, record(turnStarted("t2")));
      yield* ingestion.submit("T", 1, record(delta("old")));
      yield* ingestion.submit("T", 2, record(delta("new", { turnId: "t2" })));
      yield* ingestion.drain("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello", "t2//m#0": "new" });
      assert.deepStrictEqual(
        (yield* refusalsOf()).map(({ generation, seq, reason }) => [generation, seq, reason]),
        [[1, 3, "other_generation"]],
      );
    }),
  );
});

describe("order", () => {
  run(
    "text stands before the question that follows it, whatever came in between",
    Effect.gen(function* () {
      yield* openThread();
      yield* pushAndDrain(
        turnStarted(),
        itemStarted("a", "tool"),
        delta("May I?"),
        { type: "item.updated", turnId: "t1", itemId: "a", payload: { itemType: "tool", title: "x" } },
        requestOpened(),
      );
      assert.deepStrictEqual((yield* typesOf()).slice(2), [
        "activity.updated",
        "message.appended",
        "message.completed",
        "request.opened",
      ]);
    }),
  );
});

describe("a step", () => {
  run(
    "takes as many records as wait: a batch with effects is one transaction",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const signals = yield* Signals;
      yield* openThread();
      let commits = 0;
      yield* signals.onCommit(() => (commits += 1));
      const records = Array.from({ length: 40 }, (_, n) => record(itemStarted(`i${n}`, "tool"), delta("x")));
      yield* ingestion.submitAll("T", 1, [record(turnStarted()), ...records]);
      yield* ingestion.interpreted("T");
      assert.isAtMost(commits, 2);
      assert.strictEqual((yield* typesOf()).filter((type) => type === "activity.started").length, 40);
    }).pipe(Effect.scoped),
  );

  run(
    "is not needed for deltas: the writer does not hear of them",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const signals = yield* Signals;
      yield* openThread();
      yield* pushAndInterpret(turnStarted());
      let commits = 0;
      yield* signals.onCommit(() => (commits += 1));
      yield* push(...Array.from({ length: 500 }, () => delta("some text ")));
      yield* ingestion.interpreted("T");
      assert.strictEqual(commits, 0);
    }).pipe(Effect.scoped),
  );
});

describe("who waits for room", () => {
  it.effect("suspends beyond the limit of its thread, and goes on in order", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      const texts = Array.from({ length: 200 }, (_, n) => `${n};`);
      const records = [record(turnStarted()), ...texts.map((text) => record(delta(text)))];
      const fiber = yield* Effect.forkChild(
        Effect.forEach(records, (each) => ingestion.submit("T", 1, each), { discard: true }),
      );
      yield* Effect.yieldNow;
      assert.isAtMost(ingestion.waitingBytes(), 10_000);
      yield* Fiber.join(fiber);
      yield* ingestion.drain("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": texts.join("") });
      assert.strictEqual(ingestion.waitingBytes(), 0);
    }).pipe(Effect.provide(layer({ threadBytes: 10_000, totalBytes: 20_000 }))),
  );

  it.effect("takes a batch that does not fit in parts", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      const records = Array.from({ length: 100 }, (_, n) => record(delta(`${n};`)));
      yield* ingestion.submitAll("T", 1, [record(turnStarted()), ...records]);
      yield* ingestion.drain("T");
      assert.strictEqual((yield* messagesOf())["t1//m#0"], records.map((_, n) => `${n};`).join(""));
    }).pipe(Effect.provide(layer({ threadBytes: 5_000, totalBytes: 5_000 }))),
  );
});

describe("memory", () => {
  run(
    "of a thread whose session is over is given back",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      for (let n = 0; n < 20; n += 1) {
        const thread = `thread ${n}`;
        yield* openThread(thread);
        yield* pushTo(thread, turnStarted(), delta("x"), exited);
        yield* ingestion.drain(thread);
        assert.strictEqual(ingestion.diagnostics(thread).applied, 3);
      }
      assert.strictEqual(ingestion.lanes(), 0);
    }),
  );
});
