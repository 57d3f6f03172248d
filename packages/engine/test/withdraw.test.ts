import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { capabilities } from "./support/stub.ts";
import { completed, makeWorld, started } from "./support/world.ts";

/** A turn runs, and the runtime holds a steer that it has not read. */
const held = Effect.gen(function* () {
  const world = yield* makeWorld();
  world.stub.can = { ...capabilities, queue: { durable: false, withdraw: true } };
  yield* world.create("T", { input: { inputId: "i1", text: "x" } });
  yield* world.says("T", started("t1", "i1"));
  yield* world.submit("s1", { delivery: "steer" });
  yield* world.says("T", { type: "input.state", turnId: "t1", payload: { inputId: "s1", state: "held" } });
  assert.strictEqual(world.input("s1"), "handed_over");
  return world;
});

const back = { type: "input.withdraw", threadId: "T", inputId: "s1" } as const;

describe("an input that the runtime holds", () => {
  it.effect("is taken back where the runtime can, and its turn goes on", () =>
    Effect.gen(function* () {
      const world = yield* held;
      yield* world.does(back);
      assert.deepStrictEqual(world.stub.called("withdraw"), ["T withdraw s1"]);
      assert.deepStrictEqual(yield* world.payloads("input.withdraw_requested"), [{ inputId: "s1" }]);
      assert.deepStrictEqual(yield* world.payloads("input.withdrawn"), [{ inputId: "s1" }]);
      assert.strictEqual(world.state().turn?.turnId, "t1");
      const again = yield* world.send(back);
      assert.strictEqual(again.status === "rejected" && again.rejection.code, "not_queued");
    }),
  );

  it.effect("is asked back once, whoever asks and however long that takes; the runtime's word settles it", () =>
    Effect.gen(function* () {
      const world = yield* held;
      world.stub.behaviours.withdraw = "hang";
      yield* world.does(back);
      yield* world.does(back);
      assert.strictEqual(world.stub.count("withdraw"), 1);
      // Meanwhile the agent reads it after all: then it is read, and what the call says does not matter.
      yield* world.says("T", { type: "input.state", turnId: "t1", payload: { inputId: "s1", state: "folded" } });
      assert.strictEqual(world.input("s1"), "started");
      world.stub.release("withdraw");
      yield* world.settled;
      assert.strictEqual(world.input("s1"), "started");
      assert.deepStrictEqual(yield* world.payloads("input.withdrawn"), []);
    }),
  );

  it.effect("that it does not give back stays, with why; asking again is another question", () =>
    Effect.gen(function* () {
      const world = yield* held;
      world.stub.behaviours.withdraw = "refused";
      yield* world.does(back);
      const [failed] = yield* world.payloads("input.withdraw_failed");
      assert.deepInclude(failed, { inputId: "s1" });
      assert.strictEqual(world.input("s1"), "handed_over");
      world.stub.behaviours.withdraw = "hang";
      yield* world.does(back);
      yield* world.pass(15_000);
      assert.strictEqual((yield* world.payloads("input.withdraw_failed")).length, 2);
      yield* world.says("T", { type: "input.state", turnId: "t1", payload: { inputId: "s1", state: "withdrawn" } });
      assert.strictEqual(world.input("s1"), "over");
    }),
  );

  it.effect("does not wait for a call that hangs, nor for a stop", () =>
    Effect.gen(function* () {
      const world = yield* held;
      world.stub.behaviours.steer = "hang";
      world.stub.behaviours.interrupt = "hang";
      yield* world.submit("s2", { delivery: "steer" });
      yield* world.does({ type: "turn.interrupt", threadId: "T" });
      yield* world.does({ ...back, inputId: "s2" });
      assert.deepStrictEqual(world.stub.called("withdraw"), ["T withdraw s2"]);
    }),
  );

  it.effect("is not asked back after a crash: what became of it is unknown", () =>
    Effect.gen(function* () {
      const world = yield* held;
      world.stub.behaviours.withdraw = "hang";
      yield* world.does(back);
      yield* world.host!.crash();
      yield* world.boot;
      yield* world.settled;
      assert.strictEqual(world.input("s1"), "unconfirmed");
      assert.isUndefined(world.state().inputs.find(({ inputId }) => inputId === "s1")?.isWithdrawing);
      assert.strictEqual(world.stub.count("withdraw"), 1);
    }),
  );

  it.effect("stays where the runtime can't give it back, and where it was read", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"));
      yield* world.submit("s1", { delivery: "steer" });
      const refused = yield* world.send(back);
      assert.strictEqual(refused.status === "rejected" && refused.rejection.code, "not_queued");
      yield* world.says("T", completed("t1"));
      assert.strictEqual(world.stub.count("withdraw"), 0);
    }),
  );
});
