import "effect/schema/SchemaJITCompiler/enable";
import { dispatch, type Family } from "../dispatch.ts";
import { Violated } from "./findings.ts";

/** Fault scripts get the arguments after their name. */
export type FaultContext = { readonly args: ReadonlyArray<string> };

/** The fault scripts. A new one is a file beside this one and a line here. */
const family: Family<FaultContext> = {
  command: "fault",
  about:
    "Breaks a running system on purpose and checks what must still hold. Prints what was done; exit code 1 when a promise was broken.",
  options: [
    "--seed N      the moments and choices of an earlier run (printed at the end of each)",
    "--kills N     ingestion, engine: how often the server is killed (default 200)",
    "--times N     engine: how often clients race (default 200)",
    "--crashes N   engine: how often all reactors are cut between attempt and outcome (default 10)",
    "scenarios NAME  only files whose name contains it",
  ],
  entries: [
    {
      name: "scenarios",
      summary: "every scenario file, killed after every one of its lines",
      load: async () => (await import("./scenarios.ts")).scenarios,
    },
    {
      name: "ingestion",
      summary: "kill -9 of the server while agents in processes of their own stream into ten threads",
      load: async () => (await import("./ingestion.ts")).ingestion,
    },
    {
      name: "engine",
      summary:
        "kill -9 under commands and in each reactor; races; runtimes that hang or die in each call; a clock that jumps back; a second process",
      load: async () => (await import("./engine.ts")).engine,
    },
  ],
};

const [name, ...args] = process.argv.slice(2);
try {
  process.exitCode = await dispatch(family, name === "--help" || name === "-h" ? "help" : name, { args });
} catch (cause) {
  // What was found is told in words; anything else is a fault of the script and comes with its stack.
  if (!(cause instanceof Violated)) throw cause;
  process.stderr.write(`${cause.message}\n`);
  process.exitCode = 1;
}
