/** What a thread is doing, derived from its columns and from what is open in it. */
import type { InputView, SessionState, ThreadStatus, TurnView } from "@tributary/contracts";

export interface StatusFacts {
  readonly archived: boolean;
  /** A request that the agent waits on is pending. */
  readonly asked: boolean;
  /** Of the newest turn. */
  readonly turn: Pick<TurnView, "state"> | undefined;
  readonly inputs: ReadonlyArray<Pick<InputView, "state" | "mode">>;
  readonly queueHeld: boolean;
  /** Of the newest session, without `running` and `waiting`. */
  readonly session: SessionState | undefined;
}

/** The first that holds: archived, needs_you, working, starting, error, idle. The decider's status is the same. */
export const threadStatus = (facts: StatusFacts): ThreadStatus => {
  if (facts.archived) return "archived";
  if (facts.asked) return "needs_you";
  if (facts.turn?.state === "running" || isOnItsWay(facts)) return "working";
  if (facts.session === "opening" || (facts.session !== "ready" && isNextInLine(facts))) return "starting";
  return hasFailed(facts) ? "error" : "idle";
};

/** Handed over, or started while its turn has not been seen yet. */
const isOnItsWay = ({ inputs }: StatusFacts): boolean =>
  // No turn runs here: one that started is not of the active turn.
  inputs.some((input) => input.state === "handed_over" || input.state === "started");

/** A held queue waits for a person; a prompt does not wait in it. */
const isNextInLine = ({ inputs, queueHeld }: StatusFacts): boolean =>
  inputs.some((input) => input.state === "queued" && (!queueHeld || input.mode === "prompt"));

/** Nothing was begun since something failed. */
const hasFailed = ({ turn, session }: StatusFacts): boolean =>
  turn?.state === "failed" || turn?.state === "lost" || session === "failed";
