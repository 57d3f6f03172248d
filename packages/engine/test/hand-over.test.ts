import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { completed, makeWorld, started } from "./support/world.ts";

describe("hand-over of inputs", () => {
  it.effect("a first input opens a session, is handed over once, and is done with its turn", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "hello" }, model: "m1" });
      assert.deepStrictEqual(world.stub.called(), ["T open 1", "T prompt i1 hello"]);
      assert.deepStrictEqual(yield* world.types(), [
        "thread.created",
        "input.queued",
        "session.opening",
        "session.started",
        "input.handed_over",
      ]);
      const { model, cwd, marker, approvalMode } = world.stub.options("T");
      assert.deepStrictEqual(
        { model, cwd, marker, approvalMode },
        { model: "m1", cwd: "/p/a", marker: "T.1", approvalMode: "ask" },
      );
      yield* world.says("T", started("t1", "i1"), completed("t1"));
      assert.strictEqual(world.input("i1"), "over");
      assert.deepStrictEqual((yield* world.payloads("input.done"))[0], { inputId: "i1", turnId: "t1" });
    }),
  );

  it.effect("the queue advances one at a time, after a completed turn; it stays held after another", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create();
      yield* world.submit("i1");
      for (const id of ["i2", "i3"]) yield* world.submit(id, { delivery: "queue" });
      assert.strictEqual(world.stub.count("prompt"), 1);
      yield* world.says("T", started("t1", "i1"));
      assert.strictEqual(world.stub.count("prompt"), 1);
      yield* world.says("T", completed("t1"));
      assert.deepStrictEqual(world.stub.called("prompt"), ["T prompt i1 text of i1", "T prompt i2 text of i2"]);
      yield* world.says("T", started("t2", "i2"), completed("t2", "failed"));
      yield* world.pass(60_000);
      assert.strictEqual(world.stub.count("prompt"), 2);
      assert.strictEqual(world.state().queueHeld, "failed");
      yield* world.does({ type: "queue.resume", threadId: "T" });
      assert.strictEqual(world.stub.count("prompt"), 3);
      assert.strictEqual(world.stub.count("open"), 1);
    }),
  );

  it.effect("what was edited goes, what was withdrawn does not", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create();
      yield* world.submit("i1");
      yield* world.submit("i2", { delivery: "queue" });
      yield* world.submit("i3", { delivery: "queue" });
      yield* world.does({ type: "input.edit", threadId: "T", inputId: "i3", text: "edited" });
      yield* world.does({ type: "input.withdraw", threadId: "T", inputId: "i2" });
      yield* world.says("T", started("t1", "i1"), completed("t1"));
      assert.deepStrictEqual(world.stub.called("prompt").at(-1), "T prompt i3 edited");
    }),
  );

  it.effect("refused, unsupported and not written fail the input with the runtime's words and hold the queue", () =>
    Effect.gen(function* () {
      for (const reason of ["refused", "unsupported", "not_written"]) {
        const world = yield* makeWorld();
        world.stub.behaviours.prompt = reason;
        yield* world.create();
        yield* world.submit("i1");
        assert.strictEqual(world.input("i1"), "failed");
        const [failed] = yield* world.payloads("input.failed");
        assert.deepStrictEqual(failed?.["error"], {
          class: "unknown",
          code: reason,
          message: `stub: ${reason}`,
          retryable: false,
        });
        world.stub.behaviours.prompt = "accept";
        yield* world.does({ type: "input.resubmit", threadId: "T", inputId: "i1" });
        assert.strictEqual(world.stub.count("prompt"), 2);
        assert.strictEqual(world.input("i1"), "handed_over");
      }
    }),
  );

  it.effect("unconfirmed, exited and a defect leave it unknown; it is not sent again", () =>
    Effect.gen(function* () {
      for (const reason of ["unconfirmed", "exited", "die"]) {
        const world = yield* makeWorld();
        world.stub.behaviours.prompt = reason;
        yield* world.create();
        yield* world.submit("i1");
        assert.strictEqual(world.input("i1"), "unconfirmed", reason);
        yield* world.pass(120_000);
        assert.strictEqual(world.stub.count("prompt"), 1);
      }
    }),
  );

  it.effect("no answer in time leaves it unknown; what is heard late still counts", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.prompt = "hang";
      yield* world.create();
      yield* world.submit("i1");
      yield* world.submit("i2", { delivery: "queue" });
      yield* world.pass(29_999);
      assert.strictEqual(world.input("i1"), "handed_over");
      yield* world.pass(1);
      assert.strictEqual(world.input("i1"), "unconfirmed");
      assert.deepStrictEqual((yield* world.payloads("input.unconfirmed"))[0]?.["reason"], "no_answer");
      assert.strictEqual(world.state().queueHeld, "lost");
      assert.strictEqual(world.stub.count("prompt"), 1);
      // The runtime had it after all.
      yield* world.says("T", started("t1", "i1"));
      assert.strictEqual(world.input("i1"), "started");
      yield* world.says("T", completed("t1"));
      assert.strictEqual(world.input("i1"), "over");
    }),
  );

  it.effect("a prompt whose turn began holds nothing up, even if it is never answered", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.prompt = "hang";
      yield* world.create();
      yield* world.submit("i1");
      yield* world.says("T", started("t1", "i1"));
      yield* world.submit("i2", { delivery: "steer" });
      assert.deepStrictEqual(world.stub.called("steer"), ["T steer i2 text of i2 t1"]);
      yield* world.says("T", completed("t1"));
      yield* world.submit("i3");
      yield* world.pass(30_000);
      assert.strictEqual(world.stub.count("prompt"), 2);
      assert.strictEqual(world.input("i1"), "over");
    }),
  );

  it.effect("steers go at once; their outcomes touch neither turn nor queue", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create();
      yield* world.submit("i1");
      yield* world.says("T", started("t1", "i1"));
      yield* world.submit("s1");
      assert.strictEqual(world.input("s1"), "handed_over");
      yield* world.says("T", { type: "input.state", turnId: "t1", payload: { inputId: "s1", state: "folded" } });
      assert.strictEqual(world.input("s1"), "started");
      world.stub.behaviours.steer = "refused";
      yield* world.submit("s2");
      assert.strictEqual(world.input("s2"), "failed");
      world.stub.behaviours.steer = "hang";
      yield* world.submit("s3");
      yield* world.submit("s4");
      yield* world.pass(15_000);
      assert.strictEqual(world.input("s3"), "unconfirmed");
      assert.strictEqual(world.input("s4"), "handed_over");
      assert.isUndefined(world.state().queueHeld);
      assert.strictEqual(world.state().turn?.turnId, "t1");
    }),
  );

  it.effect("a steer that the runtime took and never mentioned is offered again after its turn", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create();
      yield* world.submit("i1");
      yield* world.says("T", started("t1", "i1"));
      yield* world.submit("s1");
      yield* world.pass(60_000);
      assert.strictEqual(world.input("s1"), "handed_over");
      yield* world.says("T", completed("t1"));
      yield* world.pass(4_999);
      assert.strictEqual(world.input("s1"), "handed_over");
      yield* world.pass(1);
      assert.strictEqual(world.input("s1"), "unconfirmed");
    }),
  );

  it.effect("a steer that hangs is given up 5 s after its turn; a stop works meanwhile, and what waits goes on", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.steer = "hang";
      yield* world.create();
      yield* world.submit("i1");
      yield* world.says("T", started("t1", "i1"));
      yield* world.submit("s1", { delivery: "steer" });
      yield* world.submit("q1", { delivery: "queue" });
      yield* world.pass(1_000);
      yield* world.says("T", completed("t1"));
      // Nothing passes it on the wire, and nothing is said of it yet.
      yield* world.pass(4_999);
      assert.strictEqual(world.input("s1"), "handed_over");
      assert.strictEqual(world.stub.count("prompt"), 1);
      yield* world.pass(1);
      assert.strictEqual(world.input("s1"), "unconfirmed");
      assert.deepStrictEqual((yield* world.payloads("input.unconfirmed"))[0], { inputId: "s1", reason: "turn_over" });
      assert.strictEqual(world.input("q1"), "handed_over");
      // What the runtime says of it later still counts.
      world.stub.release("steer");
      yield* world.says("T", started("t2", "q1"));
      yield* world.says("T", { type: "input.state", turnId: "t2", payload: { inputId: "s1", state: "folded" } });
      assert.strictEqual(world.input("s1"), "started");

      const other = yield* makeWorld();
      other.stub.behaviours.steer = "hang";
      yield* other.create();
      yield* other.submit("i1");
      yield* other.says("T", started("t1", "i1"));
      yield* other.submit("s1", { delivery: "steer" });
      yield* other.does({ type: "turn.interrupt", threadId: "T", inputId: "s1" });
      assert.deepStrictEqual(other.stub.called("interrupt"), ["T interrupt t1"]);
      yield* other.says("T", completed("t1", "interrupted"));
      yield* other.pass(5_000);
      assert.strictEqual(other.input("s1"), "unconfirmed");
      yield* other.submit("i2");
      assert.strictEqual(other.input("i2"), "handed_over");
    }),
  );

  it.effect("an input that comes again keeps its origin, its attachments and the plan that it accepts", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.prompt = "refused";
      yield* world.create();
      const origin = { kind: "automation", source: "cron" } as const;
      yield* world.submit("i1", { origin, planId: "p1" });
      assert.strictEqual(world.input("i1"), "failed");
      world.stub.behaviours.prompt = "accept";
      yield* world.does({ type: "input.resubmit", threadId: "T", inputId: "i1" });
      const [first, again] = yield* world.payloads("input.queued");
      assert.deepInclude(first, { origin, planId: "p1" });
      assert.deepInclude(again, { origin, planId: "p1", again: true, delivery: "auto", mode: "prompt" });
    }),
  );

  it.effect("changed settings reach the runtime before the next prompt, by its control or with the prompt", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create();
      yield* world.submit("i1");
      yield* world.says("T", started("t1", "i1"));
      yield* world.does({ type: "thread.configure", threadId: "T", model: "m2" });
      yield* world.does({ type: "thread.configure", threadId: "T", approvalMode: "full_access" });
      assert.strictEqual(world.stub.count("configure"), 0);
      yield* world.says("T", completed("t1"));
      assert.strictEqual(world.stub.count("configure"), 0);
      yield* world.submit("i2");
      assert.deepStrictEqual(world.stub.called().slice(-2), [
        `T configure {"model":"m2","approvalMode":"full_access"}`,
        "T prompt i2 text of i2",
      ]);
      assert.strictEqual(world.state().session?.model, "m2");

      const plain = yield* makeWorld();
      plain.stub.has = { ...plain.stub.has, configure: false };
      yield* plain.create();
      yield* plain.submit("i1");
      yield* plain.says("T", started("t1", "i1"), completed("t1"));
      yield* plain.does({ type: "thread.configure", threadId: "T", model: "m2", interactionMode: "plan" });
      yield* plain.submit("i2");
      yield* plain.says("T", started("t2", "i2"), completed("t2"));
      yield* plain.submit("i3");
      assert.deepStrictEqual(plain.stub.called("prompt").slice(1), [
        "T prompt i2 text of i2 m2 plan",
        "T prompt i3 text of i3",
      ]);
    }),
  );

  it.effect("settings that the runtime refuses, or does not answer for, are told, and the prompt goes on", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.configure = "refused";
      yield* world.create();
      yield* world.submit("i1");
      yield* world.says("T", started("t1", "i1"), completed("t1"));
      yield* world.does({ type: "thread.configure", threadId: "T", model: "m2" });
      yield* world.submit("i2");
      assert.strictEqual(world.stub.count("prompt"), 2);
      const [notice] = yield* world.payloads("notice.recorded");
      assert.strictEqual(notice?.["code"], "configure_failed");
      yield* world.says("T", started("t2", "i2"), completed("t2"));
      world.stub.behaviours.configure = "hang";
      yield* world.does({ type: "thread.configure", threadId: "T", model: "m3" });
      yield* world.submit("i3");
      assert.strictEqual(world.stub.count("prompt"), 2);
      yield* world.pass(15_000);
      assert.strictEqual(world.stub.count("prompt"), 3);
      assert.strictEqual((yield* world.payloads("notice.recorded")).length, 2);
    }),
  );

  it.effect("one thread's stuck runtime delays no other", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.prompt = "hang";
      yield* world.create("A", { input: { inputId: "a", text: "a" } });
      world.stub.behaviours.prompt = "accept";
      world.stub.behaviours.open = "hang";
      yield* world.create("B", { input: { inputId: "b", text: "b" } });
      world.stub.behaviours.open = "accept";
      yield* world.create("C", { input: { inputId: "c", text: "c" } });
      assert.deepStrictEqual(world.stub.called(), ["A open 1", "A prompt a a", "B open 1", "C open 1", "C prompt c c"]);
    }),
  );
});
