/** How long a quiet thread's event takes beside a thread that floods (I15). */
import { Effect, Fiber } from "effect";
import { ProviderRuntimeIngestion } from "../src/index.ts";
import { deltaRecord, openThread, runIn, type IngestionLoad } from "./load.ts";

export interface QuietTiming {
  /** Milliseconds from submit to commit of each of the quiet thread's events. */
  readonly latencies: ReadonlyArray<number>;
  /** Deltas of the flood that were taken meanwhile. */
  readonly flood: number;
}

const notice = (n: number) => ({
  kind: "frame" as const,
  native: { kind: "notice", frame: { n } },
  events: [{ type: "notice", payload: { level: "info", code: "beat", message: `beat ${n}` } }],
});

export const quietBesideFlood = (load: IngestionLoad & { readonly events: number }): Promise<QuietTiming> =>
  runIn(
    load,
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread("flood");
      yield* openThread("quiet");
      let flood = 0;
      // As a reader does it: what a chunk of the pipe holds, then the next chunk.
      const chunk = Effect.suspend(() => {
        const item = `item-${Math.floor(flood / 1_000)}`;
        flood += 200;
        return ingestion.submitAll(
          "flood",
          1,
          Array.from({ length: 200 }, () => deltaRecord(item, "flood flood flood ")),
        );
      });
      const flooding = yield* Effect.forkChild(Effect.forever(chunk));
      const latencies: Array<number> = [];
      for (let n = 0; n < load.events; n += 1) {
        const start = performance.now();
        yield* ingestion.submit("quiet", 1, notice(n));
        yield* ingestion.interpreted("quiet");
        latencies.push(performance.now() - start);
        yield* Effect.sleep(5);
      }
      yield* Fiber.interrupt(flooding);
      return { latencies, flood };
    }),
  );
