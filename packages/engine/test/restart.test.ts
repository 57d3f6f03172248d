import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { approval, completed, makeWorld, started } from "./support/world.ts";

describe("after a crash", () => {
  it.effect(
    "survivors are ended, the journal is interpreted, the rest is said to be unknown; in this order (pain 23)",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld();
        for (const threadId of ["A", "B", "C"])
          yield* world.create(threadId, { input: { inputId: `i-${threadId}`, text: "x" } });
        yield* world.says("A", started("tA", "i-A"), approval("rA", "tA"));
        yield* world.says("B", started("tB", "i-B"));
        yield* world.does({ type: "thread.archive", threadId: "A" });
        yield* world.host!.crash();
        // B's runtime had said that it was done; nobody had interpreted it.
        world.journal.push({ threadId: "B", generation: 1, event: completed("tB") });
        world.ingestion.length = 0;
        yield* world.boot;

        assert.deepStrictEqual(world.ended.map(({ marker }) => marker).toSorted(), ["A.1", "B.1", "C.1"]);
        assert.deepStrictEqual(yield* Effect.orDie(world.processes.notEnded), []);
        const ended = (threadId: string) =>
          Effect.map(world.payloads("turn.ended", threadId), ([end]) => end?.["state"]);
        assert.strictEqual(yield* ended("A"), "lost");
        assert.strictEqual(yield* ended("B"), "completed");
        assert.strictEqual((yield* world.payloads("request.expired", "A"))[0]?.["reason"], "host_restart");
        assert.strictEqual(world.input("i-C", "C"), "unconfirmed");
        for (const threadId of ["A", "B", "C"]) {
          assert.strictEqual(world.state(threadId).session?.state, "exited");
          const replayed = world.ingestion.indexOf(`replay ${threadId}`);
          assert.isTrue(replayed >= 0 && replayed < world.ingestion.indexOf(`flush ${threadId}`));
        }
        yield* world.pass(120_000);
        assert.strictEqual(world.stub.count("prompt"), 3);
      }),
  );

  it.effect(
    "between attempt and outcome: handed over is unconfirmed, not sent again; the queue goes on when told",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld();
        world.stub.behaviours.prompt = "hang";
        yield* world.create("T", { input: { inputId: "i1", text: "x" } });
        yield* world.submit("i2", { delivery: "queue" });
        yield* world.host!.crash();
        yield* world.boot;
        yield* world.settled;
        assert.strictEqual(world.input("i1"), "unconfirmed");
        assert.strictEqual(world.input("i2"), "queued");
        assert.strictEqual(world.stub.count("prompt"), 1);
        world.stub.behaviours.prompt = "accept";
        yield* world.does({ type: "queue.resume", threadId: "T" });
        assert.deepStrictEqual(world.stub.called("prompt").at(-1), "T prompt i2 text of i2");
      }),
  );

  it.effect("while it opened: what waits was never sent, and goes by itself", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.open = "hang";
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.host!.crash();
      world.stub.behaviours.open = "accept";
      yield* world.boot;
      yield* world.settled;
      assert.deepStrictEqual(world.stub.called(), ["T open 1", "T open 2", "T prompt i1 x"]);
    }),
  );

  it.effect("while an answer was on its way: it is not given to the next session", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"), approval("r1", "t1"));
      world.stub.behaviours.answer = "hang";
      yield* world.does({ type: "request.answer", threadId: "T", requestId: "r1", answer: { optionId: "yes" } });
      yield* world.host!.crash();
      yield* world.boot;
      yield* world.settled;
      assert.deepStrictEqual(world.state().requests, []);
      assert.strictEqual(world.stub.count("answer"), 1);
    }),
  );

  it.effect("while somebody was stopping it: the turn is interrupted, not lost", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"));
      world.stub.behaviours.interrupt = "hang";
      yield* world.does({ type: "turn.interrupt", threadId: "T" });
      yield* world.host!.crash();
      yield* world.boot;
      assert.strictEqual((yield* world.payloads("turn.ended"))[0]?.["state"], "interrupted");
    }),
  );

  it.effect("a survivor that can't be ended stays written down; the thread is settled all the same", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.host!.crash();
      world.canEnd = false;
      yield* world.boot;
      assert.strictEqual((yield* Effect.orDie(world.processes.notEnded)).length, 1);
      assert.strictEqual(world.state().session?.state, "exited");
    }),
  );

  it.effect("a deleted thread's survivor is ended too", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      world.stub.behaviours.close = "hang";
      yield* world.does({ type: "thread.delete", threadId: "T" });
      yield* world.host!.crash();
      yield* world.boot;
      assert.deepStrictEqual(
        world.ended.map(({ marker }) => marker),
        ["T.1"],
      );
      assert.deepStrictEqual(yield* Effect.orDie(world.processes.notEnded), []);
    }),
  );

  it.effect("that the sessions survived, nothing changes: no call twice, and work goes on", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"), approval("r1", "t1"));
      world.stub.behaviours.answer = "hang";
      yield* world.does({ type: "request.answer", threadId: "T", requestId: "r1", answer: { optionId: "yes" } });
      const before = world.state();
      yield* world.host!.crash({ sessionsSurvive: true });
      yield* world.boot;
      yield* world.settled;
      assert.deepStrictEqual(world.state(), before);
      assert.strictEqual(world.stub.count("answer"), 1);
      yield* world.says("T", { type: "request.resolved", requestId: "r1", payload: { outcome: "answered" } });
      yield* world.says("T", completed("t1"));
      yield* world.submit("i2");
      assert.strictEqual(world.input("i2"), "handed_over");
      assert.strictEqual(world.stub.count("open"), 1);
    }),
  );
});

describe("shutdown", () => {
  it.effect("settles turns as interrupted, sessions as gone gracefully, and closes the runtimes", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.submit("i2", { delivery: "queue" });
      yield* world.says("T", started("t1", "i1"));
      yield* world.engine.shutdown;
      // No runtime said so.
      assert.deepInclude((yield* world.payloads("turn.ended"))[0], { state: "interrupted", settledBy: "system" });
      const [exited] = yield* world.payloads("session.exited");
      assert.deepInclude(exited, { kind: "graceful", reason: "host_shutdown", settledBy: "system" });
      assert.strictEqual((yield* world.payloads("session.exited")).length, 1);
      assert.strictEqual(world.stub.count("close"), 1);
      assert.deepStrictEqual(yield* Effect.orDie(world.processes.notEnded), []);
      const refused = yield* Effect.flip(
        world.engine.dispatch(
          { type: "queue.resume", commandId: "late", threadId: "T" },
          { kind: "client", id: "phone" },
        ),
      );
      assert.strictEqual(refused.reason, "closed");
      yield* world.engine.shutdown;

      yield* world.host!.crash();
      yield* world.boot;
      yield* world.settled;
      assert.deepStrictEqual(world.ended, []);
      assert.strictEqual(world.state().queueHeld, "interrupted");
      assert.strictEqual(world.input("i2"), "queued");
    }),
  );

  it.effect("an opening is abandoned, and what waits for it waits on", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.open = "hang";
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.engine.shutdown;
      assert.strictEqual(world.input("i1"), "queued");
      yield* world.host!.crash();
      world.stub.behaviours.open = "accept";
      yield* world.boot;
      yield* world.settled;
      assert.strictEqual(world.input("i1"), "handed_over");
    }),
  );

  it.effect("a runtime that will not close is killed at the deadline", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ timings: { shutdown: 6_000 } });
      yield* world.create("A", { input: { inputId: "a", text: "x" } });
      yield* world.create("B", { input: { inputId: "b", text: "x" } });
      for (const method of ["terminate", "kill", "close"] as const) world.stub.behaviours[method] = "hang";
      const shutdown = yield* Effect.forkChild(world.engine.shutdown, { startImmediately: true });
      yield* world.pass(6_000);
      yield* world.pass(1_000);
      assert.isDefined(shutdown.pollUnsafe());
      assert.strictEqual(world.stub.count("kill"), 2);
      assert.deepStrictEqual(world.ended.map(({ marker }) => marker).toSorted(), ["A.1", "B.1"]);
      assert.deepStrictEqual(yield* Effect.orDie(world.processes.notEnded), []);
    }),
  );
});
