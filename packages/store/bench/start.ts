/** How long a store with a long log takes to be ready, and how fast its projections are rebuilt. */
import { EventLog, Store } from "@tributary/store";
import { Effect } from "effect";
import { fillThread } from "./growth.ts";
import { runIn, timed, type StoreLoad, type Timing } from "./load.ts";

/** Leaves a store with about this many events in `dir`, closed in good order. Not timed. */
export const fillStore = (load: StoreLoad & { readonly events: number; readonly threads: number }): Promise<void> =>
  runIn(
    load,
    Effect.forEach(
      Array.from({ length: load.threads }, (_, index) => `thread-${index}`),
      (threadId) => fillThread(threadId, load.events / load.threads),
      { concurrency: 8, discard: true },
    ),
  );

/** Milliseconds from nothing to a store that takes commands. */
export const timeToReady = async (load: StoreLoad): Promise<number> => {
  const start = performance.now();
  return runIn(
    load,
    Effect.sync(() => performance.now() - start),
  );
};

/** Rebuilds the projections of a filled store while it is open. */
export const rebuildRate = (load: StoreLoad): Promise<Timing> =>
  runIn(
    load,
    Effect.gen(function* () {
      const store = yield* Store;
      const events = yield* (yield* EventLog).head;
      return yield* timed(events, store.rebuild);
    }),
  );
