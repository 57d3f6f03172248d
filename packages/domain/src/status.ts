/** What a person is told of a thread, derived from what is open in it. */
import type { SessionView, ThreadStatus } from "@tributary/contracts";
import { awaitsTurn, inputInLine, isLive } from "./queue.ts";
import type { ThreadState } from "./state.ts";

/** The agent waits for a person. */
const isAsked = (state: ThreadState): boolean =>
  state.requests.some((request) => request.state === "pending" && request.blocking);

/** The session's own state; while it is ready, `waiting` and `running` are derived. Undefined before the first one. */
export const sessionStatus = (state: ThreadState): SessionView["state"] | undefined => {
  if (state.session?.state !== "ready") return state.session?.state;
  if (isAsked(state)) return "waiting";
  return state.turn === undefined ? "ready" : "running";
};

/** Nothing was begun since something failed. */
const hasFailed = (state: ThreadState): boolean =>
  state.lastTurnState === "failed" || state.lastTurnState === "lost" || state.session?.state === "failed";

/** The first that holds: archived, needs_you, working, starting, error, idle. */
export const threadStatus = (state: ThreadState): ThreadStatus => {
  if (state.archived) return "archived";
  if (isAsked(state)) return "needs_you";
  const isWorking = state.inputs.some((input) => input.state === "handed_over" || awaitsTurn(state, input));
  if (state.turn !== undefined || isWorking) return "working";
  if (state.session?.state === "opening" || (!isLive(state) && inputInLine(state) !== undefined)) return "starting";
  return hasFailed(state) ? "error" : "idle";
};

/**
 * Whether anything of the thread may need the engine: a session that is not over, an input on its way, a request, a task,
 * an interrupt. Failed and unconfirmed inputs wait for a person, not for the engine.
 */
export const hasOpenWork = (state: ThreadState): boolean =>
  isLive(state) ||
  state.inputs.some((input) => input.state !== "failed" && input.state !== "unconfirmed") ||
  state.turn !== undefined ||
  state.requests.length > 0 ||
  state.tasks.length > 0 ||
  state.interrupt !== undefined;
