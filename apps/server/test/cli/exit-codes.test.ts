/** Exit codes as scripts see them: the documented ones, by real processes. */
import { readFileSync } from "node:fs";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { inside } from "../support/inside.ts";
import { runToEnd, serveProcess, tributary } from "../support/process.ts";
import { temporaryFolders } from "../support/server.ts";

const folders = Effect.map(temporaryFolders, ({ data, work }) => ({ data, cwd: work }));
const documentation = readFileSync(new URL("../../../../docs/command-line.md", import.meta.url), "utf8");
const documented = Array.from(documentation.matchAll(/^\| (\d+) \|/gm), ([, code]) => Number(code));

describe("exit codes", () => {
  it.live(
    "are the documented ones, and the help tells them",
    () =>
      Effect.gen(function* () {
        const options = yield* folders;
        const seen = new Set<number | null>();
        const ends = (args: ReadonlyArray<string>, code: number, says: RegExp) =>
          Effect.map(inside([...args, "--data", options.data]), (end) => {
            assert.strictEqual(end.code, code, `${args.join(" ")}: ${JSON.stringify(end)}`);
            assert.match(end.stderr + end.stdout, says);
            seen.add(end.code);
          });
        yield* ends(["--help"], 0, /Exit codes: 0 .* 1 .* 2 .* 130 .* 129 and 143/s);
        yield* ends(["attach", "none"], 1, /none/);
        yield* ends(["no-such-command"], 2, /no-such-command/);
        yield* ends(["run", "demo"], 2, /prompt/);
        yield* ends(["run", "demo", "hi", "--no-such-flag"], 2, /no-such-flag/);
        const server = yield* serveProcess(options);
        const ran = yield* runToEnd(["run", "demo", "hi", "--approve", "all", "--json"], options);
        const { streamId } = JSON.parse(ran.stdout.split("\n")[0] ?? "");
        for (const [signal, code] of [
          ["SIGINT", 130],
          ["SIGTERM", 143],
          ["SIGHUP", 129],
        ] as const) {
          const following = yield* tributary(["attach", streamId], options);
          yield* Effect.promise(() => following.printed("You said"));
          following.kill(signal);
          const end = yield* Effect.promise(() => following.ended);
          assert.deepStrictEqual([end.code, end.signal], [code, null], signal);
          seen.add(end.code);
        }
        // To be ended is what a server is there for.
        server.kill("SIGTERM");
        const { code, stderr } = yield* Effect.promise(() => server.ended);
        assert.deepStrictEqual([code, stderr], [0, ""]);
        assert.sameMembers([...seen], documented);
      }),
    120_000,
  );

  it.live(
    "a turn that is interrupted is 130, also for who runs it",
    () =>
      Effect.gen(function* () {
        const options = yield* folders;
        const running = yield* tributary(["run", "demo", "hello", "--approve", "all"], options);
        yield* Effect.promise(() => running.printed("You said"));
        running.kill("SIGINT");
        const end = yield* Effect.promise(() => running.ended);
        assert.strictEqual(end.code, 130, JSON.stringify(end));
        assert.match(end.stderr, /interrupted/);
      }),
    60_000,
  );
});
