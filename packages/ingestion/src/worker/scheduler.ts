/**
 * The worker (4.12): serial in each thread, fair across threads.
 *
 *   submit ─► lane.queue ─►─┐                      ┌─► quiet: buffers only, at once
 *                           │ a round:             │
 *   lanes with work, in ────┼─ so much of each ─► journal.append ─► visit ─┤
 *   a ring                  │                    (one for all)      │
 *   timers, drains, ────────┘                                      └─► a step of the writer, in a fiber of its own
 *   commits of others
 *
 * P1 A lane is in the ring or busy, never both: its records are dealt with one batch after the other.
 * P2 A visit takes a bounded part of a lane; then it is the next lane's turn (I15). A lane whose step is slow, or fails
 *    and is tried again, holds up nobody else.
 * P3 Nothing is interpreted before it is in the journal, durable.
 * P4 Who waits is told when everything taken before is committed, not when a queue looks empty; a visit that fails
 *    still ends, so nobody waits for ever on a record that cannot be dealt with.
 */
import type { Journal, JournalEntry, Signals, StoreError, Writer } from "@tributary/store";
import { Clock, Effect, FiberSet, Latch } from "effect";
import type { Scope } from "effect";
import type { Resume } from "../interpret/batch.ts";
import type { Budget } from "./budget.ts";
import { nextDeadline } from "../interpret/deadlines.ts";
import { appendAll } from "./journalling.ts";
import { hasWork, makeLane, strongest } from "./lane.ts";
import type { Flush, Lane, Waiter } from "./lane.ts";
import { liveKey } from "./live.ts";
import type { Accepted } from "./intake.ts";
import { storedOf, takeRound } from "./shares.ts";
import type { Share } from "./shares.ts";
import { isSettledElsewhere } from "../interpret/settlement.ts";
import { steadyTime } from "../steady.ts";
import { quietly, visit, wantsStep } from "./visit.ts";
import type { VisitTools } from "./visit.ts";

export interface SchedulerTools extends VisitTools {
  readonly journal: Journal["Service"];
  readonly writer: Writer["Service"];
  readonly signals: Signals["Service"];
  readonly budget: Budget;
}

export interface Scheduler {
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly lane: (threadId: string) => Lane;
  /** Puts a record for which there is room into its lane. */
  readonly push: (lane: Lane, record: Accepted) => void;
  /** Resolves when everything that was taken of this thread is dealt with, and flushed so. */
  readonly settled: (lane: Lane, flush: Flush) => Effect.Effect<void>;
}

export const makeScheduler = (tools: SchedulerTools): Effect.Effect<Scheduler, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { writer, journal, signals, budget } = tools;
    const clock = yield* Clock.Clock;
    const fibers = yield* FiberSet.make();
    const fork = yield* FiberSet.runtime(fibers)();
    const lanes = new Map<string, Lane>();
    const ring: Array<Lane> = [];
    const woken = Latch.makeUnsafe(false);

    const enqueue = (lane: Lane): void => {
      if (lane.isQueued || lane.isBusy) return;
      lane.isQueued = true;
      ring.push(lane);
      woken.openUnsafe();
    };

    const now = (): number => steadyTime(clock).now;

    const isStreaming = ({ threadId }: Lane): boolean => writer.state(threadId)?.textDelivery !== "buffered";

    /** One timer a lane, for the next of what it holds. */
    const setTimer = (lane: Lane): void => {
      const at = nextDeadline(lane.memory, isStreaming(lane));
      // One that goes off too early looks again.
      if (at >= lane.timerAt) return;
      lane.timerAt = at;
      lane.timer += 1;
      const { timer } = lane;
      const goOff = Effect.sync(() => {
        if (lane.timer !== timer) return;
        lane.timerAt = Infinity;
        if (nextDeadline(lane.memory, isStreaming(lane)) > now()) return setTimer(lane);
        lane.isDue = true;
        enqueue(lane);
      });
      // At least a millisecond: a timer that is set again by its own end must not do so without a pause.
      fork(Effect.andThen(Effect.sleep(Math.max(1, Math.ceil(at - now()))), goOff));
    };

    /** What nobody talks to any more, and holds nothing, is forgotten (I11). */
    const forget = (lane: Lane): void => {
      const session = writer.state(lane.threadId)?.session;
      const isOver = session === undefined || (session.state !== "opening" && session.state !== "ready");
      const { accounts, open } = lane.memory;
      if (isOver && accounts.held === 0 && open.size === 0 && !hasWork(lane)) lanes.delete(lane.threadId);
    };

    /** Whether somebody else ended what is open here: a client that released the session, the engine. */
    const isSettled = (lane: Lane): boolean => {
      const state = writer.state(lane.threadId);
      return isSettledElsewhere({ memory: lane.memory, state: () => state });
    };

    /** Whom this visit serves: who waits for no more than what is dealt with after it. Who comes later waits on. */
    const servedBy = ({ waiters, done }: Lane, count: number): ReadonlyArray<Waiter> =>
      [...waiters].filter(({ target }) => target <= done + count);

    /** Who waits goes on inside these calls, perhaps at once: they come last. */
    const finish = (lane: Lane, { count, bytes }: Share, served: ReadonlyArray<Waiter>): void => {
      lane.isBusy = false;
      lane.isTouched ||= lane.isLoaded && isSettled(lane);
      lane.done += count;
      const told = served.filter((waiter) => lane.waiters.delete(waiter));
      setTimer(lane);
      if (hasWork(lane)) enqueue(lane);
      else forget(lane);
      signals.touch([liveKey(lane.threadId)]);
      if (bytes > 0) budget.release(lane.threadId, bytes);
      for (const waiter of told) waiter.done();
    };

    /** What a visit must flush: for those who wait, for an interrupt, by age. */
    const flushOf = (lane: Lane, served: ReadonlyArray<Waiter>): Flush => {
      const state = writer.state(lane.threadId);
      const isInterrupted = state?.interrupt !== undefined && state.interrupt !== lane.interrupt;
      lane.interrupt = state?.interrupt;
      const own: Flush = lane.isDue || lane.isTouched ? "due" : "none";
      lane.isDue = false;
      lane.isTouched = false;
      return served.reduce<Flush>((flush, waiter) => strongest(flush, waiter.flush), isInterrupted ? "open" : own);
    };

    const tryQuietly = (lane: Lane, entries: ReadonlyArray<JournalEntry>): Resume | "done" | "failed" => {
      try {
        return quietly(tools, lane, entries, steadyTime(clock)) ?? "done";
      } catch {
        // The visit finds it again, with the record at fault.
        return "failed";
      }
    };

    const startVisit = (share: Share): void => {
      const { lane, entries, count } = share;
      const served = servedBy(lane, count);
      const flush = flushOf(lane, served);
      const quiet = lane.isLoaded ? tryQuietly(lane, entries) : "failed";
      if (quiet === "done" && !wantsStep(lane, flush)) return finish(lane, share, served);
      if (quiet === "failed") lane.isLoaded = false;
      const from = typeof quiet === "string" ? undefined : quiet;
      const visited = visit(tools, lane, entries, from, flush);
      fork(
        Effect.ensuring(
          visited,
          Effect.sync(() => finish(lane, share, served)),
        ),
      );
    };

    /** Whatever the journal does, the threads go on: records that it cannot even keep empty were never accepted. */
    const append = (entries: ReadonlyArray<JournalEntry>): Effect.Effect<ReadonlyArray<JournalEntry>, StoreError> =>
      entries.length === 0
        ? Effect.succeed(entries)
        : appendAll(journal, entries).pipe(
            Effect.catchIf(
              ({ reason }) => reason !== "closed",
              ({ message }) => Effect.as(Effect.logError(`${entries.length} records are lost: ${message}`), []),
            ),
          );

    const round = Effect.gen(function* () {
      yield* woken.await;
      const shares = takeRound(ring, journal);
      if (ring.length === 0) woken.closeUnsafe();
      const stored = yield* append(shares.flatMap((share) => share.entries));
      for (const share of storedOf(shares, stored)) startVisit(share);
      yield* Effect.yieldNow;
    });

    /** The store is gone: nobody waits for it. */
    let isStopped = false;
    const stop = Effect.sync(() => {
      isStopped = true;
      for (const lane of lanes.values()) for (const waiter of lane.waiters) waiter.done();
      budget.dismissAll();
    });

    const rounds = Effect.forever(round).pipe(
      Effect.ignore,
      // Nothing here should throw. If something does, everybody must hear of it, and nobody wait for ever.
      Effect.tapDefect((defect) => Effect.logFatal("Ingestion has stopped. Start Tributary again.", defect)),
      Effect.ensuring(stop),
    );
    yield* Effect.forkScoped(rounds);

    yield* signals.onCommit((threadIds) => {
      for (const threadId of threadIds) {
        const lane = lanes.get(threadId);
        if (lane === undefined || !lane.isLoaded) continue;
        const state = writer.state(threadId);
        // Only what concerns what is held here: an interrupt, an end that somebody else brought about, the delivery.
        lane.isTouched ||= state?.interrupt !== lane.interrupt || (!lane.isBusy && isSettled(lane));
        if (lane.isTouched) enqueue(lane);
        else if (!lane.isBusy) setTimer(lane);
      }
    });

    return {
      lanes,
      lane: (threadId) => {
        const known = lanes.get(threadId);
        if (known !== undefined) return known;
        const lane = makeLane(threadId);
        lanes.set(threadId, lane);
        return lane;
      },
      push: (lane, record) => {
        lane.queue.push(record);
        lane.accepted += 1;
        enqueue(lane);
      },
      settled: (lane, flush) =>
        Effect.callback<void>((resume) => {
          if (isStopped) return resume(Effect.void);
          const waiter: Waiter = { target: lane.accepted, flush, done: () => resume(Effect.void) };
          lane.waiters.add(waiter);
          enqueue(lane);
          return Effect.sync(() => void lane.waiters.delete(waiter));
        }),
    };
  });
