/** Canonical deltas a second: journalled, interpreted, committed, with projections; and the memory they take. */
import { Effect } from "effect";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ProviderRuntimeIngestion } from "../src/index.ts";
import { deltaRecord, endRecord, openThread, runIn, type IngestionLoad, type Timing } from "./load.ts";

export interface DeltaLoad extends IngestionLoad {
  readonly threads: number;
  /** In all. */
  readonly deltas: number;
}

const pieces = ["The answer ", "comes in ", "small pieces, ", "as a model ", "writes them. "];
/** An answer of about 12,000 characters ends, the next begins. */
const deltasAnItem = 1_000;

/** Feeds all threads at once; `seen` is told of every thousandth delta. Ends when everything is committed. */
const feed = (load: DeltaLoad, seen: () => void) =>
  Effect.gen(function* () {
    const ingestion = yield* ProviderRuntimeIngestion;
    const each = Math.ceil(load.deltas / load.threads);
    const one = (threadId: string) =>
      Effect.gen(function* () {
        for (let n = 0; n < each; n += 1) {
          const item = `item-${Math.floor(n / deltasAnItem)}`;
          yield* ingestion.submit(threadId, 1, deltaRecord(item, pieces[n % pieces.length] ?? ""));
          if (n % deltasAnItem !== deltasAnItem - 1) continue;
          yield* ingestion.submit(threadId, 1, endRecord(item));
          seen();
        }
      });
    yield* Effect.forEach(names(load), one, { concurrency: "unbounded", discard: true });
    yield* ingestion.drain();
  });

const names = ({ threads }: DeltaLoad): ReadonlyArray<string> =>
  Array.from({ length: threads }, (_, index) => `thread-${index}`);

/** So many deltas in each of so many threads, all at once. */
export const ingestDeltas = (load: DeltaLoad): Promise<Timing> =>
  runIn(
    load,
    Effect.gen(function* () {
      for (const thread of names(load)) yield* openThread(thread);
      const start = performance.now();
      yield* feed(load, () => undefined);
      return { units: load.deltas, seconds: (performance.now() - start) / 1_000 };
    }),
  );

/** Memory that is in use: what the collector leaves. */
const collector = (): (() => number) => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  return () => {
    collect();
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    return heapUsed + external + arrayBuffers;
  };
};

/** The most memory above idle, in bytes, while the deltas pass. Looked at every 20,000 deltas. */
export const memoryOfDeltas = (load: DeltaLoad): Promise<number> =>
  runIn(
    load,
    Effect.gen(function* () {
      for (const thread of names(load)) yield* openThread(thread);
      const used = collector();
      const idle = used();
      let most = 0;
      let calls = 0;
      yield* feed(load, () => {
        calls += 1;
        if (calls % 20 === 0) most = Math.max(most, used() - idle);
      });
      return most;
    }),
  );
