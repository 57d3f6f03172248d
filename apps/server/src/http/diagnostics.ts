/** What did not go as it should in a thread: unknown, undecodable, refused, stalled. */
import { ProviderRuntimeIngestion } from "@tributary/ingestion";
import { Refusals } from "@tributary/store";
import { Effect } from "effect";
import { storeProblem } from "./problems.ts";

const recentRefusals = 50;

export const diagnosticsOf = Effect.fnUntraced(function* (threadId: string) {
  const ingestion = yield* ProviderRuntimeIngestion;
  const { unknown, refused, stalled } = ingestion.diagnostics(threadId);
  const refusals = yield* Refusals;
  const recent = yield* Effect.mapError(refusals.newest(threadId, recentRefusals), storeProblem);
  return {
    unknown,
    undecodable: refused.undecodable ?? 0,
    refused,
    recent: recent.map(({ generation, seq, type, reason, events }) => ({
      generation,
      seq,
      type,
      reason,
      ...(events === undefined ? {} : { events }),
    })),
    stalled:
      stalled === undefined
        ? []
        : [`record ${stalled.generation}.${stalled.seq} after ${stalled.attempts} attempts: ${stalled.reason}`],
  };
});
