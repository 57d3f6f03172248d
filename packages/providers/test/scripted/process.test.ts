import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { assert, describe, it } from "@effect/vitest";
import { ProcessIdentity } from "@tributary/contracts";
import { Deferred, Effect, Exit, Fiber, Schema, Scope } from "effect";
import { endTree, findSurvivors, isAlive } from "../../src/process/index.ts";
import type { Script } from "../../src/scripted/index.ts";
import { Heard, openScript, oneTurn, say } from "./harness.ts";

const child = { process: true } as const;
const decodeIdentity = Schema.decodeUnknownSync(ProcessIdentity);

describe("a script in a child process", () => {
  it.live("says the same as in process, with line separators, split pairs and noise", () =>
    Effect.gen(function* () {
      const script: Script = oneTurn(
        { do: "text", text: "a\u2028b😀\n{{input}}", chunk: 1 },
        { do: "noise", line: "warning: not json" },
        { do: "tool", output: "x".repeat(200_000), exitCode: 0 },
        { do: "approval", name: "ok", otherwise: [{ do: "text", text: "{{approval.ok}}" }] },
      );
      const run = Effect.fnUntraced(function* (over: { readonly process?: true }) {
        const { session, heard } = yield* openScript(script, over);
        yield* session.prompt(say("in\u2028put"));
        const asked = yield* heard.wait("request.opened");
        yield* session.answer!({ requestId: asked.requestId ?? "", answer: { optionId: "allow" } });
        yield* heard.wait("turn.completed");
        yield* session.close;
        return heard;
      });
      const inside = yield* Effect.scoped(run({}));
      const outside = yield* Effect.scoped(run(child));
      assert.deepStrictEqual(outside.events, inside.events);
      assert.strictEqual(outside.spawned.length, 1);
      assert.isFalse(yield* isAlive(outside.spawned[0]!));
    }),
  );

  it.live("kill -9 from outside: what was said arrives, then the exit with its signal", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(
        oneTurn({ do: "text", text: "last words" }, { do: "silence" }),
        child,
      );
      yield* session.prompt(say("x"));
      yield* heard.wait("item.completed");
      const waiting = yield* Effect.forkChild(Effect.flip(session.interrupt({ turnId: "another" })));
      yield* Fiber.await(waiting).pipe(Effect.timeoutOption(0));
      process.kill(heard.spawned[0]!.pid, "SIGKILL");
      const exited = yield* heard.wait("session.exited");
      assert.strictEqual(exited.payload.kind, "killed");
      assert.strictEqual(exited.payload.signal, "SIGKILL");
      assert.strictEqual(heard.text(), "last words");
      assert.strictEqual(heard.types.at(-1), "session.exited");
      assert.strictEqual((yield* Effect.flip(session.prompt(say("y")))).reason, "exited");
    }),
  );

  it.live("its own crash carries code and stderr; its own signal is one", () =>
    Effect.gen(function* () {
      const crash = yield* openScript(oneTurn({ do: "exit", code: 7, stderr: "it broke\n" }), child);
      const signal = yield* openScript(oneTurn({ do: "exit", signal: "SIGTERM" }), child);
      yield* crash.session.prompt(say("x"));
      yield* signal.session.prompt(say("x"));
      const exited = yield* crash.heard.wait("session.exited");
      assert.deepStrictEqual(exited.payload, {
        kind: "crash",
        exitCode: 7,
        stderrTail: "it broke\n",
        recoverable: true,
      });
      assert.strictEqual((yield* signal.heard.wait("session.exited")).payload.signal, "SIGTERM");
    }),
  );

  it.live("one that ignores close and TERM is ended by KILL; one that hangs in open ends with its scope", () =>
    Effect.gen(function* () {
      const deaf = yield* openScript({ on: { close: "hang", terminate: "hang" } }, child);
      const closing = yield* Effect.forkChild(deaf.session.close, { startImmediately: true });
      yield* deaf.session.signal("terminate");
      yield* Effect.sleep(150);
      assert.isUndefined(closing.pollUnsafe());
      yield* deaf.session.signal("kill");
      yield* Fiber.join(closing);
      assert.strictEqual(deaf.heard.of("session.exited")[0]?.payload.kind, "killed");

      const marker = `hang-${process.pid}-${crypto.randomUUID()}`;
      const heard = new Heard();
      const scope = yield* Scope.make();
      const opening = yield* Effect.forkChild(
        Scope.provide(openScript({ on: { open: "hang" } }, { ...child, marker, heard }), scope),
        { startImmediately: true },
      );
      yield* Deferred.await(heard.running);
      yield* Fiber.interrupt(opening);
      yield* Scope.close(scope, Exit.void);
      assert.deepStrictEqual(yield* findSurvivors({ marker }), []);
    }),
  );

  it.live("survives its host when told to, and is found by identity and by marker", () =>
    Effect.gen(function* () {
      const marker = `survivor-${process.pid}-${crypto.randomUUID()}`;
      const host = spawn(process.execPath, [fileURLToPath(new URL("survivor-host.ts", import.meta.url)), marker], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [line] = yield* Effect.promise(() => once(host.stdout, "data"));
      const survivor = decodeIdentity(JSON.parse(String(line)));
      host.kill("SIGKILL");
      yield* Effect.promise(() => once(host, "exit"));
      assert.isTrue(yield* isAlive(survivor));
      const found = yield* findSurvivors({ marker });
      assert.deepStrictEqual(
        found.map(({ pid }) => pid),
        [survivor.pid],
      );
      const { left } = yield* endTree({ identity: survivor, marker }, { termGrace: 100 });
      assert.deepStrictEqual(left, []);
      assert.isFalse(yield* isAlive(survivor));
    }),
  );

  it.live("a flood arrives whole", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(oneTurn({ do: "flood", count: 20_000, text: "0123456789" }), child);
      yield* session.prompt(say("x"));
      yield* heard.wait("turn.completed");
      assert.strictEqual(heard.text().length, 200_000);
    }),
  );
});
