import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { makeWorld, started } from "./support/world.ts";

describe("purge", () => {
  it.effect("of a deleted thread, once; others and unknown ones are left alone", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      assert.isFalse(yield* Effect.orDie(world.engine.purge("T")));
      assert.isFalse(yield* Effect.orDie(world.engine.purge("unknown")));
      yield* world.does({ type: "thread.delete", threadId: "T" });
      assert.isTrue(yield* Effect.orDie(world.engine.purge("T")));
      assert.isTrue(yield* Effect.orDie(world.engine.purge("T")));
      assert.lengthOf(yield* world.payloads("thread.purged"), 1);
      assert.isTrue(world.state().purged);
    }),
  );

  it.effect("waits until the thread's process is gone and its last words are interpreted", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"));
      for (const method of ["close", "terminate", "kill"] as const) world.stub.behaviours[method] = "hang";
      yield* world.does({ type: "thread.delete", threadId: "T" });
      world.ingestion.length = 0;
      const purging = yield* Effect.forkChild(world.engine.purge("T"), { startImmediately: true });
      yield* world.pass(7_999);
      assert.lengthOf(yield* world.payloads("thread.purged"), 0);
      yield* world.pass(1);
      assert.isDefined(purging.pollUnsafe());
      assert.lengthOf(yield* world.payloads("thread.purged"), 1);
      assert.deepStrictEqual(world.ingestion, ["flush T"]);
      assert.deepStrictEqual(
        world.ended.map(({ marker }) => marker),
        ["T.1"],
      );
    }),
  );
});
