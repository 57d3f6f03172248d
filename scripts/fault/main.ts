import "effect/schema/SchemaJITCompiler/enable";
import { dispatch, type Family } from "../dispatch.ts";

/** Fault scripts get the arguments after their name. */
export type FaultContext = { readonly args: ReadonlyArray<string> };

/** The fault scripts. A new one is a file beside this one and a line here. */
const family: Family<FaultContext> = {
  command: "fault",
  about: "Breaks a running system on purpose (kills, full disks, lost connections) and checks what must still hold.",
  options: [],
  entries: [],
};

const [name, ...args] = process.argv.slice(2);
process.exitCode = await dispatch(family, name === "--help" || name === "-h" ? "help" : name, { args });
