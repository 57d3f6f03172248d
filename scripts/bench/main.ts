import "effect/schema/SchemaJITCompiler/enable";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { dispatch, type Family } from "../dispatch.ts";
import type { BenchContext, Figure } from "./harness.ts";
import { describeMachine, thisMachine } from "./machine.ts";
import { tableOf } from "./table.ts";

/** The benches. A new one is a file beside this one and a line here. */
const family: Family<BenchContext> = {
  command: "bench",
  about:
    "Measures a part, its limit beside it in the same run, and prints both. A figure that misses its budget is no failure.",
  options: [
    "--out FILE    write the figures and the machine as JSON",
    "--scale N     multiply the amount of work (default 1; less only to see that a bench runs)",
    "--rounds N    measured rounds of each side (default 5)",
    "--profile     ingestion: also say where the time goes",
  ],
  entries: [
    {
      name: "raw-sqlite",
      summary: "bare node:sqlite: group commit against a transaction a command, FULL and NORMAL",
      load: async () => (await import("./raw-sqlite.ts")).rawSqlite,
    },
    {
      name: "core",
      summary: "commands, growth, newest page, start and rebuild with a million events",
      load: async () => (await import("./core.ts")).core,
    },
    {
      name: "ingestion",
      summary: "deltas of 1 and 20 threads, memory, a flood beside a quiet thread, what a reply takes in the log",
      load: async () => (await import("./ingestion.ts")).ingestion,
    },
    {
      name: "wire",
      summary: "live streams to 1 and 100 clients, and how soon the first event of a turn is at its client",
      load: async () => (await import("./wire.ts")).wire,
    },
  ],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean", short: "h" },
    out: { type: "string" },
    scale: { type: "string", default: "1" },
    rounds: { type: "string", default: "5" },
    profile: { type: "boolean", default: false },
  },
});

/** A number above 0, or an error that names the option. */
const positive = (option: string, text: string): number => {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${option} takes a number above 0, not "${text}".`);
  return value;
};

const machine = thisMachine();
const figures: Array<Figure> = [];
const name = values.help === true ? "help" : positionals[0];

/** Also when a later bench failed: what was measured before it stays known. */
const publish = (): void => {
  if (figures.length === 0) return;
  process.stdout.write(`${describeMachine(machine)}\n\n${tableOf(figures)}`);
  if (values.out === undefined) return;
  const result = { bench: name, at: new Date().toISOString(), scale: Number(values.scale), machine, figures };
  writeFileSync(values.out, `${JSON.stringify(result, undefined, 2)}\n`);
};

try {
  process.exitCode = await dispatch(family, name, {
    scale: positive("scale", values.scale),
    rounds: positive("rounds", values.rounds),
    profile: values.profile,
    report: (...more) => void figures.push(...more),
  });
} finally {
  publish();
}
