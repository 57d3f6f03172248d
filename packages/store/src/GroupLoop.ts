/**
 * Group commit: callers put jobs into a bounded queue, one fiber takes whatever waits and handles it in one synchronous
 * go. While that runs, and the disk syncs, the next group gathers: the busier it is, the larger the groups.
 */
import { Effect, Fiber, Queue, type Cause, type Scope } from "effect";
import { StoreError } from "./StoreError.ts";

export interface GroupLoop<Job> {
  /** Suspends while the queue is full; fails with `closed` once the store shuts down. */
  readonly offer: (job: Job) => Effect.Effect<void, StoreError>;
}

/** Jobs that may wait; callers beyond that are suspended. */
const capacity = 4_096;

export const makeGroupLoop = <Job>(options: {
  /** The most jobs in one group. */
  readonly most: number;
  /** Handles some of the jobs, from the first on, and says how many (at least one). It must not throw. */
  readonly run: (jobs: ReadonlyArray<Job>) => number;
}): Effect.Effect<GroupLoop<Job>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const queue = yield* Queue.bounded<Job, Cause.Done>(capacity);
    const group = Effect.gen(function* () {
      let jobs: ReadonlyArray<Job> = yield* Queue.takeBetween(queue, 1, options.most);
      while (jobs.length > 0) {
        jobs = jobs.slice(options.run(jobs));
        // Those that have their result go on first: what they ask next joins the next group.
        yield* Effect.yieldNow;
      }
    });
    const fiber = yield* Effect.forkScoped(Effect.forever(group).pipe(Effect.catchCause(() => Effect.void)));
    // Runs before the fork is interrupted: what was accepted is still handled.
    yield* Effect.addFinalizer(() => Effect.andThen(Queue.end(queue), Fiber.await(fiber)));
    const closed = new StoreError({ reason: "closed", message: "The store is shutting down. Start Tributary again." });
    return {
      offer: (job) => Effect.flatMap(Queue.offer(queue, job), (taken) => (taken ? Effect.void : Effect.fail(closed))),
    };
  });
