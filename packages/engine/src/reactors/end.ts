/** Ending a session's handle and process: asked, then TERM, then KILL, then by the process table. */
import { Deferred, Effect, Exit, Scope } from "effect";
import type { Live } from "../live.ts";
import type { Tools } from "../tools.ts";

/** How long the adapter's scope may take to close, milliseconds. */
const releaseGrace = 5_000;

/**
 * Ends it, whatever it does. Resolves when its process is gone, or when nothing more can be done; only then may another
 * session of the thread be opened. Bounded; may be called again.
 */
export const endSession = (tools: Tools, live: Live): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (live.phase === "ending") return tools.activity.outside(Deferred.await(live.gone));
    live.phase = "ending";
    tools.answers.dropAll(live.threadId);
    return Effect.ensuring(
      end(tools, live),
      Effect.sync(() => {
        if (tools.sessions.get(live.threadId) === live) tools.sessions.delete(live.threadId);
        Deferred.doneUnsafe(live.gone, Effect.void);
      }),
    );
  });

const end = Effect.fnUntraced(function* (tools: Tools, live: Live) {
  const isClosed = yield* closed(tools, live);
  const releasing = yield* tools.activity.entrust(Scope.close(live.scope, Exit.void));
  const isReleased = yield* releasing.within(releaseGrace);
  if (!live.isIntended) return;
  const isGone = (isClosed && isReleased) || (yield* endLeftovers(tools, live));
  if (isGone) yield* Effect.ignore(tools.processes.ended(live.marker));
  else yield* Effect.logWarning(`Something of session ${live.generation} of thread ${live.threadId} still runs`);
});

/** Asks it to go, then makes it go. False: it did not say that it went. */
const closed = Effect.fnUntraced(function* (tools: Tools, { session }: Live) {
  if (session === undefined) return true;
  const { calls, terminateGrace, killGrace } = tools.timings;
  const closing = yield* tools.activity.entrust(session.close);
  if (yield* closing.within(calls.close)) return true;
  yield* tools.activity.entrust(session.signal("terminate"));
  if (yield* closing.within(terminateGrace)) return true;
  yield* tools.activity.entrust(session.signal("kill"));
  return yield* closing.within(killGrace);
});

/** By the process table, for what did not go by itself. */
export const endLeftovers = ({ survivors }: Tools, live: Live): Effect.Effect<boolean> =>
  survivors.end({
    threadId: live.threadId,
    generation: live.generation,
    marker: live.marker,
    ...(live.process === undefined ? {} : { identity: live.process }),
  });
