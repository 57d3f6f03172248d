/** What a thread is doing, derived from its columns and from what is open in it. */
import type { InputView, SessionState, ThreadStatus } from "@tributary/contracts";

export interface StatusFacts {
  readonly archived: boolean;
  /** A request that the agent waits on is pending. */
  readonly asked: boolean;
  readonly turnRunning: boolean;
  readonly inputs: ReadonlyArray<Pick<InputView, "state" | "mode">>;
  readonly queueHeld: boolean;
  /** Without `running` and `waiting`. */
  readonly session: SessionState | undefined;
  /** The last turn failed or was lost, or the session failed, and nothing was begun since. */
  readonly failed: boolean;
}

/** The first that holds: archived, needs_you, working, starting, error, idle. */
export const threadStatus = (facts: StatusFacts): ThreadStatus => {
  if (facts.archived) return "archived";
  if (facts.asked) return "needs_you";
  if (facts.turnRunning || facts.inputs.some((input) => input.state === "handed_over")) return "working";
  if (facts.session === "opening" || (facts.session !== "ready" && nextInLine(facts))) return "starting";
  return facts.failed ? "error" : "idle";
};

/** A held queue waits for a person; a prompt does not wait in it. */
const nextInLine = ({ inputs, queueHeld }: StatusFacts): boolean =>
  inputs.some((input) => input.state === "queued" && (!queueHeld || input.mode === "prompt"));
