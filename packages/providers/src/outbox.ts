/**
 * Records on their way to ingestion, in the order of the wire.
 *
 * What crosses the pipe is noted synchronously, where the order is certain; handing it over may have to wait, and does so
 * in a fiber of its own: a caller that is interrupted loses no record. The reader of the pipe waits for room, which is how
 * pressure reaches the agent.
 */
import type { RuntimeRecord } from "@tributary/contracts";
import { Deferred, Effect, Latch, type Scope } from "effect";

export interface Outbox {
  /** Takes note of records; after the end they are dropped. Never waits. */
  readonly put: (records: ReadonlyArray<RuntimeRecord>) => void;
  /** Resolves when all that was put before the call has been handed over. */
  readonly drained: Effect.Effect<void>;
  /** Resolves when no more than a few records wait: at once, mostly. */
  readonly room: Effect.Effect<void>;
  /** The last record of the session; resolves when it has been handed over. Only the first call counts. */
  readonly end: (last: RuntimeRecord) => Effect.Effect<void>;
}

/** Records that may wait before the reader of the pipe does. */
const ROOM = 256;

/** Hands over until its scope ends. */
export const makeOutbox = Effect.fnUntraced(function* (
  emit: (record: RuntimeRecord) => Effect.Effect<void>,
): Effect.fn.Return<Outbox, never, Scope.Scope> {
  const news = Latch.makeUnsafe(false);
  let waiting: Array<RuntimeRecord> = [];
  let put = 0;
  let emitted = 0;
  let isOver = false;
  let callers: Array<{ readonly until: number; readonly done: Deferred.Deferred<void> }> = [];

  const take = (records: ReadonlyArray<RuntimeRecord>): void => {
    if (isOver || records.length === 0) return;
    waiting.push(...records);
    put += records.length;
    news.openUnsafe();
  };

  const note = (): void => {
    emitted += 1;
    if (callers.length === 0) return;
    const ready = callers.filter(({ until }) => until <= emitted);
    if (ready.length === 0) return;
    callers = callers.filter(({ until }) => until > emitted);
    for (const { done } of ready) Deferred.doneUnsafe(done, Effect.void);
  };

  const until = (count: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (emitted >= count) return Effect.void;
      const done = Deferred.makeUnsafe<void>();
      callers.push({ until: count, done });
      return Deferred.await(done);
    });

  yield* Effect.forkScoped(
    Effect.gen(function* () {
      for (;;) {
        yield* news.await;
        // Whoever put a record is still at it: what a record causes must find it done.
        yield* Effect.yieldNow;
        const batch = waiting;
        waiting = [];
        news.closeUnsafe();
        for (const record of batch) {
          yield* emit(record);
          note();
        }
      }
    }),
  );

  return {
    put: take,
    drained: Effect.suspend(() => until(put)),
    room: Effect.suspend(() => (put - emitted <= ROOM ? Effect.void : until(put - ROOM))),
    end: (last) =>
      Effect.suspend(() => {
        take([last]);
        isOver = true;
        return until(put);
      }),
  };
});
