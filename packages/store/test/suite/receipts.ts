import { assert, describe, it } from "@effect/vitest";
import { EventLog, Writer } from "@tributary/store";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { context, createThread, rename } from "../support/commands.ts";
import type { StoreLayer } from "../support/layers.ts";

/** I2: one effect and one receipt for a command, whoever repeats it. */
export const receiptSuite = (layer: StoreLayer): void => {
  describe("receipts (I2)", () => {
    it.effect("the same command again gives the same receipt and no event", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const first = yield* writer.dispatch(createThread("T"), context);
        assert.deepStrictEqual(first, { status: "accepted", commandId: "create-T", sequence: 1 });
        yield* writer.dispatch(rename("T", "r1", "one"), context);
        assert.deepStrictEqual(yield* writer.dispatch(createThread("T"), context), first);
        assert.strictEqual(writer.head(), 2);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("eight at once have one effect", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        yield* writer.dispatch(createThread("T"), context);
        const receipts = yield* Effect.all(
          Array.from({ length: 8 }, () => writer.dispatch(rename("T", "r1", "one"), context)),
          { concurrency: "unbounded" },
        );
        for (const receipt of receipts) {
          assert.deepStrictEqual(receipt, { status: "accepted", commandId: "r1", sequence: 2 });
        }
        assert.strictEqual((yield* (yield* EventLog).page({ after: 0 })).length, 2);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("the same id with another body is a conflict, which is not stored", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        yield* writer.dispatch(createThread("T"), context);
        const first = yield* writer.dispatch(rename("T", "r1", "one"), context);
        const other = yield* writer.dispatch(rename("T", "r1", "two"), context);
        assert.strictEqual(other.status === "rejected" && other.rejection.code, "command_id_conflict");
        assert.strictEqual(writer.state("T")?.title, "one");
        assert.deepStrictEqual(yield* writer.dispatch(rename("T", "r1", "one"), context), first);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("the order of a body's fields does not matter", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        yield* writer.dispatch(createThread("T"), context);
        const first = yield* writer.dispatch(rename("T", "r1", "one"), context);
        const turned = { title: "one", threadId: "T", commandId: "r1", type: "thread.rename" } as const;
        assert.deepStrictEqual(yield* writer.dispatch(turned, context), first);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("go after 30 days; a retry from before still has no effect, because ids are never reused", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const first = yield* writer.dispatch(createThread("T"), context);
        yield* TestClock.adjust("29 days");
        assert.deepStrictEqual(yield* writer.dispatch(createThread("T"), context), first);
        yield* TestClock.adjust("2 days");
        // Who prunes every hour waits for the writer, as everybody does.
        for (const name of ["one", "two", "three"]) {
          yield* writer.dispatch(rename("T", name, name), context);
          yield* TestClock.adjust("1 hour");
        }
        yield* writer.dispatch(rename("T", "four", "four"), context);
        const head = writer.head();
        const late = yield* writer.dispatch(createThread("T"), context);
        assert.strictEqual(late.status === "rejected" && late.rejection.code, "thread_exists");
        assert.strictEqual(writer.head(), head);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("a rejection is a receipt too", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const first = yield* writer.dispatch(rename("T", "r1", "one"), context);
        assert.strictEqual(first.status === "rejected" && first.rejection.code, "thread_not_found");
        yield* writer.dispatch(createThread("T"), context);
        assert.deepStrictEqual(yield* writer.dispatch(rename("T", "r1", "one"), context), first);
        assert.strictEqual(writer.head(), 1);
      }).pipe(Effect.provide(layer())),
    );
  });
};
