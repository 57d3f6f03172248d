import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Deferred, Effect } from "effect";
import type { Script } from "../../src/scripted/index.ts";
import { openScript, say } from "./harness.ts";

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "scripted-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
);

/** A gate, and the connections that wait at it. */
const gate = Effect.fnUntraced(function* (path: string) {
  const held = Deferred.makeUnsafe<Socket>();
  const gone = Deferred.makeUnsafe<void>();
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((socket) => {
        socket.on("error", () => {});
        socket.on("close", () => Deferred.doneUnsafe(gone, Effect.void));
        socket.resume();
        Deferred.doneUnsafe(held, Effect.succeed(socket));
      });
      server.listen(path, () => resume(Effect.succeed(server)));
    }),
    (server) => Effect.sync(() => server.close()),
  );
  return { held: Deferred.await(held), gone: Deferred.await(gone) };
});

describe("what a script does outside of itself", () => {
  it.live("runs the command that the input names, in the thread's folder", () =>
    Effect.gen(function* () {
      const cwd = yield* folder;
      const script: Script = { turns: [{ match: "^run (.*)$", steps: [{ do: "tool", run: "{{match.1}}" }] }] };
      const { session, heard } = yield* openScript(script, { cwd });
      yield* session.prompt(say("run printf 'a%sb' 1; printf oops >&2; echo kept > file; exit 3"));
      yield* heard.wait("turn.completed");
      const ended = yield* heard.wait("item.completed");
      assert.deepStrictEqual(ended.payload, { itemType: "command", status: "failed", exitCode: 3 });
      assert.include(heard.text("command_output"), "a1b");
      assert.include(heard.text("command_output"), "oops");
      assert.strictEqual(readFileSync(join(cwd, "file"), "utf8"), "kept\n");
    }),
  );

  it.live("an interrupt ends the command and leaves the gate", () =>
    Effect.gen(function* () {
      const cwd = yield* folder;
      const socket = join(cwd, "gate");
      const { gone, held } = yield* gate(socket);
      const script: Script = {
        turns: [{ steps: [{ do: "tool", run: "echo up; sleep 300" }] }, { steps: [{ do: "gate", socket }] }],
      };
      const { session, heard } = yield* openScript(script, { cwd });
      yield* session.prompt(say("first"));
      yield* heard.wait("content.delta");
      yield* session.interrupt({});
      assert.strictEqual((yield* heard.wait("item.completed")).payload.status, "interrupted");
      yield* session.prompt(say("second"));
      yield* held;
      yield* session.interrupt({});
      yield* gone;
      assert.strictEqual((yield* heard.wait("turn.completed", 2)).payload.outcome, "interrupted");
    }),
  );

  it.live("a gate opens when its other end closes; one that nobody holds fails the turn", () =>
    Effect.gen(function* () {
      const cwd = yield* folder;
      const socket = join(cwd, "gate");
      const { held } = yield* gate(socket);
      const script: Script = {
        turns: [
          {
            match: "open",
            steps: [
              { do: "gate", socket },
              { do: "text", text: "through" },
            ],
          },
          { match: "none", steps: [{ do: "gate", socket: join(cwd, "nobody") }] },
        ],
      };
      const { session, heard } = yield* openScript(script, { cwd });
      yield* session.prompt(say("open"));
      (yield* held).end();
      assert.strictEqual((yield* heard.wait("turn.completed")).payload.outcome, "completed");
      assert.strictEqual(heard.text(), "through");
      yield* session.prompt(say("none"));
      assert.include((yield* heard.wait("turn.completed", 2)).payload.error?.message, "Nobody holds the gate");
    }),
  );
});
