import { projector } from "@tributary/projections";
import { growth } from "@tributary/store/bench";
import { scaled, type BenchContext } from "../harness.ts";
import { inScratch } from "../runs.ts";

/** What a command costs in a thread of 100,000 events, as a multiple of an empty one's (I12). */
export const growing = async ({ scale, rounds, report }: BenchContext, folder: string): Promise<void> => {
  for (const synchronous of ["normal", "full"] as const) {
    const { empty, long, ratio } = await inScratch(folder, (dir) =>
      growth({
        dir,
        projector,
        synchronous,
        events: scaled(100_000, scale, 100),
        commands: scaled(synchronous === "full" ? 500 : 2_000, scale, 20),
        rounds: Math.max(3, rounds),
      }),
    );
    report({
      what: `a command in a thread of ${scaled(100_000, scale, 100).toLocaleString("en-US")} events, ${synchronous.toUpperCase()}, against an empty one`,
      value: ratio,
      unit: "×",
      budget: { atMost: 1.2 },
      baseline: {
        name: "ms a command, empty",
        value: (empty.seconds * 1_000) / empty.units,
        ratio: long.seconds / long.units / (empty.seconds / empty.units),
      },
    });
  }
};
