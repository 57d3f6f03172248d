import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { runCommand } from "../../src/cli/main.ts";
import { Output } from "../../src/cli/output.ts";
import { runToEnd, serveProcess } from "../support/process.ts";
import { temporaryFolders } from "../support/server.ts";

const folders = Effect.map(temporaryFolders, ({ data, work, base }) => ({ data, cwd: work, base }));

describe("tributary run", () => {
  it.live(
    "in process: text on stdout, the rest on stderr, 0 when the turn completed",
    () =>
      Effect.gen(function* () {
        const options = yield* folders;
        const record = join(options.base, "record.ndjson");
        const ran = yield* runToEnd(["run", "demo", "hello", "--approve", "all", "--record", record], options);
        assert.strictEqual(ran.code, 0, ran.stderr);
        assert.match(ran.stdout, /You said: “hello”/);
        assert.match(ran.stdout, /“Allow once”/);
        assert.include(ran.stderr, `Registered ${options.cwd} as a project`);
        assert.match(ran.stderr, /✓ ls -a/);
        const lines = readFileSync(record, "utf8").trimEnd().split("\n");
        for (const line of lines) assert.hasAllKeys(JSON.parse(line), ["t", "dir", "msg"]);

        const listed = yield* runToEnd(["threads", "--json"], options);
        const { threads } = JSON.parse(listed.stdout);
        assert.deepStrictEqual(
          threads.map((thread: { instance: string; status: { value: string } }) => [
            thread.instance,
            thread.status.value,
          ]),
          [["demo", "idle"]],
        );
        const shown = yield* runToEnd(["attach", threads[0].threadId], options);
        assert.strictEqual(shown.stdout, ran.stdout);
        assert.match(shown.stderr, /> hello/);
        assert.isFalse(existsSync(join(options.data, "lock")));
      }),
    60_000,
  );

  it.live(
    "through the server that holds the data folder, as events",
    () =>
      Effect.gen(function* () {
        const options = yield* folders;
        const server = yield* serveProcess(options);
        const ran = yield* runToEnd(["run", "demo", "hello", "--approve", "none", "--json"], options);
        assert.strictEqual(ran.code, 0, ran.stderr);
        const events = ran.stdout
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line));
        assert.strictEqual(events.at(-1).type, "turn.ended");
        assert.include(
          events.map(({ type }: { type: string }) => type),
          "request.answered",
        );
        const second = yield* runToEnd(["serve"], options);
        assert.deepInclude(second, { code: 1, stdout: "" });
        assert.match(second.stderr, new RegExp(`runs already at ${server.url}`));
        server.kill("SIGTERM");
        const ended = yield* Effect.promise(() => server.ended);
        assert.strictEqual(ended.stderr, "");
        assert.isFalse(existsSync(join(options.data, "server.json")));
      }),
    60_000,
  );
});

/** A command in this process: what it printed, and how it ended. */
const inside = (args: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const printed = { stdout: "", stderr: "" };
    const output = {
      out: (text: string) => Effect.sync(() => void (printed.stdout += text)),
      err: (text: string) => Effect.sync(() => void (printed.stderr += text)),
    };
    return runCommand(args).pipe(
      Effect.provideService(Output, output),
      Effect.map(({ code, line = "" }) => ({ code, stdout: printed.stdout, stderr: printed.stderr + line })),
    );
  });

describe("the command line", () => {
  it.live("says in a line what is wrong and what to do, with 2 for a wrong call and 1 for a failure", () =>
    Effect.gen(function* () {
      const { data } = yield* folders;
      const wrong: ReadonlyArray<readonly [args: ReadonlyArray<string>, code: number, says: RegExp]> = [
        [["nope"], 2, /Unknown subcommand "nope"[^]*tributary --help/],
        [["run", "demo"], 2, /prompt[^]*tributary run --help/],
        [["run", "demo", "x", "--approve", "perhaps"], 2, /approve/],
        [["run", "demo", "x"], 2, /--approve all/],
        [["run", "nobody", "x", "--approve", "all"], 1, /nobody/],
        [["interrupt", "T"], 2, /tributary serve/],
        [["serve", "--host", "0.0.0.0"], 2, /127\.0\.0\.1/],
        [["attach", "none"], 1, /no thread none/],
        [["journal", "prune"], 2, /--days/],
        [["threads", "--server", "http://127.0.0.1:9", "--token-file", "/nowhere"], 1, /\/nowhere/],
        [["threads", "--server", "laptop:4417"], 2, /--server takes an address such as http/],
        [["scenario", "/nowhere.ndjson"], 2, /\/nowhere\.ndjson/],
        [["normalize", "--runtime", "abacus", "-"], 2, /abacus/],
      ];
      for (const [args, code, says] of wrong) {
        const ended = yield* inside([...args, "--data", data]);
        assert.strictEqual(ended.code, code, `${args.join(" ")}: ${ended.stderr}`);
        assert.match(ended.stderr, says);
        assert.strictEqual(ended.stdout, "", args.join(" "));
      }
    }),
  );

  it.live("shows help to who asks for it", () =>
    Effect.gen(function* () {
      for (const args of [["--help"], ["run", "--help"], ["journal"]]) {
        const { code, stdout, stderr } = yield* inside(args);
        assert.deepStrictEqual([code, stderr], [0, ""], args.join(" "));
        assert.match(stdout, /USAGE/);
      }
      assert.match((yield* inside(["--version"])).stdout, /\d+\.\d+\.\d+/);
    }),
  );

  it.live("cares for a data folder", () =>
    Effect.gen(function* () {
      const { base, cwd, data } = yield* folders;
      const copy = join(base, "copy");
      const steps: ReadonlyArray<readonly [args: ReadonlyArray<string>, says: RegExp]> = [
        [["projects"], /No projects yet/],
        [["projects", "add", cwd], /Registered/],
        [["projects"], new RegExp(cwd)],
        [["threads"], /tributary run demo/],
        [["journal", "list"], /No agent/],
        [["answer"], /Nothing waits/],
        [["instances"], /demo +scripted +1/],
        [["runtimes"], /scripted/],
        [["rebuild"], /Rebuilt from 1 events/],
        [["backup", copy], /Copied to/],
        [["journal", "prune", "--days", "1"], /0 records/],
        [["doctor"], /✓ its files are whole/],
        [["projects", "--data", copy], new RegExp(cwd)],
      ];
      for (const [args, says] of steps) {
        const { code, stdout, stderr } = yield* inside(args.includes("--data") ? args : [...args, "--data", data]);
        assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`);
        assert.match(stdout, says);
      }
      writeFileSync(join(data, "config.json"), '{"instances": [{"id": "x"}]}');
      const ill = yield* inside(["doctor", "--data", data]);
      assert.strictEqual(ill.code, 1);
      assert.match(ill.stdout, /✗ .*instances\[0\]\.runtime/);
    }),
  );

  it.live("runs a scenario and normalizes a recording", () =>
    Effect.gen(function* () {
      const { base } = yield* folders;
      const scenario = join(base, "s.ndjson");
      const create = { type: "thread.create", commandId: "c1", threadId: "T", cwd: "/p", instance: "stub" };
      writeFileSync(scenario, `${JSON.stringify({ command: create })}\n`);
      const ran = yield* inside(["scenario", scenario]);
      assert.deepInclude(JSON.parse(ran.stdout).receipts[0], { commandId: "c1", status: "accepted" });
      const recording = join(base, "r.ndjson");
      writeFileSync(recording, '{"t":0,"dir":"in","msg":{"method":"never/heard","params":{}}}\n');
      const normalized = yield* inside(["normalize", "--runtime", "codex", recording]);
      assert.strictEqual(normalized.code, 0);
      assert.deepInclude(JSON.parse(normalized.stdout), { type: "unknown" });
    }),
  );
});
