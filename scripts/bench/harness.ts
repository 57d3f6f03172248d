import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What one timed run did. */
export interface Timing {
  /** How many of the unit: events, commands, requests. */
  readonly units: number;
  readonly seconds: number;
}

/** One side of a comparison. `run` prepares as it likes and times only what counts (`timed`). */
export interface Contestant {
  readonly name: string;
  readonly run: () => Timing | Promise<Timing>;
}

/** A budget: a figure is fine when it is at least, or at most, this much. */
export type Budget = { readonly atLeast: number } | { readonly atMost: number };

/** A figure and what it is measured against. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** Smallest and largest of the rounds. */
  readonly spread?: readonly [smallest: number, largest: number];
  readonly budget?: Budget;
  /** The limit, measured in the same run. */
  readonly baseline?: { readonly name: string; readonly value: number; readonly ratio: number };
}

/** What a bench gets from the command line. */
export interface BenchContext {
  /** Multiplies the amount of work: 1 for figures that count, less to see that a bench runs at all. */
  readonly scale: number;
  /** Measured rounds of each side of a comparison. */
  readonly rounds: number;
  /** Also say where the time goes, where a bench can. */
  readonly profile: boolean;
  /** Keeps a figure for the table and the `--out` file. */
  readonly report: (...figures: ReadonlyArray<Figure>) => void;
}

/** An amount of work at the context's scale, never below `least`. */
export const scaled = (amount: number, scale: number, least = 1): number => Math.max(least, Math.round(amount * scale));

/** Times `work`, which does `units` of the unit. */
export const timed = async (units: number, work: () => unknown): Promise<Timing> => {
  const start = process.hrtime.bigint();
  await work();
  return { units, seconds: Number(process.hrtime.bigint() - start) / 1e9 };
};

/**
 * Runs subject and baseline in turns, so that whatever else the machine does meets both, and returns the subject's
 * rate per second beside the baseline's. The sides change places every round, a first round of each is thrown away,
 * rates are medians, and the ratio is the median of the rounds' own ratios.
 */
export const compare = async (
  options: {
    readonly what: string;
    /** What is counted, plural: "commands". */
    readonly unit: string;
    readonly subject: Contestant;
    readonly baseline: Contestant;
    readonly budget?: Budget;
  },
  rounds: number,
): Promise<Figure> => {
  const { what, unit, subject, baseline, budget } = options;
  await subject.run();
  await baseline.run();
  const pairs: Array<{ readonly subject: number; readonly baseline: number }> = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      const first = rate(await subject.run());
      pairs.push({ subject: first, baseline: rate(await baseline.run()) });
    } else {
      const first = rate(await baseline.run());
      pairs.push({ subject: rate(await subject.run()), baseline: first });
    }
  }
  const rates = pairs.map((pair) => pair.subject);
  return {
    what,
    value: median(rates),
    unit: `${unit}/s`,
    spread: [Math.min(...rates), Math.max(...rates)],
    ...(budget === undefined ? {} : { budget }),
    baseline: {
      name: baseline.name,
      value: median(pairs.map((pair) => pair.baseline)),
      ratio: median(pairs.map((pair) => pair.subject / pair.baseline)),
    },
  };
};

const rate = ({ units, seconds }: Timing): number => units / seconds;

/** The value below which the share `p` (0 to 1) of the values lies; NaN of nothing. */
export const percentile = (values: ReadonlyArray<number>, p: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN;
};

/** The middle value, of two the larger; NaN of nothing. */
export const median = (values: ReadonlyArray<number>): number => percentile(values, 0.5);

/** Whether a figure keeps its budget; undefined where it has none. */
export const keepsBudget = ({ value, budget }: Figure): boolean | undefined => {
  if (budget === undefined) return undefined;
  return "atLeast" in budget ? value >= budget.atLeast : value <= budget.atMost;
};

/**
 * Gives `use` an empty folder on the disk of the checkout (temporary folders are often in memory, where a flush to
 * disk costs nothing) and removes it afterwards.
 */
export const withFolder = async <A>(use: (folder: string) => A | Promise<A>): Promise<A> => {
  const parent = fileURLToPath(new URL("../../.cache/bench/", import.meta.url));
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "run-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
