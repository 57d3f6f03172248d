import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { projector } from "@tributary/projections";
import { fillStore, rawCommands, rebuildRate, timeToReady } from "@tributary/store/bench";
import { median, scaled, type BenchContext, type Figure } from "../harness.ts";
import { inScratch } from "../runs.ts";

const server = fileURLToPath(new URL("../../../apps/server", import.meta.url));

/** The command line as it ships: launcher and bundle, without sources beside them. */
const ship = (folder: string): string => {
  execFileSync(process.execPath, [join(server, "build.mjs"), join(folder, "dist")]);
  cpSync(join(server, "bin"), join(folder, "bin"), { recursive: true });
  return join(folder, "bin", "tributary.mjs");
};

/** Milliseconds from spawn until the process says its first line; it is ended in order afterwards. */
const untilFirstLine = (args: ReadonlyArray<string>, endedBy: "stays" | "ends"): Promise<number> =>
  new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    let said: number | undefined;
    child.stdout.once("data", () => {
      said = performance.now() - start;
      if (endedBy === "stays") child.kill("SIGTERM");
    });
    child.once("error", reject);
    child.once("close", (code) => {
      if (said === undefined) reject(new Error(`${args.join(" ")} ended with ${String(code)} and said nothing`));
      else resolve(said);
    });
  });

const spreadOf = (values: ReadonlyArray<number>): Pick<Figure, "value" | "spread"> => ({
  value: median(values),
  spread: [Math.min(...values), Math.max(...values)],
});

const repeat = async (times: number, run: () => Promise<number>): Promise<ReadonlyArray<number>> => {
  const values: Array<number> = [];
  for (let n = 0; n < times; n += 1) values.push(await run());
  return values;
};

/** What a log of a million events costs: at start, and when projections are made anew. */
export const longLog = ({ scale, rounds, report }: BenchContext, folder: string): Promise<void> =>
  inScratch(folder, async (scratch) => {
    const events = scaled(1_000_000, scale, 10_000);
    const dir = join(scratch, "data");
    mkdirSync(dir, { mode: 0o700 });
    const load = { dir, projector, synchronous: "normal" } as const;
    await fillStore({ ...load, events, threads: 100 });

    const store = await repeat(rounds, () => timeToReady(load));
    // Ends whatever the threads left open; the starts that count find a clean folder.
    const serve = [ship(join(scratch, "package")), "serve", "--port", "0", "--json", "--data", dir];
    await untilFirstLine(serve, "stays");
    const server = await repeat(rounds, () => untilFirstLine(serve, "stays"));
    const bare = await repeat(rounds, () =>
      untilFirstLine(
        [
          "-e",
          `const {DatabaseSync} = require("node:sqlite"); const db = new DatabaseSync(${JSON.stringify(join(dir, "main.db"))});
           console.log(db.prepare("SELECT max(sequence) AS head FROM events").get().head)`,
        ],
        "ends",
      ),
    );
    const what = `ready with ${events.toLocaleString("en-US")} stored events`;
    report(
      { what: `${what}, store alone`, ...spreadOf(store), unit: "ms" },
      {
        what: `${what}, \`tributary serve\` as it ships, process included`,
        ...spreadOf(server),
        unit: "ms",
        budget: { atMost: 500 },
        baseline: {
          name: "bare node that opens the file",
          value: median(bare),
          ratio: median(server) / median(bare),
        },
      },
    );

    const rebuilt = await rebuildRate(load);
    const raw = await inScratch(scratch, (target) =>
      rawCommands({ from: dir, dir: target, synchronous: "normal", commands: events, group: 1_000 }),
    );
    const rate = rebuilt.units / rebuilt.seconds;
    const limit = raw.units / raw.seconds;
    report({
      what: "rebuild of all projections",
      value: rate,
      unit: "events/s",
      budget: { atLeast: 50_000 },
      baseline: { name: "raw node:sqlite, all rows of the store", value: limit, ratio: rate / limit },
    });
  });
