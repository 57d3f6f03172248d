import { Deferred, Duration, Effect } from "effect";
import type { Clock } from "effect";

interface Sleeper {
  readonly due: number;
  readonly order: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is advanced, and then stops at every instant at which somebody wakes. */
export interface VirtualClock {
  readonly clock: Clock.Clock;
  /**
   * Moves time forward by `ms`. At each due instant the sleepers wake in order and `settle` runs before time goes on, so
   * a deadline that is set by an earlier one is met at its own instant.
   */
  readonly advance: (ms: number, settle: Effect.Effect<void>) => Effect.Effect<void>;
  /** Moves time forward to the next instant at which somebody wakes; false: nobody sleeps. */
  readonly skip: (settle: Effect.Effect<void>) => Effect.Effect<boolean>;
}

export const makeVirtualClock = (start: number): VirtualClock => {
  let now = start;
  let order = 0;
  const sleepers = new Set<Sleeper>();
  const nanos = () => BigInt(Math.round(now * 1e6));

  const sleep = (duration: Duration.Duration): Effect.Effect<void> =>
    Effect.callback<void>((resume) => {
      const ms = Duration.toMillis(duration);
      if (ms <= 0) return resume(Effect.void);
      const sleeper: Sleeper = { due: now + ms, order: order++, wake: () => resume(Effect.void) };
      sleepers.add(sleeper);
      return Effect.sync(() => sleepers.delete(sleeper));
    });

  const next = (until: number): Sleeper | undefined => {
    let first: Sleeper | undefined;
    for (const sleeper of sleepers) {
      if (sleeper.due > until) continue;
      if (first === undefined || sleeper.due < first.due || (sleeper.due === first.due && sleeper.order < first.order))
        first = sleeper;
    }
    return first;
  };

  const wake = Effect.fnUntraced(function* (sleeper: Sleeper, settle: Effect.Effect<void>) {
    now = Math.max(now, sleeper.due);
    sleepers.delete(sleeper);
    sleeper.wake();
    yield* settle;
  });

  return {
    clock: {
      currentTimeMillisUnsafe: () => now,
      currentTimeMillis: Effect.sync(() => now),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep,
    },
    advance: Effect.fnUntraced(function* (ms, settle) {
      const target = now + ms;
      for (let sleeper = next(target); sleeper !== undefined; sleeper = next(target)) yield* wake(sleeper, settle);
      now = target;
      yield* settle;
    }),
    skip: Effect.fnUntraced(function* (settle) {
      const sleeper = next(Number.POSITIVE_INFINITY);
      if (sleeper !== undefined) yield* wake(sleeper, settle);
      return sleeper !== undefined;
    }),
  };
};

/**
 * A clock of one host: it dies with it. Whoever sleeps on it then wakes at once and finds nothing left. Who sleeps on it
 * later wakes in a turn of its own: the clock stands still, and a timer that sees that it is early sleeps again and again.
 */
export interface MortalClock {
  readonly clock: Clock.Clock;
  readonly die: () => void;
}

export const mortal = (clock: Clock.Clock): MortalClock => {
  const death = Deferred.makeUnsafe<void>();
  let isDead = false;
  return {
    clock: {
      ...clock,
      sleep: (duration) =>
        Effect.suspend(() =>
          isDead ? Effect.yieldNow : Effect.raceFirst(clock.sleep(duration), Deferred.await(death)),
        ),
    },
    die: () => {
      isDead = true;
      Deferred.doneUnsafe(death, Effect.void);
    },
  };
};
