import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { completed, makeWorld, started } from "./support/world.ts";

const codeOf = (failed: Record<string, unknown> | undefined) =>
  (failed?.["error"] as { readonly code?: string } | undefined)?.code;

describe("opening a session", () => {
  it.effect("a refusal fails the input that it was for, and holds what waits behind it", () =>
    Effect.gen(function* () {
      for (const code of ["runtime_unavailable", "session_unavailable", "unsupported_option", "runtime_exited"]) {
        const world = yield* makeWorld();
        world.stub.behaviours.open = code;
        yield* world.create("T", { input: { inputId: "i1", text: "x" } });
        assert.strictEqual(world.input("i1"), "failed");
        assert.strictEqual(codeOf((yield* world.payloads("input.failed"))[0]), code);
        assert.strictEqual(world.state().session?.state, "failed");
        yield* world.pass(120_000);
        assert.strictEqual(world.stub.count("open"), 1);
        assert.deepStrictEqual(yield* world.engine.sessions, []);
        assert.deepStrictEqual(yield* Effect.orDie(world.processes.notEnded), []);
      }
    }),
  );

  it.effect("a hang fails at its deadline, and what was spawned is ended", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.open = "hang";
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      const { onSpawned, marker } = world.stub.options("T");
      yield* onSpawned({ pid: 1, startTime: "s", bootId: "b" });
      const notEnded = yield* Effect.orDie(world.processes.notEnded);
      assert.deepStrictEqual(notEnded[0]?.identity, { pid: 1, startTime: "s", bootId: "b" });
      assert.strictEqual(marker, "T.1");
      yield* world.pass(59_999);
      assert.strictEqual(world.state().session?.state, "opening");
      yield* world.pass(1);
      assert.strictEqual(world.state().session?.state, "failed");
      assert.strictEqual(codeOf((yield* world.payloads("input.failed"))[0]), "no_answer");
      assert.deepStrictEqual(yield* Effect.orDie(world.processes.notEnded), []);
      assert.deepStrictEqual(yield* world.engine.sessions, []);
      // The next prompt tries again.
      world.stub.behaviours.open = "accept";
      yield* world.submit("i2");
      assert.strictEqual(world.input("i2"), "handed_over");
      assert.strictEqual(world.state().session?.generation, 2);
    }),
  );

  it.effect("an adapter that dies fails the opening in words", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.open = "die";
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      assert.strictEqual(world.input("i1"), "failed");
      assert.strictEqual(codeOf((yield* world.payloads("session.failed"))[0]), "adapter_fault");
    }),
  );

  it.effect("the next session resumes; one that begins anew instead is not taken", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" }, resume: { nativeSessionId: "old" } });
      assert.deepStrictEqual(world.stub.called("open"), ["T open 1 old"]);
      yield* world.says("T", started("t1", "i1"), completed("t1"));
      yield* world.does({ type: "session.release", threadId: "T" });
      world.stub.resumed = false;
      yield* world.submit("i2");
      assert.deepStrictEqual(world.stub.called("open"), ["T open 1 old", "T open 2 old"]);
      assert.strictEqual(codeOf((yield* world.payloads("input.failed"))[0]), "session_unavailable");
      assert.strictEqual(world.stub.count("prompt"), 1);
      assert.deepStrictEqual(yield* world.engine.sessions, []);
    }),
  );

  it.effect("a lost native context is told in the thread, and only the person's choice goes on without it", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", started("t1", "i1"), completed("t1"));
      const tooEarly = yield* world.send({ type: "session.forget", threadId: "T" });
      assert.strictEqual(tooEarly.status === "rejected" && tooEarly.rejection.code, "busy");
      yield* world.does({ type: "session.release", threadId: "T" });
      world.stub.behaviours.open = "session_unavailable";
      yield* world.submit("i2");
      assert.strictEqual(world.input("i2"), "failed");
      const [told] = yield* world.payloads("notice.recorded");
      assert.deepInclude(told, { level: "error", code: "context_unavailable" });
      assert.include(String(told?.["detail"]), "native-T");
      // As often as one likes: it is not given up by itself, and what repairs it is enough.
      yield* world.does({ type: "input.resubmit", threadId: "T", inputId: "i2" });
      assert.deepStrictEqual(world.stub.called("open").slice(1), ["T open 2 native-T", "T open 3 native-T"]);
      world.stub.behaviours.open = "accept";
      yield* world.does({ type: "session.forget", threadId: "T" });
      yield* world.does({ type: "session.forget", threadId: "T" });
      assert.deepStrictEqual(yield* world.payloads("session.forgotten"), [{ nativeSessionId: "native-T" }]);
      const notices = (yield* world.payloads("notice.recorded")).map(({ code }) => code);
      assert.deepStrictEqual(notices, ["context_unavailable", "context_unavailable", "context_forgotten"]);
      yield* world.does({ type: "input.resubmit", threadId: "T", inputId: "i2" });
      assert.strictEqual(world.stub.called("open").at(-1), "T open 4");
      assert.strictEqual(world.input("i2"), "handed_over");
    }),
  );

  it.effect("a folder that went away is told before anything is started", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create();
      world.missingFolder = "/p/a";
      yield* world.submit("i1");
      assert.strictEqual(codeOf((yield* world.payloads("input.failed"))[0]), "cwd_missing");
      assert.strictEqual(world.stub.count("open"), 0);
    }),
  );

  it.effect("released while it opens: nobody waits for it any more", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.open = "hang";
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.does({ type: "session.release", threadId: "T" });
      assert.strictEqual(world.state().session?.state, "released");
      assert.deepStrictEqual(yield* world.engine.sessions, []);
      world.stub.release("open");
      yield* world.pass(60_000);
      assert.strictEqual(world.state().session?.state, "released");
      assert.strictEqual(world.stub.count("prompt"), 0);
    }),
  );

  it.effect("the process dies while it opens: that is the failure, and not a reason to try again", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.behaviours.open = "hang";
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.says("T", { type: "session.exited", payload: { kind: "crash", exitCode: 1, recoverable: true } });
      assert.strictEqual(world.state().session?.state, "exited");
      assert.strictEqual(world.input("i1"), "failed");
      yield* world.pass(120_000);
      assert.strictEqual(world.stub.count("open"), 1);
    }),
  );

  it.effect("sessions that go as soon as they are open do not do so for ever", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      world.stub.exitsAtOnce = true;
      yield* world.create("T", { input: { inputId: "i1", text: "x" } });
      yield* world.pass(120_000);
      assert.strictEqual(world.stub.count("open"), 3);
      assert.strictEqual(world.stub.count("prompt"), 0);
      assert.strictEqual(codeOf((yield* world.payloads("input.failed"))[0]), "runtime_exited");
    }),
  );

  it.effect(
    "what the thread was created with goes to the runtime; MCP secrets from memory, and told when they are gone",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld();
        const docs = { name: "docs", transport: "http", url: "http://x" } as const;
        const secret = { name: "db", transport: "stdio", command: "db", env: { TOKEN: "hunter2" } } as const;
        yield* world.create("T", {
          systemPrompt: "be kind",
          disallowedTools: ["web"],
          mcpServers: [docs, secret],
          input: { inputId: "i1", text: "x" },
        });
        const { systemPrompt, disallowedTools, mcpServers } = world.stub.options("T");
        assert.deepStrictEqual(
          { systemPrompt, disallowedTools },
          { systemPrompt: "be kind", disallowedTools: ["web"] },
        );
        assert.deepStrictEqual(mcpServers, [docs, secret]);
        assert.isFalse(JSON.stringify(yield* world.events()).includes("hunter2"));

        yield* world.host!.crash();
        yield* world.boot;
        yield* world.does({ type: "input.discard", threadId: "T", inputId: "i1" });
        yield* world.submit("i2");
        assert.deepStrictEqual(world.stub.options("T").mcpServers, [docs]);
        const [notice] = yield* world.payloads("notice.recorded");
        assert.strictEqual(notice?.["code"], "mcp_secrets_missing");
        assert.include(String(notice?.["message"]), "db");
      }),
  );

  it.effect("asked for without an input: it opens, and again as a later generation", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld();
      yield* world.create();
      yield* Effect.orDie(world.engine.open("T"));
      assert.strictEqual(world.state().session?.state, "ready");
      yield* Effect.orDie(world.engine.open("T"));
      assert.deepStrictEqual(world.stub.called("open"), ["T open 1"]);
      yield* Effect.orDie(world.engine.open("T", 3));
      assert.deepStrictEqual(world.stub.called("open"), ["T open 1", "T open 2", "T open 3"]);
      assert.strictEqual(world.state().session?.generation, 3);
      world.stub.behaviours.open = "runtime_refused";
      yield* world.does({ type: "session.release", threadId: "T" });
      yield* Effect.orDie(world.engine.open("T"));
      assert.strictEqual(world.state().session?.state, "failed");
      yield* Effect.orDie(world.engine.open("unknown"));
    }),
  );
});
