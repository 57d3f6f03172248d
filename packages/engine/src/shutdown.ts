/** The orderly end of the engine: what runs is settled as stopped, then the runtimes are closed, within a deadline. */
import type { InternalCommand } from "@tributary/contracts";
import { isLive } from "@tributary/domain";
import type { ThreadState } from "@tributary/domain";
import { Effect, Option } from "effect";
import type { Live } from "./live.ts";
import { endLeftovers, endSession } from "./reactors/end.ts";
import { settleExit } from "./reactors/settle.ts";
import type { Tools } from "./tools.ts";

/** Settles and ends every live session. After the deadline what is left is killed, and not waited for much longer. */
export const endAll = Effect.fn("Engine.endAll")(function* (tools: Tools) {
  const left = new Set(tools.sessions.values());
  // Settled before it is closed: the runtime's own end then is the end of a session that is over.
  const one = (live: Live) =>
    Effect.andThen(
      settleExit(tools, live.threadId, (state) => goodbye(state, live)),
      endSession(tools, live),
    ).pipe(Effect.andThen(Effect.sync(() => left.delete(live))));
  // Each counts for itself: one that only waits for its runtime does not take the count of another.
  const { during, outside } = tools.activity;
  yield* outside(
    Effect.forEach([...left], (live) => during(one(live)), { concurrency: "unbounded", discard: true }),
  ).pipe(Effect.timeoutOption(tools.timings.shutdown));
  yield* Effect.forEach(left, (live) => kill(tools, live), { concurrency: "unbounded", discard: true });
});

const kill = (tools: Tools, live: Live): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (live.session !== undefined) yield* tools.activity.entrust(live.session.signal("kill"));
    const isGone = yield* Effect.timeoutOption(endLeftovers(tools, live), tools.timings.killGrace);
    if (live.isIntended && Option.getOrElse(isGone, () => false))
      yield* Effect.ignore(tools.processes.ended(live.marker));
  });

const goodbye = (state: ThreadState, { generation }: Live): ReadonlyArray<InternalCommand> => {
  if (!isLive(state) || state.session?.generation !== generation) return [];
  const { turn, session } = state;
  const exit: InternalCommand = {
    type: "session.exit",
    generation,
    // What was about to open never ran: nothing failed, and what waits goes on waiting.
    seen: session.state === "opening" ? "host_restart" : "runtime",
    kind: "graceful",
    reason: "host_shutdown",
    recoverable: true,
    settledBy: "system",
  };
  return turn === undefined
    ? [exit]
    : [{ type: "turn.end", turnId: turn.turnId, generation, outcome: "interrupted", settledBy: "system" }, exit];
};
