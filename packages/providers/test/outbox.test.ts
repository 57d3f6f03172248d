import type { RuntimeRecord } from "@tributary/contracts";
import { Deferred, Effect, Fiber } from "effect";
import { it } from "@effect/vitest";
import { describe, expect } from "vitest";
import { makeOutbox } from "../src/outbox.ts";

const record = (name: string): RuntimeRecord => ({ kind: "frame", native: { kind: name, frame: null }, events: [] });
const records = (count: number): ReadonlyArray<RuntimeRecord> =>
  Array.from({ length: count }, (_, at) => record(`r${at}`));

/** An ingestion that takes nothing until its gate opens. */
const slow = () => {
  const taken: Array<string> = [];
  const gate = Deferred.makeUnsafe<void>();
  const emit = (each: RuntimeRecord) =>
    Effect.andThen(
      Deferred.await(gate),
      Effect.sync(() => taken.push(each.native.kind)),
    );
  return { taken, emit: (each: RuntimeRecord) => Effect.asVoid(emit(each)), open: Deferred.succeed(gate, undefined) };
};

describe("the outbox", () => {
  it.effect("hands over in order, and not before the one who puts is done", () =>
    Effect.gen(function* () {
      const ingestion = slow();
      yield* ingestion.open;
      const outbox = yield* makeOutbox(ingestion.emit);
      outbox.put(records(3));
      expect(ingestion.taken).toEqual([]);
      yield* outbox.drained;
      expect(ingestion.taken).toEqual(["r0", "r1", "r2"]);
    }),
  );

  it.effect("makes the reader wait only when many records wait", () =>
    Effect.gen(function* () {
      const ingestion = slow();
      const outbox = yield* makeOutbox(ingestion.emit);
      outbox.put(records(256));
      yield* outbox.room;
      outbox.put(records(1));
      const reader = yield* Effect.forkChild(outbox.room);
      yield* Effect.yieldNow;
      expect(reader.pollUnsafe()).toBeUndefined();
      yield* ingestion.open;
      yield* Fiber.join(reader);
    }),
  );

  it.effect("loses nothing when whoever waits is interrupted", () =>
    Effect.gen(function* () {
      const ingestion = slow();
      const outbox = yield* makeOutbox(ingestion.emit);
      outbox.put(records(2));
      const caller = yield* Effect.forkChild(outbox.drained);
      yield* Effect.yieldNow;
      yield* Fiber.interrupt(caller);
      yield* ingestion.open;
      yield* outbox.drained;
      expect(ingestion.taken).toEqual(["r0", "r1"]);
    }),
  );

  it.effect("ends with one last record; nothing follows it", () =>
    Effect.gen(function* () {
      const ingestion = slow();
      yield* ingestion.open;
      const outbox = yield* makeOutbox(ingestion.emit);
      outbox.put(records(1));
      yield* outbox.end(record("last"));
      outbox.put(records(1));
      yield* outbox.end(record("again"));
      yield* outbox.drained;
      expect(ingestion.taken).toEqual(["r0", "last"]);
    }),
  );
});
