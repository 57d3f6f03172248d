/** Every command about a thread, its inputs, queue and session, as a person types it; and what its refusals say. */
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { runCommand } from "../../src/cli/main.ts";
import { Output } from "../../src/cli/output.ts";
import { addInstance, asking, silent } from "../support/agents.ts";
import type { TestServer } from "../support/server.ts";
import { freshServer } from "../support/server.ts";
import { tokenFile } from "../../src/config/token.ts";

const typing = (server: TestServer) => (args: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const printed = { stdout: "", stderr: "" };
    const output = {
      out: (text: string) => Effect.sync(() => void (printed.stdout += text)),
      err: (text: string) => Effect.sync(() => void (printed.stderr += text)),
    };
    const reach = ["--server", server.url, "--token-file", tokenFile(server.data), "--data", server.data];
    return runCommand([...args, ...reach]).pipe(
      Effect.provideService(Output, output),
      Effect.map(({ code, line = "" }) => ({ code, stdout: printed.stdout, stderr: printed.stderr + line })),
    );
  });

const page = (server: TestServer, threadId: string) => Effect.promise(() => server.call(`/threads/${threadId}`));

const until = (server: TestServer, threadId: string, holds: (body: TestPage) => boolean) =>
  Effect.gen(function* () {
    for (let patience = 0; patience < 400; patience += 1) {
      const { body } = yield* page(server, threadId);
      if (holds(body)) return;
      yield* Effect.sleep(25);
    }
    assert.fail("it did not come to that");
  });
// oxlint-disable-next-line typescript/no-explicit-any
type TestPage = any;

const quick = { name: "quick", otherwise: [{ do: "text", text: "Done." }] };

describe("commands about a thread", () => {
  it.live("make, name, set up, put away, delete and erase one", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "quick", quick);
      const run = typing(server);
      const made = yield* run(["threads", "create", "quick", "--cwd", server.work, "--title", "First"]);
      assert.strictEqual(made.code, 0, made.stderr);
      const id = made.stdout.trim();
      const steps: ReadonlyArray<readonly [args: ReadonlyArray<string>, says: RegExp]> = [
        [["threads"], /First/],
        [["threads", "rename", id, "Second"], /is called “Second”/],
        [["threads", "configure", id, "--approval-mode", "accept_edits"], /applies now/],
        [["threads", "read", id, "--up-to", "1"], /up to 1/],
        [["threads", "read", id], /Read up to \d+/],
        [["inputs", "list", id], /No input waits/],
        [["send", id, "hello", "--id", "i1"], /It is the next prompt \(input i1\)/],
        [["threads", "archive", id], /archived/],
        [["threads", "unarchive", id], /back/],
        [["session", "release", id], /Let go/],
        [["session", "forget", id], /begins anew/],
        [["threads", "delete", id], /deleted.*tributary threads purge/],
        [["threads", "purge", id], /erased for good/],
      ];
      for (const [args, says] of steps) {
        if (args[0] === "threads" && args[1] === "archive")
          yield* until(server, id, ({ turns }) => turns[0]?.state === "completed");
        const { code, stdout, stderr } = yield* run(args);
        assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`);
        assert.match(stdout, says, args.join(" "));
      }
      const wrong: ReadonlyArray<readonly [args: ReadonlyArray<string>, code: number, says: RegExp]> = [
        [["threads", "rename", id, "Third"], 1, /deleted.*\(thread_deleted; next: new thread\)/],
        [["threads", "rename", "never", "x"], 1, /\(thread_not_found; next: new thread\)/],
        [["threads", "configure", id], 2, /--model/],
        [["threads", "create", "quick", "--cwd", "/nowhere-at-all"], 1, /\(cwd_missing/],
        [["threads", "create", "nobody", "--cwd", server.work], 1, /\(runtime_unavailable.*`tributary instances`/],
        [["threads", "create", "quick", "--cwd", "/"], 1, /\(cwd_outside_roots.*`tributary projects add DIR`/],
        [["send", id, " "], 2, /nothing to say/],
        [["run", "quick", "", "--approve", "all"], 2, /nothing to say/],
      ];
      for (const [args, code, says] of wrong) {
        const ended = yield* run(args);
        assert.strictEqual(ended.code, code, `${args.join(" ")}: ${ended.stderr}`);
        assert.match(ended.stderr, says);
      }
    }),
  );

  it.live("say which way an input goes (pain 22), change and take back what waits (pain 21), and go on with it", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "silent", silent);
      const run = typing(server);
      const id = (yield* run(["threads", "create", "silent", "--cwd", server.work])).stdout.trim();
      assert.match((yield* run(["send", id, "one", "--id", "i1"])).stdout, /next prompt/);
      yield* until(server, id, ({ thread }) => thread.activeTurnId !== undefined);
      const busy = yield* run(["send", id, "two", "--delivery", "prompt"]);
      assert.strictEqual(busy.code, 1);
      assert.match(busy.stderr, /at work.*\(busy; next: wait\)/);
      assert.match((yield* run(["send", id, "two", "--delivery", "queue", "--id", "i2"])).stdout, /waits in the queue/);
      const origin = ["--source", "cron"];
      assert.match((yield* run(["send", id, "three", "--delivery", "queue", "--id", "i3", ...origin])).stdout, /queue/);
      assert.match((yield* run(["send", id, "four", "--id", "i4"])).stdout, /It steers the running turn/);
      assert.match((yield* run(["send", id, "again", "--id", "i2"])).stderr, /may act twice/);
      assert.match((yield* run(["inputs", "edit", id, "i2", "two, better"])).stdout, /changed/);
      assert.match((yield* run(["inputs", "withdraw", id, "i3"])).stdout, /taken back/);
      const listed = yield* run(["inputs", "list", id]);
      assert.match(listed.stdout, /i2 {2}queued \(queue\)\n {2}two, better/);
      assert.notMatch(listed.stdout, /i3/);
      const inputs = JSON.parse((yield* run(["inputs", "list", id, "--json"])).stdout).inputs;
      assert.deepInclude(
        inputs.find((input: { id: string }) => input.id === "i2"),
        { origin: { kind: "user" } },
      );
      assert.match((yield* run(["inputs", "resubmit", id, "i2"])).stderr, /\(not_queued\)/);
      assert.match((yield* run(["session", "forget", id])).stderr, /release it first.*\(busy; next: wait\)/);
      assert.match((yield* run(["interrupt", id, "--turn", "another"])).stderr, /not active.*\(no_active_turn\)/);
      yield* run(["interrupt", id, "--input", "i1"]);
      yield* until(server, id, ({ thread }) => thread.activeTurnId === undefined);
      yield* until(server, id, ({ thread }) => thread.queueHeld === "interrupted");
      assert.match((yield* run(["queue", "resume", id])).stdout, /goes on/);
      yield* until(server, id, ({ thread }) => thread.activeTurnId !== undefined);
    }),
  );

  it.live("answer the request of the thread that is meant, where several have one of the same id", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "asking", asking);
      const run = typing(server);
      const waits = ({ thread }: TestPage) => thread.pendingRequests.length === 1;
      const ids: Array<string> = [];
      for (const text of ["one", "two"]) {
        const id = (yield* run(["threads", "create", "asking", "--cwd", server.work])).stdout.trim();
        yield* run(["send", id, text]);
        yield* until(server, id, waits);
        ids.push(id);
      }
      const [first = "", second = ""] = ids;
      const { body } = yield* page(server, first);
      const asked = body.thread.pendingRequests[0].id as string;
      const unclear = yield* run(["answer", asked, "allow"]);
      assert.strictEqual(unclear.code, 2);
      assert.match(unclear.stderr, /2 threads have a request .*--thread/);
      for (const id of ids) assert.include(unclear.stderr, id);
      for (const id of ids) assert.isTrue(waits((yield* page(server, id)).body), "nothing was answered");

      assert.match((yield* run(["answer", asked])).stderr, /Say the answer/);
      assert.match((yield* run(["answer", asked, "allow", "--thread", second])).stdout, /Answered/);
      yield* until(server, second, ({ thread }) => thread.pendingRequests[0]?.id !== asked);
      assert.isTrue(waits((yield* page(server, first)).body));
      const late = yield* run(["answer", asked, "allow", "--thread", second]);
      assert.strictEqual(late.code, 1);
      assert.match(late.stderr, /No request .*`tributary answer` lists/);
      // Only one is left under this id: no thread need be named.
      assert.match((yield* run(["answer", asked, "allow"])).stdout, /Answered/);
    }),
  );

  it.live("let a person choose what to do when the agent's own memory is lost", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "forgetful", { ...quick, name: "forgetful", resume: "unavailable" });
      const run = typing(server);
      const id = (yield* run(["threads", "create", "forgetful", "--cwd", server.work])).stdout.trim();
      yield* run(["send", id, "one", "--id", "i1"]);
      yield* until(server, id, ({ turns }) => turns[0]?.state === "completed");
      yield* run(["session", "release", id]);
      yield* run(["send", id, "two", "--id", "i2"]);
      yield* until(server, id, ({ inputs }) => inputs[0]?.state === "failed");
      const { body } = yield* page(server, id);
      assert.deepInclude(body.inputs.find((input: { id: string }) => input.id === "i2").error, {
        code: "session_unavailable",
      });
      const told = body.rows.find((row: { kind: string }) => row.kind === "notice");
      assert.deepInclude(told, { level: "error", code: "context_unavailable" });
      assert.match((yield* run(["inputs", "list", id])).stdout, /i2 {2}failed \(prompt\): /);
      assert.match((yield* run(["session", "forget", id])).stdout, /begins anew/);
      assert.match((yield* run(["inputs", "resubmit", id, "i2"])).stdout, /sent again/);
      yield* until(server, id, ({ turns }) => turns.length === 2 && turns[1].state === "completed");
      const after = (yield* page(server, id)).body;
      assert.deepStrictEqual(
        after.rows.flatMap((row: { kind: string; code?: string }) => (row.kind === "notice" ? [row.code] : [])),
        ["context_unavailable", "context_forgotten"],
      );
    }),
  );
});
