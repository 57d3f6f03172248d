/** What did not go as it should in a thread: unknown, undecodable, refused, stalled. */
import { ProviderRuntimeIngestion } from "@tributary/ingestion";
import { Refusals } from "@tributary/store";
import type { StoredRefusal } from "@tributary/store";
import { Effect } from "effect";
import { storeProblem } from "./problems.ts";

const recentRefusals = 50;

/** The newest refusals: pages go forward, so it is the end of the last ones. */
const newest = Effect.fnUntraced(function* (threadId: string) {
  const refusals = yield* Refusals;
  let kept: ReadonlyArray<StoredRefusal> = [];
  for (let after = 0; ;) {
    const page = yield* Effect.mapError(refusals.page({ after, threadId }), storeProblem);
    kept = [...kept, ...page].slice(-recentRefusals);
    const last = page.at(-1);
    if (last === undefined) return kept;
    after = last.id;
  }
});

export const diagnosticsOf = Effect.fnUntraced(function* (threadId: string) {
  const ingestion = yield* ProviderRuntimeIngestion;
  const { unknown, refused, stalled } = ingestion.diagnostics(threadId);
  const recent = yield* newest(threadId);
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
