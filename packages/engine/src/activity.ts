/**
 * Whether the engine itself is at work. What only waits, for a runtime's answer or for a deadline, is not: so the world
 * can be asked to stand still between two steps of a scenario, with calls hanging.
 */
import { Deferred, Effect, Fiber, Option } from "effect";

export class Activity {
  #busy = 0;
  #waiting: Deferred.Deferred<void> | undefined;

  enter(): void {
    this.#busy += 1;
  }

  leave(): void {
    this.#busy -= 1;
    if (this.#busy > 0 || this.#waiting === undefined) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    Deferred.doneUnsafe(waiting, Effect.void);
  }

  /** Counts while the effect runs. */
  readonly during = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      this.enter();
      return Effect.ensuring(
        effect,
        Effect.sync(() => this.leave()),
      );
    });

  /** Does not count while the effect runs: it waits for somebody else. Only where it counts. */
  readonly outside = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      this.leave();
      return Effect.ensuring(
        effect,
        Effect.sync(() => this.enter()),
      );
    });

  /** Resolves when nothing is at work. */
  readonly quiet: Effect.Effect<void> = Effect.suspend(() => {
    if (this.#busy === 0) return Effect.void;
    this.#waiting ??= Deferred.makeUnsafe();
    // Whoever left may be about to enter again in the same turn.
    return Deferred.await(this.#waiting).pipe(Effect.andThen(Effect.yieldNow), Effect.andThen(this.quiet));
  });

  /** Starts something that counts until it ends, to be waited for in pieces. `fork` must start it at once. */
  readonly launch = (
    effect: Effect.Effect<void>,
    fork: (effect: Effect.Effect<void>) => Effect.Effect<Fiber.Fiber<void>>,
  ): Effect.Effect<Work> =>
    Effect.suspend(() => {
      this.enter();
      return Effect.map(fork(effect), (fiber) => new Work(this, fiber));
    });

  /** Starts something that somebody else does, in a fiber of its own, so that waiting for it has an end where it has none. */
  readonly entrust = (effect: Effect.Effect<void>): Effect.Effect<Work> =>
    this.launch(this.outside(Effect.ignoreCause(effect)), Effect.forkDetach({ startImmediately: true }));
}

/** Something that was launched. When it ends while it is waited for, its count goes to the waiter, without a gap. */
export class Work {
  readonly #activity: Activity;
  readonly #fiber: Fiber.Fiber<void>;
  #isEnded = false;
  #isAwaited = false;

  constructor(activity: Activity, fiber: Fiber.Fiber<void>) {
    this.#activity = activity;
    this.#fiber = fiber;
    fiber.addObserver(() => {
      this.#isEnded = true;
      if (!this.#isAwaited) activity.leave();
    });
  }

  /** Whether it ended in time. The waiting itself does not count; only where it counts. */
  within(millis: number): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      if (this.#isEnded) return Effect.succeed(true);
      this.#isAwaited = true;
      this.#activity.leave();
      return Effect.timeoutOption(Fiber.await(this.#fiber), millis).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            this.#isAwaited = false;
            if (!this.#isEnded) this.#activity.enter();
          }),
        ),
        Effect.map(Option.isSome),
      );
    });
  }
}
