/**
 * Reconciliation, before commands are taken (design section 7): what an old host left is ended, what its runtimes said is
 * interpreted, and what nobody can know any more is said to be so. Archived and deleted threads are no exception; only
 * sessions that were handed on, and so have not ended, are left alone.
 */
import { isLive } from "@tributary/domain";
import type { StoreError } from "@tributary/store";
import { Effect } from "effect";
import { settleExit } from "./reactors/settle.ts";
import type { Tools } from "./tools.ts";

/** So many processes, and threads, at a time. */
const concurrency = 8;

export const reconcile = Effect.fn("Engine.reconcile")(function* (tools: Tools): Effect.fn.Return<void, StoreError> {
  // Sessions that an engine before this one handed on live: they are nobody's leftovers.
  const handedOn = new Set([...tools.sessions.values()].map(({ marker }) => marker));
  const left = (yield* tools.processes.notEnded).filter(({ marker }) => !handedOn.has(marker));
  const ended = yield* Effect.forEach(
    left,
    (process) => Effect.map(tools.survivors.end(process), (isGone) => ({ process, isGone })),
    { concurrency },
  );
  const unattended = tools.writer.openThreads().filter((threadId) => !tools.sessions.has(threadId));
  yield* Effect.forEach(unattended, (threadId) => settleThread(tools, threadId), { concurrency, discard: true });
  for (const { process, isGone } of ended) {
    if (isGone) yield* tools.processes.ended(process.marker);
    else
      yield* Effect.logWarning(
        `A process of session ${process.generation} of thread ${process.threadId} can't be ended: end it by hand`,
      );
  }
});

/** What the runtime said last counts; the rest is `lost`, `unconfirmed` or `expired`, by the decider. */
const settleThread = Effect.fnUntraced(function* (tools: Tools, threadId: string): Effect.fn.Return<void, StoreError> {
  yield* tools.ingested.replay(threadId);
  yield* settleExit(tools, threadId, (state) =>
    state.session === undefined || !isLive(state)
      ? []
      : [
          {
            type: "session.exit",
            generation: state.session.generation,
            seen: "host_restart",
            kind: "crash",
            reason: "host_restart",
            recoverable: true,
          },
        ],
  );
});
