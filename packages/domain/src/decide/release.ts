import { event } from "@tributary/contracts";
import type { DomainEvent, DomainPayloads } from "@tributary/contracts";
import { isLive, waitsInQueue } from "../queue.ts";
import { holdQueue, settleSession } from "../settle.ts";
import type { ThreadState } from "../state.ts";

type Reason = DomainPayloads["session.released"]["reason"];

/**
 * Lets the live session go with all its work; nothing without one. Asked for by a person, it also stops what would
 * open the next session at once: a prompt not yet sent is withdrawn, the queue is held.
 */
export const releaseSession = (state: ThreadState, reason: Reason): ReadonlyArray<DomainEvent> => {
  if (state.session === undefined || !isLive(state)) return [];
  const queued = state.inputs.filter((input) => input.state === "queued");
  const taken = state.inputs.filter((input) => input.state !== "queued");
  const settled = settleSession(
    { ...state, inputs: taken },
    { turn: { state: "interrupted" }, reason: "session_released" },
  );
  const released = event("session.released", { generation: state.session.generation, reason });
  if (reason !== "asked") return [...settled, released];
  const prompts = queued.filter((input) => !waitsInQueue(input));
  return [
    ...settled,
    ...prompts.map(({ inputId }) => event("input.withdrawn", { inputId, reason: "session_released" })),
    ...holdQueue(state, "interrupted", state.turn?.turnId),
    released,
  ];
};
