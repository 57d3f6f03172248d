/** Time for deadlines: the clock on the wall may jump, and stopping must not wait for it to come back (I9). */
import { Effect } from "effect";
import type { Clock } from "effect";

/** Milliseconds of a clock that only moves forward; its zero means nothing. Whole microseconds, so that sums are exact. */
export const steadyNow = (clock: Clock.Clock): number =>
  Number((clock.monotonicTimeNanosUnsafe() + 500n) / 1_000n) / 1_000;

export const steadyMillis: Effect.Effect<number> = Effect.clockWith((clock) => Effect.sync(() => steadyNow(clock)));
