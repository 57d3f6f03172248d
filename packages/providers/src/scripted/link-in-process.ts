/** The scripted runtime inside the host: no process, no pipes, the host's clock. */
import { Deferred, Effect, Exit, Scope } from "effect";
import type { Controls } from "./script.ts";
import { exitedError } from "./link.ts";
import type { Incoming, Link, LinkExit } from "./link.ts";
import { makeRuntime } from "./runtime.ts";

/** Starts one. It ends with the current scope, without a word, as a process does that is killed. */
export const linkInProcess = Effect.fnUntraced(function* (
  controls: Controls,
  incoming: Incoming,
): Effect.fn.Return<Link, never, Scope.Scope> {
  const scope = yield* Effect.scope;
  const life = yield* Scope.fork(scope);
  const exit = Deferred.makeUnsafe<LinkExit>();
  let isGone = false;
  const go = (how: LinkExit): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (isGone) return Effect.void;
      isGone = true;
      // From a fiber of its own: the one that goes may be among those that end here.
      return Effect.asVoid(
        Effect.forkDetach(Effect.andThen(Scope.close(life, Exit.void), Deferred.succeed(exit, how))),
      );
    });
  const runtime = yield* Scope.provide(
    makeRuntime({
      send: (frame) => Effect.suspend(() => (isGone ? Effect.never : incoming(frame))),
      exit: ({ stderr, ...how }) => go({ ...how, ...(stderr === undefined ? {} : { stderrTail: stderr }) }),
    }),
    life,
  );
  return {
    write: (message) =>
      Effect.suspend(() => (isGone ? Effect.fail(exitedError(message.method)) : runtime.take(message))),
    exit: Deferred.await(exit),
    signal: (signal) =>
      controls[signal] === "hang" ? Effect.void : go({ signal: signal === "kill" ? "SIGKILL" : "SIGTERM" }),
  };
});
