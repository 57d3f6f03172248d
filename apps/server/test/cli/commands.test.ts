import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
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
    30_000,
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
    30_000,
  );
});

describe("the command line", () => {
  it.live(
    "says in a line what is wrong and what to do, with 2 for a wrong call and 1 for a failure",
    () =>
      Effect.gen(function* () {
        const options = yield* folders;
        const wrong: ReadonlyArray<readonly [args: ReadonlyArray<string>, code: number, says: RegExp]> = [
          [["nope"], 2, /Unknown subcommand "nope"[^]*tributary --help/],
          [["run", "demo"], 2, /prompt[^]*tributary run --help/],
          [["run", "demo", "x", "--approve", "perhaps"], 2, /approve/],
          [["run", "demo", "x"], 2, /--approve all/],
          [["run", "nobody", "x", "--approve", "all"], 1, /nobody/],
          [["interrupt", "T"], 2, /tributary serve/],
          [["threads", "--server", "http://127.0.0.1:9", "--token-file", "/nowhere"], 1, /\/nowhere/],
          [["scenario", "/nowhere.ndjson"], 2, /\/nowhere\.ndjson/],
          [["normalize", "--runtime", "abacus", "-"], 2, /abacus/],
        ];
        const all = yield* Effect.forEach(wrong, ([args]) => runToEnd(args, options), { concurrency: 3 });
        for (const [index, [args, code, says]] of wrong.entries()) {
          const ended = all[index];
          assert.strictEqual(ended?.code, code, `${args.join(" ")}: ${ended?.stderr}`);
          assert.match(ended?.stderr ?? "", says);
          assert.strictEqual(ended?.stdout, "", args.join(" "));
        }
      }),
    40_000,
  );

  it.live(
    "cares for a data folder",
    () =>
      Effect.gen(function* () {
        const options = yield* folders;
        const copy = join(options.base, "copy");
        const steps: ReadonlyArray<readonly [args: ReadonlyArray<string>, says: RegExp]> = [
          [["projects", "add", "."], /Registered/],
          [["projects"], new RegExp(options.cwd)],
          [["instances"], /demo +scripted +1/],
          [["rebuild"], /Rebuilt from 1 events/],
          [["backup", copy], /Copied to/],
          [["doctor"], /✓ its files are whole/],
          [["projects", "--data", copy], new RegExp(options.cwd)],
        ];
        for (const [args, says] of steps) {
          const { code, stdout, stderr } = yield* runToEnd(args, options);
          assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`);
          assert.match(stdout, says);
        }
      }),
    40_000,
  );
});
