import { type RunningMockModel, startMockModel } from "@tributary/testkit";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { RecordContext } from "./main.ts";
import { neutral, type Replacements, toText, type Trimming } from "./neutral.ts";
import type { Tap } from "./tap.ts";

/** A thin host of one runtime: what a scenario drives. */
export interface Host {
  readonly tap: Tap;
  readonly replacements: Replacements;
  readonly remove: () => void;
}

export interface Runtime<H extends Host> {
  readonly name: "codex" | "claude";
  readonly scenarios: Readonly<Record<string, (host: H) => Promise<void>>>;
  readonly host: (program: string, mock: RunningMockModel) => H;
  readonly trimming: Trimming;
}

const programOf = (runtime: "codex" | "claude"): string => {
  const install = fileURLToPath(new URL("../../tests/runtimes/install.mjs", import.meta.url));
  const installed = JSON.parse(execFileSync(process.execPath, [install], { encoding: "utf8" })) as Record<
    "codex" | "claude",
    { readonly path: string }
  >;
  return installed[runtime].path;
};

/** Records scenarios into `<folder>/<scenario>.ndjson`; without a folder the recording goes to stdout. */
export const recordScenarios = async <H extends Host>(runtime: Runtime<H>, { args }: RecordContext): Promise<void> => {
  const { name: runtimeName, scenarios, trimming } = runtime;
  const usage = `Usage: npm run record -- ${runtimeName} <scenario…|all> [--out FOLDER]\n\nScenarios: ${Object.keys(scenarios).join(", ")}\n`;
  const outAt = args.indexOf("--out");
  const folder = outAt === -1 ? undefined : args[outAt + 1];
  const asked = args.filter((_, index) => outAt === -1 || (index !== outAt && index !== outAt + 1));
  if (asked.includes("help")) {
    process.stdout.write(usage);
    return;
  }
  const names = asked.includes("all") ? Object.keys(scenarios) : asked;
  const unknown = names.find((name) => !Object.hasOwn(scenarios, name));
  if (names.length === 0 || unknown !== undefined) {
    process.stderr.write(unknown === undefined ? usage : `There is no scenario "${unknown}".\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const program = programOf(runtimeName);
  const mock = await startMockModel();
  try {
    for (const name of names) {
      mock.reset();
      const host = runtime.host(program, mock);
      try {
        await scenarios[name]?.(host);
        const text = toText(neutral(host.tap.lines, host.replacements, trimming));
        if (folder === undefined) process.stdout.write(text);
        else {
          mkdirSync(folder, { recursive: true });
          writeFileSync(join(resolve(folder), `${name}.ndjson`), text);
          process.stderr.write(`${name}: ${text.length} bytes\n`);
        }
      } finally {
        await host.tap.kill();
        host.remove();
      }
    }
  } finally {
    await mock.stop();
  }
};
