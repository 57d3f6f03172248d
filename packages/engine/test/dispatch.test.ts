import { assert, describe, it } from "@effect/vitest";
import type { Receipt } from "@tributary/contracts";
import { Effect, Fiber } from "effect";
import { completed, makeWorld, started } from "./support/world.ts";

const code = (receipt: Receipt) => (receipt.status === "rejected" ? receipt.rejection.code : receipt.status);

describe("dispatch", () => {
  it.effect("a thread lives in the innermost project that holds its real folder", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.roots = [
        { projectId: "outer", root: "/p" },
        { projectId: "inner", root: "/p/a" },
        { projectId: "other", root: "/p/ab" },
      ];
      yield* world.create("T", { cwd: "/p/a/x" });
      assert.strictEqual(world.state().projectId, "inner");
      assert.strictEqual(world.state().cwd, "/p/a/x");
      yield* world.create("U", { cwd: "/p" });
      assert.strictEqual(world.state("U").projectId, "outer");
      const create = (threadId: string, cwd: string, instance = "stub") =>
        Effect.map(world.send({ type: "thread.create", threadId, cwd, instance }), code);
      assert.strictEqual(yield* create("V", "/elsewhere"), "cwd_outside_roots");
      assert.strictEqual(yield* create("V", "relative"), "cwd_missing");
      world.missingFolder = "/p/gone";
      assert.strictEqual(yield* create("V", "/p/gone"), "cwd_missing");
      assert.strictEqual(yield* create("V", "/p", "nobody"), "runtime_unavailable");
    }),
  );

  it.effect("options that the runtime refuses are refused before anything opens", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create();
      world.refusedOptions = { effort: "it has none" };
      const create = { type: "thread.create", threadId: "U", cwd: "/p", instance: "stub", effort: "high" } as const;
      assert.strictEqual(code(yield* world.send(create)), "unsupported_option");
      assert.strictEqual(
        code(yield* world.send({ type: "thread.configure", threadId: "T", effort: "high" })),
        "unsupported_option",
      );
      assert.strictEqual(world.stub.calls.length, 0);
    }),
  );

  it.effect("projects are real folders, each registered once", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      const create = (projectId: string, root: string) =>
        Effect.map(world.send({ type: "project.create", projectId, root }), code);
      assert.strictEqual(yield* create("Q", "/q"), "accepted");
      assert.strictEqual(world.writer.project("Q")?.root, "/q");
      assert.strictEqual(yield* create("R", "/p"), "project_exists");
      world.missingFolder = "/r";
      assert.strictEqual(yield* create("R", "/r"), "cwd_missing");
      world.threads = 2;
      assert.strictEqual(code(yield* world.send({ type: "project.delete", projectId: "Q" })), "project_in_use");
      world.threads = 0;
      assert.strictEqual(code(yield* world.send({ type: "project.delete", projectId: "Q" })), "accepted");
    }),
  );

  it.effect("the same command has one effect, however often it is sent (pain 20)", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create();
      const again = { type: "input.submit", commandId: "same", threadId: "T", inputId: "i1", text: "x" } as const;
      const receipts = yield* Effect.all([world.send(again), world.send(again), world.send(again)], {
        concurrency: "unbounded",
      });
      yield* world.settled;
      assert.deepStrictEqual(receipts[1], receipts[0]);
      assert.deepStrictEqual(receipts[2], receipts[0]);
      yield* world.host!.crash();
      yield* world.boot;
      assert.deepStrictEqual(yield* world.send(again), receipts[0]);
      yield* world.settled;
      assert.strictEqual(world.stub.count("prompt"), 1);
    }),
  );

  it.effect("waits for reconciliation", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"));
      yield* world.host!.crash();
      world.flush = Effect.sleep(500);
      const booting = yield* Effect.forkChild(world.boot, { startImmediately: true });
      yield* Effect.yieldNow;
      const sent = yield* Effect.forkChild(world.send({ type: "queue.resume", threadId: "T" }), {
        startImmediately: true,
      });
      assert.isUndefined(sent.pollUnsafe());
      yield* world.pass(500);
      yield* Fiber.join(booting);
      assert.strictEqual(code(yield* Fiber.join(sent)), "accepted");
      assert.strictEqual((yield* world.payloads("turn.ended"))[0]?.["state"], "lost");
    }),
  );

  it.effect("live sessions can be seen", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.pass(1_000);
      yield* world.says("T", started("t1", "i1"), completed("t1"));
      const [session] = yield* world.engine.sessions;
      assert.strictEqual(session?.nativeSessionId, "native-T");
      assert.deepStrictEqual([session?.phase, session?.openedAt, session?.heardAt], ["open", 0, 1_000]);
    }),
  );
});
