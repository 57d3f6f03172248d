import { assert, describe, it } from "@effect/vitest";
import { EventLog, isKnown, Signals, StoreConnections, Writer } from "@tributary/store";
import { Effect, Fiber } from "effect";
import { context, createThread, rename } from "../support/commands.ts";
import type { StoreLayer } from "../support/layers.ts";

/** Two threads whose events alternate: A has the odd sequences, B the even ones. */
const alternate = (events: number) =>
  Effect.gen(function* () {
    const writer = yield* Writer;
    yield* writer.dispatch(createThread("A"), context);
    yield* writer.dispatch(createThread("B"), context);
    for (let index = 2; index < events; index += 1) {
      yield* writer.dispatch(rename(index % 2 === 0 ? "A" : "B", `r${index}`, `title ${index}`), context);
    }
  });

export const logSuite = (layer: StoreLayer): void => {
  describe("event log", () => {
    it.effect("pages follow a cursor, of all threads or of one", () =>
      Effect.gen(function* () {
        const log = yield* EventLog;
        assert.deepStrictEqual(yield* log.page({ after: 0 }), []);
        yield* alternate(41);
        const sequences = (query: Parameters<typeof log.page>[0]) =>
          Effect.map(log.page(query), (events) => events.map((event) => event.sequence));
        assert.deepStrictEqual(yield* sequences({ after: 7, limit: 3 }), [8, 9, 10]);
        for (let after = 0; after <= 42; after += 1) {
          const expected = Array.from({ length: 21 }, (_, index) => index * 2 + 1).filter(
            (sequence) => sequence > after,
          );
          assert.deepStrictEqual(yield* sequences({ after, threadId: "A" }), expected, `after ${after}`);
        }
        assert.deepStrictEqual(yield* sequences({ after: 0, threadId: "nobody" }), []);
        assert.deepStrictEqual(yield* sequences({ after: 41 }), []);
        assert.strictEqual(yield* log.head, 41);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("an encoded page is the same events, their payloads as JSON", () =>
      Effect.gen(function* () {
        const log = yield* EventLog;
        yield* alternate(12);
        for (const query of [
          { after: 0 },
          { after: 3, limit: 2 },
          { after: 4, threadId: "A" },
          { after: 0, maxBytes: 9 },
        ]) {
          const expected = (yield* log.page(query)).map(({ sequence, streamId, type, occurredAt, payload }) => ({
            sequence,
            streamId,
            type,
            occurredAt,
            payload,
          }));
          const encoded = yield* log.encodedPage(query);
          assert.deepStrictEqual(
            encoded.map((event) => ({ ...event, payload: JSON.parse(event.payload) })),
            expected,
          );
        }
      }).pipe(Effect.provide(layer())),
    );

    it.effect("a page ends at its bytes, but has at least one event", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const log = yield* EventLog;
        yield* writer.dispatch(createThread("T"), context);
        for (const id of ["a", "b", "c"]) yield* writer.dispatch(rename("T", id, id.repeat(1_000)), context);
        assert.strictEqual((yield* log.page({ after: 1, maxBytes: 2_200 })).length, 2);
        assert.strictEqual((yield* log.page({ after: 1, maxBytes: 10 })).length, 1);
        assert.strictEqual((yield* log.page({ after: 0, limit: 5_000 })).length, 4);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("keeps text as it came, lone surrogates and control characters included (I4)", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const log = yield* EventLog;
        const title = "a\ud800b\u0000c\u2028d😀\udfff";
        yield* writer.dispatch(createThread("T"), context);
        yield* writer.dispatch(rename("T", "r1", title), context);
        const [event] = yield* log.page({ after: 1 });
        assert.deepStrictEqual(event?.payload, { title, by: "client" });
      }).pipe(Effect.provide(layer())),
    );

    it.effect("an event of a type that this build does not know is there and told apart (I18)", () =>
      Effect.gen(function* () {
        const log = yield* EventLog;
        const { main } = yield* StoreConnections;
        yield* alternate(2);
        main.exec(`INSERT INTO events SELECT 3, stream_id, 2, 'x-3', 'thread.teleported', 9, occurred_at, NULL, NULL, NULL,
          actor, NULL, '{"to":"moon"}' FROM events WHERE sequence = 1`);
        const [event] = yield* log.page({ after: 2 });
        assert.isTrue(event !== undefined && !isKnown(event));
        assert.deepStrictEqual(
          [event?.type, event?.schemaVersion, event?.payload],
          ["thread.teleported", 9, { to: "moon" }],
        );
      }).pipe(Effect.provide(layer())),
    );
  });

  describe("signals", () => {
    it.effect("a touch before the wait is not lost, and one touch wakes once", () =>
      Effect.gen(function* () {
        const signals = yield* Signals;
        const signal = yield* signals.subscribe(["a", "b"]);
        signals.touch(["b"]);
        yield* signal.wait;
        const waiting = yield* Effect.forkChild(signal.wait, { startImmediately: true });
        signals.touch(["other"]);
        assert.isUndefined(waiting.pollUnsafe());
        signals.touch(["a"]);
        yield* Fiber.join(waiting);
      }).pipe(Effect.scoped, Effect.provide(layer())),
    );

    it.effect("a reader that waits or subscribes again at once is woken once a touch", () =>
      Effect.gen(function* () {
        const signals = yield* Signals;
        let waits = 0;
        let subscriptions = 0;
        const signal = yield* signals.subscribe(["a", "b"]);
        yield* Effect.forkChild(Effect.forever(Effect.tap(signal.wait, () => Effect.sync(() => (waits += 1)))), {
          startImmediately: true,
        });
        const anew = Effect.scoped(
          Effect.gen(function* () {
            yield* (yield* signals.subscribe(["a"])).wait;
            subscriptions += 1;
          }),
        );
        yield* Effect.forkChild(Effect.forever(anew), { startImmediately: true });
        const settle = Effect.repeat(Effect.yieldNow, { times: 10 });
        signals.touch(["a", "b"]);
        yield* settle;
        assert.deepStrictEqual([waits, subscriptions], [1, 1]);
        signals.touch(["a"]);
        yield* settle;
        assert.deepStrictEqual([waits, subscriptions], [2, 2]);
      }).pipe(Effect.scoped, Effect.provide(layer())),
    );

    it.effect("a waiter that is interrupted as it is told leaves the touch for the next wait", () =>
      Effect.gen(function* () {
        const signals = yield* Signals;
        const signal = yield* signals.subscribe(["a"]);
        const waiting = yield* Effect.forkChild(signal.wait, { startImmediately: true });
        yield* Fiber.interrupt(waiting);
        signals.touch(["a"]);
        yield* signal.wait;
      }).pipe(Effect.scoped, Effect.provide(layer())),
    );

    it.effect("a listener that throws harms neither the others nor the writer, and ends with its scope", () =>
      Effect.gen(function* () {
        const signals = yield* Signals;
        const writer = yield* Writer;
        let heard = 0;
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* signals.onCommit(() => {
              throw new Error("a listener's bug");
            });
            yield* signals.onCommit(() => {
              heard += 1;
            });
            assert.strictEqual((yield* writer.dispatch(createThread("T"), context)).status, "accepted");
          }),
        );
        yield* writer.dispatch(rename("T", "r1", "title"), context);
        assert.strictEqual(heard, 1);
      }).pipe(Effect.provide(layer())),
    );
  });
};
