import { projector } from "@tributary/projections";
import { ingestDeltas, memoryOfDeltas, quietBesideFlood, rawDeltas } from "@tributary/ingestion/bench";
import { compare, percentile, scaled, withFolder, type BenchContext } from "./harness.ts";
import { replySize } from "./ingestion/reply-size.ts";
import { profiled } from "./profile.ts";
import { inScratch, runFolders } from "./runs.ts";

/** Deltas in a transaction of the baseline: what a round of the service takes from all threads at most. */
const group = 2_048;

/** What runtimes say, until it is committed. FULL throughout, with projections. */
export const ingestion = (context: BenchContext): Promise<void> =>
  withFolder(async (folder) => {
    await deltas(context, folder);
    await memory(context, folder);
    await beside(context, folder);
    await reply(context, folder);
    if (context.profile) await where(context, folder);
  });

const synchronous = "full";
const named = (threads: number): string => (threads === 1 ? "1 thread" : `${threads} threads`);

const deltas = async ({ scale, rounds, report }: BenchContext, folder: string): Promise<void> => {
  const amount = scaled(200_000, scale, 2_000);
  for (const threads of [1, 20]) {
    const folders = runFolders(folder, `deltas-${threads}`);
    report(
      await compare(
        {
          what: `deltas journalled, interpreted, committed, ${named(threads)}`,
          unit: "deltas",
          subject: {
            name: "ingestion",
            run: () => ingestDeltas({ dir: folders.next(), projector, synchronous, threads, deltas: amount }),
          },
          baseline: {
            name: "raw node:sqlite, the same rows",
            run: () =>
              inScratch(folder, (dir) =>
                rawDeltas({ from: folders.latest(), dir, synchronous, deltas: amount, group }),
              ),
          },
          budget: { atLeast: 100_000 },
        },
        rounds,
      ),
    );
  }
};

const memory = async ({ scale, report }: BenchContext, folder: string): Promise<void> => {
  const amount = scaled(1_000_000, scale, 40_000);
  for (const threads of [1, 20]) {
    const bytes = await inScratch(folder, (dir) =>
      memoryOfDeltas({ dir, projector, synchronous, threads, deltas: amount }),
    );
    report({
      what: `memory above idle while ${amount.toLocaleString("en-US")} deltas pass, ${named(threads)}`,
      value: bytes / 1e6,
      unit: "MB",
      budget: { atMost: 120 },
    });
  }
};

const beside = async ({ scale, report }: BenchContext, folder: string): Promise<void> => {
  const begun = performance.now();
  const { latencies, flood } = await inScratch(folder, (dir) =>
    quietBesideFlood({ dir, projector, synchronous, events: scaled(1_000, scale, 100) }),
  );
  const seconds = (performance.now() - begun) / 1_000;
  report(
    { what: "quiet thread's event beside a flooding one, p50", value: percentile(latencies, 0.5), unit: "ms" },
    {
      what: "quiet thread's event beside a flooding one, p99",
      value: percentile(latencies, 0.99),
      unit: "ms",
      budget: { atMost: 250 },
    },
    { what: "deltas of the flood meanwhile", value: flood / seconds, unit: "deltas/s" },
  );
};

const reply = async ({ scale, report }: BenchContext, folder: string): Promise<void> => {
  const characters = scaled(10_000, scale, 500);
  const size = await inScratch(folder, (dir) => replySize({ dir, projector, synchronous, characters }));
  const what = `a reply of ${characters.toLocaleString("en-US")} characters over ${Math.round(size.seconds)} s`;
  report(
    {
      what: `${what}: message events`,
      value: size.messageEvents,
      unit: "events",
      ...(characters === 10_000 ? { budget: { atMost: 40 } } : {}),
      baseline: { name: "deltas", value: size.deltas, ratio: size.messageEvents / size.deltas },
    },
    { what: `${what}: their payloads in the log`, value: size.payloadBytes, unit: "bytes" },
    {
      what: `${what}: its records in the journal`,
      value: size.journalBytes,
      unit: "bytes",
      baseline: {
        name: "bytes of frames and events as JSON",
        value: size.recordBytes,
        ratio: size.journalBytes / size.recordBytes,
      },
    },
  );
};

const where = async ({ scale }: BenchContext, folder: string): Promise<void> => {
  for (const threads of [1, 20]) {
    const run = () =>
      inScratch(folder, (dir) =>
        ingestDeltas({ dir, projector, synchronous, threads, deltas: scaled(500_000, scale, 5_000) }),
      );
    process.stdout.write(`Where the time of ${named(threads)} goes:\n${await profiled(run)}\n`);
  }
};
