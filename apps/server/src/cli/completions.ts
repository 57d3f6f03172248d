/** `tributary completions`: a script that has a shell complete subcommands and flags. Made from the tree, starts nothing. */
import { Effect } from "effect";
import { Completions } from "effect/cli";
import { print } from "./output.ts";
import { tributary } from "./tree.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

export const completions = (shell: Shell): Effect.Effect<void> =>
  Effect.suspend(() =>
    print(`${Completions.generate("tributary", shell, Completions.fromCommand(tributary)).trimEnd()}\n`),
  );
