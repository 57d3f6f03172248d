import { Context, Effect, Layer, type Scope } from "effect";

/** A subscription's wake-up: `wait` resolves at once if anything was touched since the last `wait` returned. */
export interface Signal {
  readonly wait: Effect.Effect<void>;
}

/** Called after each commit with the threads that got events. It must not throw; if it does, others are still told. */
export type CommitListener = (threadIds: ReadonlySet<string>) => void;

/** Says that something changed, never what: readers then fetch pages. Costs nothing per event or slow reader (I11). */
export class Signals extends Context.Service<
  Signals,
  {
    /** `*` is touched with every commit; a thread id with every commit of that thread. Other keys are free. */
    readonly subscribe: (keys: ReadonlyArray<string>) => Effect.Effect<Signal, never, Scope.Scope>;
    readonly touch: (keys: Iterable<string>) => void;
    /** Called synchronously after each commit with the threads it touched. */
    readonly onCommit: (listener: CommitListener) => Effect.Effect<void, never, Scope.Scope>;
    /** Tells the commit listeners; the writer's part. */
    readonly committed: (threadIds: ReadonlySet<string>) => void;
  }
>()("tributary/store/Signals") {
  static readonly layer: Layer.Layer<Signals> = Layer.effect(
    Signals,
    Effect.suspend(() => make),
  );
}

interface Subscription {
  touched: boolean;
  readonly waiting: Set<() => void>;
}

const make: Effect.Effect<Signals["Service"]> = Effect.gen(function* () {
  const fork = Effect.runForkWith(yield* Effect.context());
  const byKey = new Map<string, Set<Subscription>>();
  const listeners = new Set<CommitListener>();

  const wake = (subscription: Subscription): void => {
    subscription.touched = true;
    // Whoever is resumed may go on at once and wait again: that is the next touch's business.
    const waiting = [...subscription.waiting];
    subscription.waiting.clear();
    for (const resume of waiting) resume();
  };

  const wait = (subscription: Subscription): Effect.Effect<void> => {
    // Runs when the waiting fiber goes on, not when it is told to: one that is interrupted in between (a race with a
    // timer) leaves the mark for its next wait.
    const clear = Effect.sync(() => {
      subscription.touched = false;
    });
    return Effect.callback<void>((resume) => {
      if (subscription.touched) return resume(clear);
      const waiter = () => resume(clear);
      subscription.waiting.add(waiter);
      return Effect.sync(() => {
        subscription.waiting.delete(waiter);
      });
    });
  };

  const subscribe = (keys: ReadonlyArray<string>) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const subscription: Subscription = { touched: false, waiting: new Set() };
        for (const name of keys) {
          const others = byKey.get(name) ?? new Set();
          byKey.set(name, others.add(subscription));
        }
        return subscription;
      }),
      (subscription) =>
        Effect.sync(() => {
          for (const name of keys) {
            const others = byKey.get(name);
            others?.delete(subscription);
            if (others?.size === 0) byKey.delete(name);
          }
        }),
    ).pipe(Effect.map((subscription) => ({ wait: wait(subscription) })));

  return {
    subscribe,
    touch: (keys) => {
      // Gathered first: each is woken once, and one that subscribes anew as it goes on is not woken for what was before.
      const touched = new Set<Subscription>();
      for (const name of keys) for (const subscription of byKey.get(name) ?? []) touched.add(subscription);
      for (const subscription of touched) wake(subscription);
    },
    onCommit: (listener) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => listeners.add(listener)),
          () => Effect.sync(() => listeners.delete(listener)),
        ),
      ),
    committed: (threadIds) => {
      // One that is added meanwhile hears of the next commit.
      const told = Array.from(listeners);
      for (const listener of told) {
        try {
          listener(threadIds);
        } catch (error) {
          // A listener's bug must reach neither the writer nor the other listeners.
          fork(Effect.logError("A listener of commits failed", error));
        }
      }
    },
  };
});
