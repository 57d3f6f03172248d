/**
 * `ProviderRuntimeIngestion` (design section 4): what runtimes say becomes durable, then is interpreted exactly once. See
 * the README of this package for the way of a record.
 */
import type { LiveText } from "@tributary/contracts/api";
import { Journal, Signals, Writer } from "@tributary/store";
import { Clock, Context, Effect, Layer } from "effect";
import type { Scope } from "effect";
import { emptyAccounts } from "./accounts.ts";
import { Budget } from "./worker/budget.ts";
import { diagnosticsOf } from "./worker/diagnostics.ts";
import type { Diagnostics } from "./worker/diagnostics.ts";
import { intake } from "./worker/intake.ts";
import type { IncomingRecord } from "./worker/intake.ts";
import type { ReasoningDetail } from "./interpret/interpretation.ts";
import { neededAfter, savedAccounts } from "./checkpoint/restore.ts";
import type { Flush } from "./worker/lane.ts";
import { shutdownMs, threadBytes, totalBytes } from "./limits.ts";
import { liveKey, liveTexts } from "./worker/live.ts";
import { makeScheduler } from "./worker/scheduler.ts";
import { maskable, Secrets } from "./worker/secrets.ts";

export interface IngestionOptions {
  /** How much of reasoning enters the log, default `full`: all of it, summaries kept apart. */
  readonly reasoning?: ReasoningDetail;
  /** Bytes that wait before `submit` suspends, of one thread and of all: default 8 MiB and 64 MiB. */
  readonly threadBytes?: number;
  readonly totalBytes?: number;
  /**
   * How long the end of the scope waits for what is not drained, in milliseconds: default 5 s. 0 drains nothing, as a
   * crash would: the next service reads what was held from the journal.
   */
  readonly shutdownMs?: number;
}

export class ProviderRuntimeIngestion extends Context.Service<
  ProviderRuntimeIngestion,
  {
    /**
     * Takes one record of a thread's session, in the order of the wire. Suspends while there is no room (4.12), so that
     * the reader, the pipe and the agent wait. Never fails: what cannot be read is kept and counted, what may not act is
     * refused and recorded. After `shutdown` nothing is taken any more.
     */
    readonly submit: (threadId: string, generation: number, record: IncomingRecord) => Effect.Effect<void>;
    /** The same for what arrived together; cheaper. */
    readonly submitAll: (
      threadId: string,
      generation: number,
      records: ReadonlyArray<IncomingRecord>,
    ) => Effect.Effect<void>;
    /**
     * Resolves when all that was taken before the call is journalled, interpreted, committed and visible in queries:
     * streamed text is flushed, buffered text stays held. Of one thread, or of all that are at work.
     */
    readonly drain: (threadId?: string) => Effect.Effect<void>;
    /** Like `drain`, but nothing is flushed that would not be flushed anyway. */
    readonly interpreted: (threadId?: string) => Effect.Effect<void>;
    /**
     * Like `drain`, with everything that is held, and every open segment ended: before somebody else than the runtime
     * settles the turn or the session.
     */
    readonly flush: (threadId: string) => Effect.Effect<void>;
    /** At start: interprets the journal past the checkpoint, and flushes (reconciliation, section 7). */
    readonly replay: (threadId: string) => Effect.Effect<void>;
    /**
     * Text that the log does not have yet, of durable records only: each open row from where the log ends. Synchronous,
     * of one moment with what is committed.
     */
    readonly live: (threadId: string) => ReadonlyArray<LiveText>;
    /** The key of `Signals` that is touched when a thread's live text changes. */
    readonly liveKey: (threadId: string) => string;
    readonly diagnostics: (threadId: string) => Diagnostics;
    /** For the pruning of the journal: up to which record of a session nothing is needed any more. */
    readonly neededAfter: (threadId: string, generation: number) => number;
    /** Bytes of records that wait. */
    readonly waitingBytes: () => number;
    /** Threads that are held in memory. */
    readonly lanes: () => number;
    /** Takes no more, drains with everything that is held, within the deadline. The end of the scope does it too. */
    readonly shutdown: Effect.Effect<void>;
  }
>()("tributary/ingestion/ProviderRuntimeIngestion") {
  static readonly layer = (
    options: IngestionOptions = {},
  ): Layer.Layer<ProviderRuntimeIngestion, never, Writer | Journal | Signals> =>
    Layer.effect(ProviderRuntimeIngestion, make(options));
}

const make = (
  options: IngestionOptions,
): Effect.Effect<ProviderRuntimeIngestion["Service"], never, Writer | Journal | Signals | Scope.Scope> =>
  Effect.gen(function* () {
    const writer = yield* Writer;
    const journal = yield* Journal;
    const signals = yield* Signals;
    const secrets = yield* Secrets;
    const clock = yield* Clock.Clock;
    const budget = new Budget({
      threadBytes: options.threadBytes ?? threadBytes,
      totalBytes: options.totalBytes ?? totalBytes,
    });
    const reasoning = options.reasoning ?? "full";
    const scheduler = yield* makeScheduler({ writer, journal, signals, budget, reasoning, secretsOf: secrets.of });
    let isClosed = false;

    /** Takes a record; undefined when there was room, else the way to wait for it. */
    const take = (threadId: string, generation: number, record: IncomingRecord): Effect.Effect<void> | undefined => {
      if (isClosed) return undefined;
      const given = secrets.of(threadId);
      const known = given.length === 0 ? given : maskable(given);
      const accepted = intake(record, { threadId, generation, secrets: known, at: clock.currentTimeMillisUnsafe() });
      const push = (): void => scheduler.push(scheduler.lane(threadId), accepted);
      if (budget.tryTake(threadId, accepted.bytes)) {
        push();
        return undefined;
      }
      return Effect.callback<void>((resume) => {
        const stop = budget.wait(threadId, accepted.bytes, () => {
          if (!isClosed) push();
          resume(Effect.void);
        });
        return Effect.sync(stop);
      });
    };

    const submitAll = (
      threadId: string,
      generation: number,
      records: ReadonlyArray<IncomingRecord>,
      from = 0,
    ): Effect.Effect<void> =>
      Effect.suspend(() => {
        for (let index = from; index < records.length; index += 1) {
          const record = records[index];
          if (record === undefined) continue;
          const wait = take(threadId, generation, record);
          if (wait !== undefined)
            return Effect.flatMap(wait, () => submitAll(threadId, generation, records, index + 1));
        }
        return Effect.void;
      });

    const settle = (flush: Flush, threadId?: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (threadId !== undefined) return scheduler.settled(scheduler.lane(threadId), flush);
        const all = [...scheduler.lanes.values()].map((lane) => scheduler.settled(lane, flush));
        return Effect.all(all, { concurrency: "unbounded", discard: true });
      });

    const shutdown = Effect.suspend(() => {
      isClosed = true;
      budget.dismissAll();
      const within = options.shutdownMs ?? shutdownMs;
      return within === 0 ? Effect.void : Effect.asVoid(Effect.timeoutOption(settle("open"), within));
    });
    yield* Effect.addFinalizer(() => shutdown);

    return ProviderRuntimeIngestion.of({
      submit: (threadId, generation, record) => Effect.suspend(() => take(threadId, generation, record) ?? Effect.void),
      submitAll: (threadId, generation, records) => submitAll(threadId, generation, records),
      drain: (threadId) => settle("ready", threadId),
      interpreted: (threadId) => settle("none", threadId),
      flush: (threadId) => settle("settled", threadId),
      replay: (threadId) => settle("settled", threadId),
      live: (threadId) => {
        const lane = scheduler.lanes.get(threadId);
        return lane === undefined ? [] : liveTexts(lane);
      },
      liveKey,
      diagnostics: (threadId) => {
        const lane = scheduler.lanes.get(threadId);
        if (lane?.isLoaded === true) return diagnosticsOf(lane.memory.accounts, lane);
        const checkpoint = writer.checkpoint(threadId);
        const accounts = checkpoint === undefined ? emptyAccounts() : savedAccounts(checkpoint.interpretive);
        return diagnosticsOf(accounts, lane);
      },
      neededAfter: (threadId, generation) => {
        const checkpoint = writer.checkpoint(threadId);
        return checkpoint === undefined ? 0 : neededAfter(checkpoint, generation);
      },
      waitingBytes: () => budget.bytes,
      lanes: () => scheduler.lanes.size,
      shutdown,
    });
  });
