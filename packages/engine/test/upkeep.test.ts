import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { approval, completed, makeWorld, started } from "./support/world.ts";

const minutes = (count: number) => count * 60_000;

describe("idle care", () => {
  it.effect("an unused session is released; the next input opens another, which resumes", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"), completed("t1"));
      yield* world.pass(minutes(15) - 1);
      assert.strictEqual(world.state().session?.state, "ready");
      yield* world.pass(1);
      assert.deepStrictEqual((yield* world.payloads("session.released"))[0], { generation: 1, reason: "idle" });
      assert.strictEqual(world.stub.count("close"), 1);
      assert.deepStrictEqual(yield* world.engine.sessions, []);
      assert.deepStrictEqual(yield* Effect.orDie(world.processes.notEnded), []);
      yield* world.submit("i2");
      assert.deepStrictEqual(world.stub.called("open"), ["T open 1", "T open 2 native-T"]);
      assert.strictEqual(world.input("i2"), "handed_over");
    }),
  );

  it.effect("use and the runtime's words put it off; tasks, requests and turns rule it out (pain 24)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.pass(minutes(60));
      yield* world.says("T", started("t1", "i1"));
      yield* world.pass(minutes(60));
      yield* world.says("T", {
        type: "task.started",
        turnId: "t1",
        payload: { taskId: "k", kind: "background", agentPath: ["bg"] },
      });
      yield* world.says("T", completed("t1"));
      yield* world.pass(minutes(60));
      assert.strictEqual(world.state().session?.state, "ready");
      assert.strictEqual(world.state().tasks.length, 1);

      const other = yield* makeWorld();
      yield* other.create("T", { input: { inputId: "i1", text: "x" } });
      yield* other.says("T", started("t1", "i1"), completed("t1"));
      yield* other.pass(minutes(10));
      yield* other.says("T", { type: "notice", payload: { level: "info", code: "x", message: "still here" } });
      yield* other.pass(minutes(14));
      assert.strictEqual(other.state().session?.state, "ready");
      yield* other.pass(minutes(1));
      assert.strictEqual(other.state().session?.state, "released");
    }),
  );

  it.effect("a held queue does not keep a session", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.submit("i2", { delivery: "queue" });
      yield* world.says("T", started("t1", "i1"), completed("t1", "failed"));
      yield* world.pass(minutes(15));
      assert.strictEqual(world.state().session?.state, "released");
      yield* world.does({ type: "queue.resume", threadId: "T" });
      assert.strictEqual(world.input("i2"), "handed_over");
    }),
  );
});

describe("silence", () => {
  const notices = (world: Effect.Success<ReturnType<typeof makeWorld>>) =>
    Effect.map(world.payloads("notice.recorded"), (payloads) =>
      payloads.map(({ code, message }) => `${code}: ${message}`),
    );

  it.effect("is told once per phase, and again after the runtime spoke (pain 6)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.open = "hang";
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.pass(29_999);
      assert.deepStrictEqual(yield* notices(world), []);
      yield* world.pass(1);
      assert.deepStrictEqual(yield* notices(world), [
        "silent: The runtime has not opened its session yet for 30 s: wait, or stop it",
      ]);
      world.stub.release("open");
      yield* world.settled;
      yield* world.pass(60_000);
      assert.include((yield* notices(world))[1], "has not begun with the input for 60 s");
      yield* world.says("T", started("t1", "i1"));
      yield* world.pass(120_000);
      assert.include((yield* notices(world))[2], "has said nothing for 120 s");
      yield* world.pass(minutes(30));
      assert.strictEqual((yield* notices(world)).length, 3);
      yield* world.says("T", { type: "unknown", payload: { kind: "x" } });
      yield* world.pass(119_999);
      assert.strictEqual((yield* notices(world)).length, 3);
      yield* world.pass(1);
      assert.strictEqual((yield* notices(world)).length, 4);
      const ids = (yield* world.payloads("notice.recorded")).map(({ noticeId }) => noticeId);
      assert.strictEqual(new Set(ids).size, 4);
      assert.strictEqual(world.state().turn?.turnId, "t1");
    }),
  );

  it.effect("not while a person is asked", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"), approval("r1", "t1"));
      yield* world.pass(minutes(60));
      assert.deepStrictEqual(yield* notices(world), []);
      yield* world.does({ type: "request.answer", threadId: "T", requestId: "r1", answer: { optionId: "yes" } });
      yield* world.pass(120_000);
      assert.strictEqual((yield* notices(world)).length, 1);
    }),
  );
});

describe("expiry", () => {
  it.effect("a request that the runtime limited expires then", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      const expiresAt = new Date(90_000).toISOString();
      yield* world.says("T", started("t1", "i1"), approval("r1", "t1", { expiresAt }));
      yield* world.pass(89_999);
      assert.strictEqual(world.state().requests.length, 1);
      yield* world.pass(1);
      assert.deepStrictEqual((yield* world.payloads("request.expired"))[0], { requestId: "r1", reason: "expired" });
    }),
  );
});

describe("sessions that are over", () => {
  it.effect("released: asked to close, then TERM, then KILL, then by the table; only then the next one opens", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"), completed("t1"));
      for (const method of ["terminate", "kill", "close"] as const) world.stub.behaviours[method] = "hang";
      yield* world.does({ type: "session.release", threadId: "T" });
      yield* world.submit("i2");
      assert.deepStrictEqual(world.stub.called("close", "terminate", "kill"), ["T close"]);
      yield* world.pass(5_000);
      assert.deepStrictEqual(world.stub.called("close", "terminate", "kill"), ["T close", "T terminate"]);
      yield* world.pass(2_000);
      assert.deepStrictEqual(world.stub.called("close", "terminate", "kill"), ["T close", "T terminate", "T kill"]);
      assert.strictEqual(world.stub.count("open"), 1);
      yield* world.pass(1_000);
      assert.deepStrictEqual(
        world.ended.map(({ marker }) => marker),
        ["T.1"],
      );
      assert.strictEqual(world.stub.count("open"), 2);
      assert.strictEqual(world.input("i2"), "handed_over");
    }),
  );

  it.effect("what can't be ended stays written down for the next host", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      for (const method of ["terminate", "kill", "close"] as const) world.stub.behaviours[method] = "hang";
      world.canEnd = false;
      yield* world.does({ type: "session.release", threadId: "T" });
      yield* world.pass(10_000);
      assert.strictEqual((yield* Effect.orDie(world.processes.notEnded)).length, 1);
      assert.deepStrictEqual(yield* world.engine.sessions, []);
    }),
  );

  it.effect("deleted in the middle of a turn: its process ends, and its handle", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"));
      yield* world.does({ type: "thread.delete", threadId: "T" });
      assert.strictEqual(world.stub.count("close"), 1);
      assert.deepStrictEqual(yield* world.engine.sessions, []);
      assert.deepStrictEqual(yield* Effect.orDie(world.processes.notEnded), []);
    }),
  );

  it.effect("gone by itself: the turn failed, the handle goes, a new prompt opens another", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"));
      yield* world.says("T", { type: "session.exited", payload: { kind: "crash", exitCode: 1, recoverable: true } });
      assert.strictEqual((yield* world.payloads("turn.ended"))[0]?.["state"], "failed");
      assert.deepStrictEqual(yield* world.engine.sessions, []);
      yield* world.submit("i2");
      assert.deepStrictEqual(world.stub.called("open").at(-1), "T open 2 native-T");
    }),
  );
});
