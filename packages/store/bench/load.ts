/** What the benches have in common: the store under test, and the commands of its clients. */
import type { ClientCommand } from "@tributary/contracts";
import type { DecideContext } from "@tributary/domain";
import { Projection, Store, type Projector, type StoreServices, type Synchronous } from "@tributary/store";
import { Effect, Layer } from "effect";

/** What a run did; the benches' harness has the same shape. */
export interface Timing {
  readonly units: number;
  readonly seconds: number;
}

export interface StoreLoad {
  /** An empty folder, on a disk: memory has nothing to sync. */
  readonly dir: string;
  readonly projector: Projector;
  readonly synchronous: Synchronous;
}

export const threads = Array.from({ length: 64 }, (_, index) => `thread-${index}`);

export const context: DecideContext = {
  now: "2026-01-01T00:00:00.000Z",
  actor: { kind: "client", id: "device" },
  place: { projectId: "project", cwd: "/project" },
  instance: { known: true, refusedOptions: {} },
};

export const createThread = (threadId: string): ClientCommand => ({
  type: "thread.create",
  commandId: `create-${threadId}`,
  threadId,
  cwd: "/project",
  instance: "stub",
});

/**
 * The n-th command of a client in a thread: an input for the queue, then the same taken back. So a thread's queue stays as
 * short as it is with people, and every second command also closes something.
 */
export const commandOf = (threadId: string, client: number, n: number): ClientCommand => {
  const inputId = `${threadId}-${client}-${n >> 1}`;
  const thread = { commandId: `command-${threadId}-${client}-${n}`, threadId, inputId };
  return n % 2 === 0
    ? { type: "input.submit", ...thread, text: "Please look at the failing test and mend it.", delivery: "queue" }
    : { type: "input.withdraw", ...thread };
};

export const runIn = <A>(load: StoreLoad, body: Effect.Effect<A, unknown, StoreServices>): Promise<A> => {
  const store = Store.layer({ dir: load.dir, synchronous: load.synchronous });
  return Effect.runPromise(body.pipe(Effect.provide(Layer.provide(store, Layer.succeed(Projection, load.projector)))));
};

export const timed = <A, E, R>(units: number, work: Effect.Effect<A, E, R>): Effect.Effect<Timing, E, R> =>
  Effect.gen(function* () {
    const start = performance.now();
    yield* work;
    return { units, seconds: (performance.now() - start) / 1_000 };
  });
