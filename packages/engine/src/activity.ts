/**
 * Whether the engine itself is at work. What only waits, for a runtime's answer or for a deadline, is not: so the world
 * can be asked to stand still between two steps of a scenario, with calls hanging.
 */
import { Deferred, Effect } from "effect";

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

  /** Does not count while the effect runs: it waits for somebody else. Only inside `during`. */
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
}
