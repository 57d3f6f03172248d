/**
 * Lets go of old journal records by age and by size, at start and every hour. Never past a checkpoint, nor past what held
 * text is still read from: `ProviderRuntimeIngestion.neededAfter` says up to where. What points at a record that is gone
 * reads `expired`; recorded refusals go with their records, and their counts stay.
 */
import { Journal, Refusals } from "@tributary/store";
import type { Pruned, StoreError } from "@tributary/store";
import { Clock, Context, Effect, Layer, Schedule } from "effect";
import type { Scope } from "effect";
import { journalBytes, journalDays } from "./limits.ts";
import { ProviderRuntimeIngestion } from "./ProviderRuntimeIngestion.ts";

export interface JournalLimits {
  /** Records older than this may go: 30 days by default, 0 keeps them whatever their age. */
  readonly maxAgeDays?: number;
  /** The oldest records may go while the journal takes more bytes than this: 4 GiB by default, 0 sets no limit. */
  readonly maxBytes?: number;
}

const dayMs = 24 * 60 * 60 * 1_000;
const nothing: Pruned = { records: 0, bytes: 0 };

export class JournalSweep extends Context.Service<
  JournalSweep,
  {
    /** Sweeps now. */
    readonly sweep: Effect.Effect<Pruned, StoreError>;
  }
>()("tributary/ingestion/JournalSweep") {
  /** `limits` is asked before each sweep, so that a changed setting counts from the next one on. */
  static readonly layer = (
    limits: () => JournalLimits = () => ({}),
  ): Layer.Layer<JournalSweep, never, Journal | Refusals | ProviderRuntimeIngestion> =>
    Layer.effect(JournalSweep, make(limits));
}

const make = (
  limits: () => JournalLimits,
): Effect.Effect<JournalSweep["Service"], never, Journal | Refusals | ProviderRuntimeIngestion | Scope.Scope> =>
  Effect.gen(function* () {
    const journal = yield* Journal;
    const refusals = yield* Refusals;
    const { neededAfter } = yield* ProviderRuntimeIngestion;

    const sweep = Effect.gen(function* () {
      const { maxAgeDays = journalDays, maxBytes = journalBytes } = limits();
      if (maxAgeDays === 0 && maxBytes === 0) return nothing;
      const now = yield* Clock.currentTimeMillis;
      const pruned = yield* journal.prune({
        keepAfter: neededAfter,
        ...(maxAgeDays === 0 ? {} : { olderThan: now - maxAgeDays * dayMs }),
        ...(maxBytes === 0 ? {} : { maxBytes }),
      });
      // Also after what a person pruned in between.
      yield* refusals.prune(({ threadId, generation, seq }) => seq <= journal.prunedTo(threadId, generation));
      return pruned;
    });

    yield* sweep.pipe(
      Effect.tap(({ records, bytes }) =>
        records === 0 ? Effect.void : Effect.logDebug(`The journal let go of ${records} records, ${bytes} bytes.`),
      ),
      Effect.catchCause((cause) => Effect.logWarning("Old journal records could not be removed", cause)),
      Effect.repeat(Schedule.spaced("1 hour")),
      Effect.forkScoped,
    );
    return JournalSweep.of({ sweep });
  });
