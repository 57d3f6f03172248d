/** What shells get: scripts that they accept, and that complete what there is. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { inside } from "../support/inside.ts";
import { temporaryFolders } from "../support/server.ts";

const execute = (command: string, args: ReadonlyArray<string>) =>
  Effect.promise(() => promisify(execFile)(command, [...args]).then(({ stdout }) => stdout));

const hasShell = (shell: string) =>
  Effect.promise(() =>
    promisify(execFile)(shell, ["--version"]).then(
      () => true,
      () => false,
    ),
  );

/** What bash offers after these words, the last of which is begun. */
const offered = (script: string, words: ReadonlyArray<string>) =>
  Effect.map(
    execute("bash", [
      "--norc",
      "-c",
      [
        `source ${script} || exit 3`,
        `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})`,
        `COMP_CWORD=${words.length - 1}`,
        `COMP_LINE='${words.join(" ")}'`,
        "COMP_POINT=${#COMP_LINE}",
        "of=$(complete -p tributary); of=${of##*-F }; of=${of%% *}",
        `"$of" tributary '${words.at(-1)}' '${words.at(-2)}'`,
        'printf "%s\\n" "${COMPREPLY[@]}"',
      ].join("\n"),
    ]),
    (text) => text.split("\n").map((line) => line.trim()),
  );

describe("tributary completions", () => {
  it.live("bash accepts the script, and completes subcommands, those below, flags and choices", () =>
    Effect.gen(function* () {
      const { base } = yield* temporaryFolders;
      const { code, stdout } = yield* inside(["completions", "bash"]);
      assert.strictEqual(code, 0);
      const script = join(base, "tributary.bash");
      writeFileSync(script, stdout);
      yield* execute("bash", ["-n", script]);
      assert.includeMembers(yield* offered(script, ["tributary", "com"]), ["completions"]);
      assert.includeMembers(yield* offered(script, ["tributary", "r"]), ["run", "runtimes", "rebuild"]);
      assert.includeMembers(yield* offered(script, ["tributary", "journal", "ex"]), ["export"]);
      assert.includeMembers(yield* offered(script, ["tributary", "run", "--att"]), ["--attach"]);
      assert.includeMembers(yield* offered(script, ["tributary", "completions", "z"]), ["zsh"]);
      assert.notInclude(yield* offered(script, ["tributary", "x"]), "run");
    }),
  );

  it.live.each(["zsh", "fish"])("%s has one as well, which it accepts where it is installed", (shell) =>
    Effect.gen(function* () {
      const { base } = yield* temporaryFolders;
      const { code, stdout } = yield* inside(["completions", shell]);
      assert.strictEqual(code, 0);
      assert.match(stdout, /completions/);
      if (!(yield* hasShell(shell))) return;
      const script = join(base, `tributary.${shell}`);
      writeFileSync(script, stdout);
      yield* execute(shell, ["-n", script]);
    }),
  );

  it.live("another shell is a wrong call", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* inside(["completions", "tcsh"]);
      assert.strictEqual(code, 2);
      assert.match(stderr, /bash.*zsh.*fish/s);
    }),
  );
});
