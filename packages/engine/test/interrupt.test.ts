import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import type { World } from "./support/world.ts";
import { completed, makeWorld, started } from "./support/world.ts";

const atWork = Effect.gen(function* () {
  const world = yield* makeWorld();
  yield* world.create("T", { input: { inputId: "i1", text: "x" } });
  yield* world.says("T", started("t1", "i1"));
  return world;
});

const stop = (world: World) => world.does({ type: "turn.interrupt", threadId: "T", turnId: "t1" });
const steps = (world: World) =>
  Effect.map(world.payloads("interrupt.escalated"), (payloads) => payloads.map(({ step }) => step));
const turn = (world: World) => Effect.map(world.payloads("turn.ended"), ([ended]) => ended?.["state"]);

describe("interrupt", () => {
  it.effect("natively, when the runtime does as it is told", () =>
    Effect.gen(function* () {
      const world = yield* atWork;
      yield* stop(world);
      assert.deepStrictEqual(world.stub.called("interrupt"), ["T interrupt t1"]);
      yield* world.says("T", completed("t1", "interrupted"));
      yield* world.pass(60_000);
      assert.deepStrictEqual(yield* steps(world), ["native"]);
      assert.strictEqual(world.stub.count("terminate"), 0);
      assert.strictEqual(world.state().session?.state, "ready");
    }),
  );

  it.effect(
    "natively, TERM after 5 s, KILL after 2 s more, and after one more it is settled whatever happens (I9)",
    () =>
      Effect.gen(function* () {
        const world = yield* atWork;
        for (const method of ["interrupt", "terminate", "kill", "close"] as const)
          world.stub.behaviours[method] = "hang";
        yield* world.submit("i2", { delivery: "queue" });
        yield* stop(world);
        yield* world.pass(4_999);
        assert.strictEqual(world.stub.count("terminate"), 0);
        yield* world.pass(1);
        assert.deepStrictEqual(world.stub.called("interrupt", "terminate", "kill"), ["T interrupt t1", "T terminate"]);
        yield* world.pass(1_999);
        assert.strictEqual(world.stub.count("kill"), 0);
        yield* world.pass(1);
        assert.strictEqual(world.stub.count("kill"), 1);
        assert.deepStrictEqual(yield* steps(world), ["native", "terminate", "kill"]);
        yield* world.pass(999);
        assert.strictEqual(world.state().turn?.turnId, "t1");
        yield* world.pass(1);
        assert.strictEqual(yield* turn(world), "interrupted");
        assert.strictEqual((yield* world.payloads("session.exited"))[0]?.["kind"], "killed");
        assert.strictEqual(world.state().queueHeld, "interrupted");
        // The process would not go by the adapter's means: the table ends it before another session may open.
        yield* world.does({ type: "queue.resume", threadId: "T" });
        yield* world.pass(20_000);
        assert.strictEqual(world.ended.length, 1);
        const notEnded = yield* Effect.orDie(world.processes.notEnded);
        assert.deepStrictEqual(
          notEnded.map(({ marker }) => marker),
          ["T.2"],
        );
        assert.deepStrictEqual(world.stub.called("open"), ["T open 1", "T open 2 native-T"]);
      }),
  );

  it.effect("a runtime that goes by TERM is settled as interrupted by its own word", () =>
    Effect.gen(function* () {
      const world = yield* atWork;
      world.stub.behaviours.interrupt = "refused";
      yield* stop(world);
      yield* world.pass(5_000);
      assert.strictEqual(yield* turn(world), "interrupted");
      assert.strictEqual(world.stub.count("kill"), 0);
      assert.deepStrictEqual(yield* world.engine.sessions, []);
    }),
  );

  it.effect("an acknowledgement without an end is not believed (pain 3)", () =>
    Effect.gen(function* () {
      const world = yield* atWork;
      yield* stop(world);
      yield* world.pass(5_000);
      assert.deepStrictEqual(yield* steps(world), ["native", "terminate"]);
    }),
  );

  it.effect("does not wait behind a prompt that hangs; it names the input then", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.prompt = "hang";
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.does({ type: "turn.interrupt", threadId: "T", inputId: "i1" });
      assert.deepStrictEqual(world.stub.called("interrupt"), ["T interrupt undefined"]);
      // The turn begins all the same: it is what is to be stopped now.
      yield* world.says("T", started("t1", "i1"));
      yield* world.pass(5_000);
      assert.strictEqual(yield* turn(world), "interrupted");
    }),
  );

  it.effect("a prompt whose turn never begins ends with the process, unconfirmed", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.prompt = "hang";
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.does({ type: "turn.interrupt", threadId: "T" });
      yield* world.pass(5_000);
      assert.strictEqual(world.input("i1"), "unconfirmed");
      assert.strictEqual(world.stub.count("terminate"), 1);
    }),
  );

  it.effect("a prompt that was not sent is withdrawn, also while its session opens", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.open = "hang";
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.does({ type: "turn.interrupt", threadId: "T" });
      assert.strictEqual(world.input("i1"), "over");
      world.stub.release("open");
      yield* world.settled;
      assert.strictEqual(world.stub.count("prompt"), 0);
      assert.strictEqual(world.state().session?.state, "ready");
    }),
  );

  it.effect("stopped between the attempt and the call: it is not sent, and with certainty so", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.beforeSending = Effect.asVoid(world.send({ type: "turn.interrupt", threadId: "T", inputId: "i1" }));
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      assert.strictEqual(world.stub.count("prompt"), 0);
      assert.deepStrictEqual((yield* world.payloads("input.withdrawn"))[0], { inputId: "i1", reason: "interrupted" });
      assert.isUndefined(world.state().interrupt);
      world.beforeSending = Effect.void;
      yield* world.submit("i2");
      assert.strictEqual(world.input("i2"), "handed_over");

      yield* world.says("T", started("t1", "i2"));
      world.beforeSending = Effect.asVoid(world.send({ type: "turn.interrupt", threadId: "T", turnId: "t1" }));
      yield* world.submit("s1", { delivery: "steer" });
      assert.strictEqual(world.stub.count("steer"), 0);
      assert.strictEqual(world.input("s1"), "over");
    }),
  );

  it.effect("released between the attempt and the call: it is not sent to a session that is over", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.beforeSending = Effect.asVoid(world.send({ type: "session.release", threadId: "T" }));
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      assert.strictEqual(world.stub.count("prompt"), 0);
      assert.strictEqual(world.input("i1"), "unconfirmed");
    }),
  );

  it.effect("nothing is handed over while one is in flight; the turn that ended first ends it", () =>
    Effect.gen(function* () {
      const world = yield* atWork;
      yield* world.submit("i2", { delivery: "queue" });
      world.stub.behaviours.interrupt = "hang";
      yield* stop(world);
      yield* world.says("T", completed("t1"));
      assert.isUndefined(world.state().interrupt);
      assert.strictEqual(world.input("i2"), "handed_over");
      yield* world.pass(10_000);
      assert.strictEqual(world.stub.count("terminate"), 0);
    }),
  );

  it.effect("a second turn's interrupt begins at its own beginning", () =>
    Effect.gen(function* () {
      const world = yield* atWork;
      yield* stop(world);
      yield* world.pass(4_000);
      yield* world.says("T", completed("t1", "interrupted"));
      yield* world.submit("i2");
      yield* world.says("T", started("t2", "i2"));
      yield* world.does({ type: "turn.interrupt", threadId: "T" });
      yield* world.pass(4_000);
      assert.strictEqual(world.stub.count("terminate"), 0);
      yield* world.pass(1_000);
      assert.strictEqual(world.stub.count("terminate"), 1);
    }),
  );

  it.effect("a flush that hangs does not hold up the settlement", () =>
    Effect.gen(function* () {
      const world = yield* atWork;
      for (const method of ["interrupt", "terminate", "kill"] as const) world.stub.behaviours[method] = "hang";
      world.flush = Effect.never;
      yield* stop(world);
      yield* world.pass(5_000 + 2_000 + 1_000 + 999);
      assert.isUndefined(yield* turn(world));
      yield* world.pass(1);
      assert.strictEqual(yield* turn(world), "interrupted");
      assert.include(world.ingestion, "flush T");
    }),
  );

  it.effect("a runtime that speaks while its opening hangs is stopped in time", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.open = "hang";
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1"));
      yield* stop(world);
      for (const grace of [5_000, 2_000, 1_000]) yield* world.pass(grace);
      assert.isUndefined(world.state().turn);
      assert.strictEqual(world.state().session?.state, "exited");
      assert.deepStrictEqual(yield* Effect.orDie(world.processes.notEnded), []);
    }),
  );

  it.effect("a session that nobody holds is over when somebody wants to stop it", () =>
    Effect.gen(function* () {
      const world = yield* atWork;
      world.loseHandle("T");
      assert.strictEqual(world.state().turn?.turnId, "t1");
      yield* stop(world);
      assert.isUndefined(world.state().turn);
      assert.strictEqual(world.state().session?.state, "exited");
    }),
  );
});
