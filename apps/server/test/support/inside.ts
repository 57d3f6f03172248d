/** `tributary` in this process: as quick as a function, with the same words and exit codes. */
import { Effect } from "effect";
import { runCommand } from "../../src/cli/main.ts";
import { Output } from "../../src/cli/output.ts";

/** What a command printed, and how it ended. */
export const inside = (args: ReadonlyArray<string>) =>
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
