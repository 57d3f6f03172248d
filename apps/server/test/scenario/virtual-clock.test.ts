import { assert, describe, it } from "@effect/vitest";
import { Duration, Effect, Fiber } from "effect";
import { makeVirtualClock, mortal } from "../../src/scenario/virtual-clock.ts";

const second = Duration.seconds(1);

describe("a clock that dies with its host", () => {
  it.effect("wakes who sleeps on it", () =>
    Effect.gen(function* () {
      const { clock, die } = mortal(makeVirtualClock(0).clock);
      const sleeper = yield* Effect.forkChild(clock.sleep(second));
      yield* Effect.yieldNow;
      die();
      yield* Fiber.join(sleeper);
    }),
  );

  it.effect("lets a timer that sets itself again be interrupted, however often it wakes too early", () =>
    Effect.gen(function* () {
      const { clock, die } = mortal(makeVirtualClock(0).clock);
      let early = 0;
      // As ingestion's timers do: each sets the next one from within.
      const timer: Effect.Effect<void> = Effect.suspend(() =>
        Effect.andThen(
          clock.sleep(second),
          Effect.suspend(() => {
            early += 1;
            return Effect.asVoid(Effect.forkChild(timer, { startImmediately: true }));
          }),
        ),
      );
      const running = yield* Effect.forkChild(Effect.andThen(timer, Effect.never));
      yield* Effect.yieldNow;
      die();
      yield* Effect.yieldNow;
      yield* Fiber.interrupt(running);
      assert.isBelow(early, 1_000);
    }),
  );
});
