/**
 * Retraction (4.6): the runtime abandoned what it streamed since the item's last completed segment. What is only held
 * is forgotten; a message that stands in the log is retracted; later text opens the next segment.
 */
import type { RefusalReason } from "@tributary/contracts";
import { enter } from "../interpret/enter.ts";
import type { Interpretation } from "../interpret/interpretation.ts";
import { defined } from "../plain.ts";
import { takeAll } from "./segments.ts";
import type { OpenSegment, TextItem } from "./segments.ts";
import { end } from "./text.ts";
import { closeIn, textId } from "./text-items.ts";
import type { Place } from "./text-items.ts";

/** Forgets held text: what it was made of counts as folded. */
export const forgetHeld = (it: Interpretation, item: TextItem, segment: OpenSegment): void => {
  const { accounts } = it.memory;
  accounts.held -= segment.events;
  accounts.folded += segment.events;
  segment.events = 0;
  if (takeAll(item, segment) !== "") item.revision += 1;
};

/** Removes the open segment of a message from what stands as an answer. */
export const retractOpen = (it: Interpretation, item: TextItem, reason: string): RefusalReason | undefined => {
  const segment = item.open;
  if (segment === undefined) return undefined;
  forgetHeld(it, item, segment);
  closeIn(it.memory, item);
  const { number, committed: length, hash } = segment;
  if (number === undefined) return undefined;
  item.revision += 1;
  item.ended.push({ ...defined({ number, length, hash }), retracted: true });
  return enter(it, { type: "message.retract", messageId: textId(item, number), reason });
};

/**
 * Takes an item back, with what was completed of it: its messages are retracted, those included that are known only from
 * the log. `items`: what is remembered of it.
 */
export const retractWhole = (
  it: Interpretation,
  place: Place,
  items: ReadonlyArray<TextItem>,
  reason: string,
): RefusalReason | undefined => {
  let refusal: RefusalReason | undefined;
  for (const item of items) refusal = retract(it, item, reason) ?? refusal;
  const message = items.find(({ kind }) => kind === "message");
  const { state, look } = it;
  for (let number = 0; ; number += 1) {
    const messageId = textId({ kind: "message", ...place }, number);
    const closed = look.closed("text", messageId);
    const isOpen = state()?.texts.some(({ id }) => id === messageId) === true;
    if (closed === undefined && !isOpen) break;
    if (closed?.retracted === true) continue;
    refusal = enter(it, { type: "message.retract", messageId, reason }) ?? refusal;
    if (message !== undefined) message.revision += 1;
  }
  if (message !== undefined)
    message.ended.splice(0, Infinity, ...message.ended.map((segment) => ({ ...segment, retracted: true })));
  return refusal;
};

/** Removes what the item streamed. Reasoning that stands in the log stays: nobody takes it for an answer. */
export const retract = (it: Interpretation, item: TextItem, reason: string): RefusalReason | undefined => {
  if (item.kind === "message") return retractOpen(it, item, reason);
  if (item.open !== undefined) forgetHeld(it, item, item.open);
  end(it, item);
  return undefined;
};
