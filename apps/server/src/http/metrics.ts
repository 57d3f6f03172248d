/** Counters for a look from outside: what a monitoring script would ask first. */
import { Engine } from "@tributary/engine";
import { ProviderRuntimeIngestion } from "@tributary/ingestion";
import { EventLog, Journal, Writer } from "@tributary/store";
import { Effect } from "effect";
import { storeProblem } from "./problems.ts";

const since = new Date().toISOString();

export const readMetrics = Effect.gen(function* () {
  const log = yield* EventLog;
  const writer = yield* Writer;
  const journal = yield* Journal;
  const engine = yield* Engine;
  const { waitingBytes } = yield* ProviderRuntimeIngestion;
  const head = yield* Effect.mapError(log.head, storeProblem);
  const sessions = yield* engine.sessions;
  const { rss, heapUsed, external } = process.memoryUsage();
  return {
    since,
    values: {
      "events.head": head,
      "threads.open": writer.openThreads().length,
      "sessions.live": sessions.length,
      "ingestion.waiting_bytes": waitingBytes(),
      "journal.bytes": journal.bytes(),
      "process.uptime_seconds": Math.round(process.uptime()),
      "process.memory_rss_bytes": rss,
      "process.memory_heap_bytes": heapUsed,
      "process.memory_external_bytes": external,
    },
  };
});
