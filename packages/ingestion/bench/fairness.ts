/** How long a quiet thread's event takes beside a thread that floods (I15). */
import { Signals } from "@tributary/store";
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
      const signals = yield* Signals;
      yield* openThread("flood");
      yield* openThread("quiet");
      let flood = 0;
      const flooding = yield* Effect.forkChild(
        Effect.forever(
          Effect.suspend(() => {
            flood += 1;
            return ingestion.submit("flood", 1, deltaRecord(`item-${Math.floor(flood / 1_000)}`, "flood flood flood "));
          }),
        ),
      );
      const latencies: Array<number> = [];
      const signal = yield* signals.subscribe(["quiet"]);
      for (let n = 0; n < load.events; n += 1) {
        const start = performance.now();
        yield* ingestion.submit("quiet", 1, notice(n));
        yield* signal.wait;
        latencies.push(performance.now() - start);
        yield* Effect.sleep(5);
      }
      yield* Fiber.interrupt(flooding);
      return { latencies, flood };
    }).pipe(Effect.scoped),
  );
