/** Time for what is held: the clock on the wall may jump, and text must not wait for it to come back. */
import { Effect } from "effect";
import type { Clock } from "effect";

/** Milliseconds of a clock that only moves forward, and how far the clock on the wall, which records have, is ahead of it. */
export interface SteadyTime {
  readonly now: number;
  readonly ahead: number;
}

export const steadyTime = (clock: Clock.Clock): SteadyTime => {
  // Whole microseconds, so that sums are exact.
  const now = Number((clock.monotonicTimeNanosUnsafe() + 500n) / 1_000n) / 1_000;
  return { now, ahead: clock.currentTimeMillisUnsafe() - now };
};

export const currentSteadyTime: Effect.Effect<SteadyTime> = Effect.clockWith((clock) =>
  Effect.sync(() => steadyTime(clock)),
);
