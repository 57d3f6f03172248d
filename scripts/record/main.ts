import "effect/schema/SchemaJITCompiler/enable";
import { dispatch, type Family } from "../dispatch.ts";

/** Recorders get the arguments after their name. */
export type RecordContext = { readonly args: ReadonlyArray<string> };

/** The recorders. A new one is a file beside this one and a line here. */
const family: Family<RecordContext> = {
  command: "record",
  about: "Records what a real runtime says, as a native recording for fixtures and `tributary normalize`.",
  options: [],
  entries: [
    {
      name: "codex",
      summary: "scenarios of codex app-server against the mock model; `codex help` lists them",
      load: () => import("./codex.ts").then(({ record }) => record),
    },
    {
      name: "claude",
      summary: "scenarios of claude -p against the mock model; `claude help` lists them",
      load: () => import("./claude.ts").then(({ record }) => record),
    },
  ],
};

const [name, ...args] = process.argv.slice(2);
process.exitCode = await dispatch(family, name === "--help" || name === "-h" ? "help" : name, { args });
