/**
 * Text of messages and reasoning. Callers keep offsets; here they are checked against what is committed, so that no
 * piece is ever lost, doubled or swapped (I4).
 */
import { event } from "@tributary/contracts";
import type { DomainEvent, TextStart } from "@tributary/contracts";
import { accept, refused } from "../answers.ts";
import { opening } from "../guard.ts";
import { without } from "../plain.ts";
import type { InternalDecision, Lookups, OpenText, ThreadState } from "../state.ts";
import type { InternalGiven, InternalHandlers } from "./types.ts";

const find = (state: ThreadState, id: string): OpenText | undefined => state.texts.find((text) => text.id === id);

/** Known and not retracted: its length; or why nothing may change. */
const committed = (state: ThreadState, look: Lookups, id: string): number | "item_over" | "invalid" => {
  const open = find(state, id);
  if (open !== undefined) return open.length;
  const closed = look.closed("text", id);
  if (closed === undefined) return "invalid";
  return closed.retracted ? "item_over" : closed.length;
};

interface Append {
  readonly id: string;
  readonly start?: TextStart;
  readonly offset: number;
  readonly text: string;
}

/**
 * Appends at the committed length. A new text in a turn or session that is over comes closed: it wakes nothing. So stays
 * a closed text that grows: late text of an ended turn belongs to that turn's message (4.3).
 */
const append = (
  { state, look }: InternalGiven,
  { id, start, offset, text }: Append,
  appended: DomainEvent,
  completed: (length: number) => DomainEvent,
): InternalDecision => {
  const length = committed(state, look, id);
  if (length === "item_over") return refused("item_over");
  if (start === undefined) return length === offset ? accept(appended) : refused("invalid");
  if (length !== "invalid" || offset !== 0) return refused("invalid");
  const place = opening(state, look, start.generation, start.turnId);
  switch (place.kind) {
    case "refused":
      return refused(place.reason);
    case "open":
      return accept(appended);
    case "over":
      return accept(appended, completed(text.length));
  }
};

/** The end of a text; a text that is closed already stays so. */
const complete = ({ state, look }: InternalGiven, id: string, completed: (length: number) => DomainEvent) => {
  const open = find(state, id);
  if (open !== undefined) return accept(completed(open.length));
  return look.closed("text", id) === undefined ? refused("invalid") : accept();
};

/** Changes a text that is there, open or closed. */
const change = ({ state, look }: InternalGiven, id: string, changed: DomainEvent): InternalDecision => {
  const length = committed(state, look, id);
  return typeof length === "string" ? refused(length) : accept(changed);
};

type TextCommandType = Extract<keyof InternalHandlers, `message.${string}` | `reasoning.${string}`>;

export const textHandlers: InternalHandlers<TextCommandType> = {
  "message.append": (given, command) => {
    const { messageId } = command;
    return append(given, { id: messageId, ...command }, event("message.appended", without(command, "type")), (length) =>
      event("message.completed", { messageId, length, settledBy: "system" }),
    );
  },
  "message.complete": (given, { messageId }) =>
    complete(given, messageId, (length) => event("message.completed", { messageId, length })),
  "message.replace": (given, { messageId, text }) =>
    change(given, messageId, event("message.replaced", { messageId, text })),
  "message.retract": (given, { messageId, reason }) =>
    change(given, messageId, event("message.retracted", { messageId, reason })),
  "reasoning.append": (given, command) => {
    const { reasoningId } = command;
    return append(
      given,
      { id: reasoningId, ...command },
      event("reasoning.appended", without(command, "type")),
      (length) => event("reasoning.completed", { reasoningId, length, settledBy: "system" }),
    );
  },
  "reasoning.complete": (given, { reasoningId }) =>
    complete(given, reasoningId, (length) => event("reasoning.completed", { reasoningId, length })),
};
