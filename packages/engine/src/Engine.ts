/** The engine: the way in for client commands, and the reactors that turn committed intent into effects. */
import type { Actor, Capabilities, ClientCommand, Receipt } from "@tributary/contracts";
import { isLive } from "@tributary/domain";
import { Signals, StoreError } from "@tributary/store";
import { Context, Deferred, Effect, Exit, FiberSet, Layer, Scope, Semaphore } from "effect";
import { withSecrets } from "./dispatch.ts";
import { Lanes } from "./lanes.ts";
import type { Live, LivePhase } from "./live.ts";
import { purgeThread } from "./purge.ts";
import { settleExit } from "./reactors/settle.ts";
import { reconcile } from "./reconcile.ts";
import { makeResolve } from "./resolve.ts";
import { endAll } from "./shutdown.ts";
import { makeTools } from "./tools.ts";
import type { Tools } from "./tools.ts";

/** A live session, as diagnostics show it. */
export interface SessionInfo {
  readonly threadId: string;
  readonly generation: number;
  readonly phase: LivePhase;
  readonly nativeSessionId?: string;
  readonly capabilities?: Capabilities;
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  readonly heardAt: number;
}

export class Engine extends Context.Service<
  Engine,
  {
    /**
     * Has a client command decided, with its receipt (I1, I2); resolves after COMMIT. Effects follow by themselves. Fails
     * with `closed` during and after shutdown; waits while reconciliation has not ended.
     */
    readonly dispatch: (command: ClientCommand, who: Actor) => Effect.Effect<Receipt, StoreError>;
    /**
     * Reconciles, then lets commands in and begins with what is open. To be run once. Sessions that an engine before this
     * one handed on (`Sessions`) are not reconciled: their work goes on as it is.
     */
    readonly start: Effect.Effect<void, StoreError>;
    /**
     * Takes no more commands, settles and ends every session, within the configured deadline. What waits is there at the
     * next start. May be run again. Without it, closing the layer leaves sessions to be reconciled.
     */
    readonly shutdown: Effect.Effect<void>;
    /** The sessions that are live now. */
    readonly sessions: Effect.Effect<ReadonlyArray<SessionInfo>>;
    /**
     * Opens a session that no input asked for, and resolves when it is open or has failed. With `generation`, a live one
     * of an earlier generation is let go of first.
     */
    readonly open: (threadId: string, generation?: number) => Effect.Effect<void, StoreError>;
    /**
     * Erases what a deleted thread said: payloads, journal and blobs; its place in the order stays (I3). Resolves when that
     * is committed. False: there is no such thread, or it is not deleted. May be repeated.
     */
    readonly purge: (threadId: string) => Effect.Effect<boolean, StoreError>;
    /** Resolves when the engine has nothing to do but to wait: for runtimes, for people, for time. */
    readonly quiet: Effect.Effect<void>;
  }
>()("tributary/engine/Engine") {
  /** Begins nothing before `start`. */
  static readonly layer = Layer.effect(
    Engine,
    Effect.suspend(() => make),
  );
}

const closed = new StoreError({
  reason: "closed",
  message: "Tributary is shutting down: send the command again later",
});

const make = Effect.gen(function* () {
  const tools = yield* makeTools;
  const resolve = yield* makeResolve;
  const signals = yield* Signals;
  const scope = yield* Effect.scope;
  const fibers = yield* FiberSet.make<void>();
  const run = yield* FiberSet.runtime(fibers)<never>();
  const lanes = new Lanes(tools, (effect) => {
    run(effect);
  });
  tools.wake = (threadId) => lanes.wake(threadId);
  const oneAtATime = Semaphore.makeUnsafe(1);
  const started = Deferred.makeUnsafe<void>();
  let isStopping = false;

  yield* takeOver(tools);

  const dispatch = Effect.fn("Engine.dispatch")(function* (command: ClientCommand, who: Actor) {
    yield* Deferred.await(started);
    if (isStopping) return yield* closed;
    const context = yield* resolve(command, who);
    return yield* withSecrets(tools, oneAtATime, command, tools.writer.dispatch(command, context));
  });

  const start = Effect.gen(function* () {
    yield* tools.activity.during(reconcile(tools));
    const listening = signals.onCommit((threadIds) => {
      for (const threadId of threadIds) lanes.wake(threadId);
    });
    yield* Scope.provide(listening, scope);
    for (const threadId of tools.writer.openThreads()) lanes.wake(threadId);
    for (const threadId of tools.sessions.keys()) lanes.wake(threadId);
    yield* Deferred.succeed(started, undefined);
  });

  const shutdown = Effect.suspend(() => {
    isStopping = true;
    Deferred.doneUnsafe(started, Effect.void);
    lanes.stop();
    return tools.activity.during(endAll(tools));
  });

  const open = Effect.fn("Engine.open")(function* (threadId: string, generation?: number) {
    const signal = yield* signals.subscribe([threadId]);
    const before = tools.writer.state(threadId);
    const last = before?.session?.generation ?? 0;
    const target = generation ?? (before !== undefined && isLive(before) ? last : last + 1);
    while (true) {
      const state = tools.writer.state(threadId);
      if (state === undefined || state.deleted) return;
      const current = state.session?.generation ?? 0;
      if (current >= target && state.session?.state !== "opening") return;
      if (current < target && isLive(state)) yield* tools.activity.during(letGo(tools, threadId));
      else {
        tools.wanted.add(threadId);
        lanes.wake(threadId);
        yield* signal.wait;
      }
    }
  }, Effect.scoped);

  return Engine.of({
    dispatch,
    start,
    shutdown,
    open: (threadId, generation) =>
      Effect.ensuring(
        open(threadId, generation),
        Effect.sync(() => tools.wanted.delete(threadId)),
      ),
    purge: (threadId) =>
      Effect.andThen(
        Deferred.await(started),
        Effect.suspend((): Effect.Effect<boolean, StoreError> =>
          isStopping ? closed : tools.activity.during(purgeThread(tools, threadId)),
        ),
      ),
    quiet: tools.activity.quiet,
    sessions: Effect.sync(() => [...tools.sessions.values()].map(infoOf)),
  });
});

/**
 * Sessions of an engine before this one. What that engine had on its way is not ours to wait for: an end is begun again, and
 * an opening, which nobody would hear of any more, is given up to reconciliation.
 */
const takeOver = ({ sessions }: Tools): Effect.Effect<void> =>
  Effect.forEach(
    sessions.values(),
    (live) => {
      live.calling = undefined;
      live.isEscalating = false;
      if (live.session !== undefined) {
        if (live.phase === "ending") live.phase = "open";
        return Effect.void;
      }
      sessions.delete(live.threadId);
      return Effect.forkDetach(Scope.close(live.scope, Exit.void));
    },
    { discard: true },
  );

/** Lets go of a live session, for the next one. */
const letGo = (tools: Tools, threadId: string): Effect.Effect<boolean> =>
  settleExit(tools, threadId, ({ session }) =>
    session === undefined
      ? []
      : [
          {
            type: "session.exit",
            generation: session.generation,
            seen: "runtime",
            kind: "graceful",
            reason: "Another session takes its place",
            recoverable: true,
            settledBy: "system",
          },
        ],
  );

const infoOf = ({ threadId, generation, phase, session, openedAt, heardAtWall }: Live): SessionInfo => ({
  threadId,
  generation,
  phase,
  openedAt,
  heardAt: heardAtWall,
  ...(session === undefined ? {} : { nativeSessionId: session.nativeSessionId, capabilities: session.capabilities }),
});
