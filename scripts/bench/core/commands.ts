import { projector } from "@tributary/projections";
import { rawCommands, storeCommands } from "@tributary/store/bench";
import { compare, median, percentile, scaled, type BenchContext } from "../harness.ts";
import { inScratch, runFolders } from "../runs.ts";

interface Case {
  readonly synchronous: "full" | "normal";
  readonly clients: number;
  readonly commands: number;
  /** Milliseconds the median may take. */
  readonly p50AtMost?: number;
  readonly atLeast?: number;
}

const cases: ReadonlyArray<Case> = [
  { synchronous: "full", clients: 256, commands: 40_000, atLeast: 12_000 },
  { synchronous: "normal", clients: 256, commands: 40_000 },
  { synchronous: "full", clients: 1, commands: 1_500 },
  { synchronous: "normal", clients: 1, commands: 4_000, p50AtMost: 1 },
];

/** Commands with receipts, deciders, log, states and projections, beside the rows they leave written again raw. */
export const commands = async ({ scale, rounds, report }: BenchContext, folder: string): Promise<void> => {
  for (const { synchronous, clients, commands: amount, p50AtMost, atLeast } of cases) {
    const folders = runFolders(folder, `commands-${synchronous}-${clients}`);
    const units = scaled(amount, scale, clients * 2);
    const name = `${synchronous.toUpperCase()}, ${clients === 1 ? "1 client" : `${clients} concurrent`}`;
    const medians: Array<number> = [];
    const tails: Array<number> = [];
    const figure = await compare(
      {
        what: `commands, ${name}`,
        unit: "commands",
        subject: {
          name: "store",
          run: async () => {
            const dir = folders.next();
            const timing = await storeCommands({ dir, projector, synchronous, commands: units, clients });
            medians.push(percentile(timing.latencies, 0.5));
            tails.push(percentile(timing.latencies, 0.99));
            return timing;
          },
        },
        baseline: {
          name: "raw node:sqlite, the same rows",
          run: () =>
            inScratch(folder, (dir) =>
              rawCommands({ from: folders.latest(), dir, synchronous, commands: units, group: clients }),
            ),
        },
        ...(atLeast === undefined ? {} : { budget: { atLeast } }),
      },
      rounds,
    );
    // The first run warmed up.
    const warm = medians.slice(1);
    report(
      figure,
      {
        what: `command p50, ${name}`,
        value: median(warm),
        unit: "ms",
        spread: [Math.min(...warm), Math.max(...warm)],
        ...(p50AtMost === undefined ? {} : { budget: { atMost: p50AtMost } }),
      },
      { what: `command p99, ${name}`, value: median(tails.slice(1)), unit: "ms" },
    );
  }
};
