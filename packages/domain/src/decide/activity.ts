/** Activities: what a person would fold away. Each ends exactly once. */
import { event } from "@tributary/contracts";
import type { DomainPayloads, InternalCommandOf } from "@tributary/contracts";
import { accept, refused } from "../answers.ts";
import { opening } from "../guard.ts";
import { without } from "../plain.ts";
import { livesOn } from "../settle.ts";
import type { InternalDecision, Lookups, ThreadState } from "../state.ts";
import type { InternalGiven, InternalHandlers } from "./types.ts";

type EndStatus = DomainPayloads["activity.ended"]["status"];

const isOpen = (state: ThreadState, activityId: string): boolean =>
  state.activities.some((activity) => activity.activityId === activityId);

const notOpen = (look: Lookups, activityId: string): InternalDecision =>
  refused(look.closed("activity", activityId) === undefined ? "invalid" : "item_over");

const endStatus = (status: InternalCommandOf<"activity.start">["status"]): EndStatus | undefined =>
  status === "in_progress" ? undefined : status;

/**
 * An item that begins when its turn or session is over can only come with its end (a late item end that had no start);
 * one that would stay open is refused (I8). Inside a background task items go on as before.
 */
const start = ({ state, look }: InternalGiven, command: InternalCommandOf<"activity.start">): InternalDecision => {
  const { activityId, generation, turnId, agentPath } = command;
  if (isOpen(state, activityId)) return accept();
  if (look.closed("activity", activityId) !== undefined) return refused("item_over");
  const place = opening(state, look, generation, turnId);
  if (place.kind === "refused") return refused(place.reason);
  const started = event("activity.started", without(command, "type"));
  if (place.kind === "open" || (place.reason === "turn_over" && livesOn(state, agentPath))) return accept(started);
  const status = endStatus(command.status);
  return status === undefined
    ? refused(place.reason)
    : accept(started, event("activity.ended", { activityId, status }));
};

export const activityHandlers: InternalHandlers<Extract<keyof InternalHandlers, `activity.${string}`>> = {
  "activity.start": start,
  "activity.update": ({ state, look }, command) =>
    isOpen(state, command.activityId)
      ? accept(event("activity.updated", without(command, "type")))
      : notOpen(look, command.activityId),
  "activity.end": ({ state, look }, command) =>
    isOpen(state, command.activityId)
      ? accept(event("activity.ended", without(command, "type")))
      : notOpen(look, command.activityId),
};
