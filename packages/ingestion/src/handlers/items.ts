/** `item.*`: text items are segments and nothing else; all others are activities. */
import { itemKey } from "@tributary/contracts";
import type { DomainPayloads, ItemType, RuntimeEventOf } from "@tributary/contracts";
import { capActivity, oversizedDiffs } from "../interpret/caps.ts";
import { mergeActivity } from "../interpret/coalesce.ts";
import { enter } from "../interpret/enter.ts";
import { applied, folded, held, position, refused, unless } from "../interpret/interpretation.ts";
import type { Handler, Interpretation, Outcome } from "../interpret/interpretation.ts";
import { isTextType } from "../guard/item-types.ts";
import { endOutput } from "../interpret/outputs.ts";
import { defined, pick, root } from "../plain.ts";
import { openSegment } from "../text/segments.ts";
import type { TextItem, TextKind } from "../text/segments.ts";
import { settleWhole } from "../text/settle-whole.ts";
import { agentHolds, end, endQuietly, flushAgent } from "../text/text.ts";
import { findItem, findOrMakeItem, forgetOld, itemsOf, openIn } from "../text/text-items.ts";
import { lateSegment } from "./deltas.ts";

type ItemEvent = RuntimeEventOf<"item.started" | "item.updated" | "item.completed">;
type Fields = Omit<DomainPayloads["activity.updated"], "activityId">;
type EndStatus = DomainPayloads["activity.ended"]["status"];

const fieldNames = [
  "status",
  "title",
  "detail",
  "input",
  "output",
  "exitCode",
  "locations",
  "changes",
] as const satisfies ReadonlyArray<keyof Fields>;

const activityId = ({ turnId, agentPath, itemId }: ItemEvent): string =>
  itemKey(turnId, agentPath ?? root, itemId ?? "-");

const isOpen = (it: Interpretation, id: string): boolean =>
  it.state()?.activities.some((activity) => activity.activityId === id) === true;

const fieldsOf = (it: Interpretation, event: ItemEvent): Fields =>
  capActivity(pick(event.payload, fieldNames), position(it), it.blobs);

const begin = (it: Interpretation, event: ItemEvent, fields: Fields): Outcome => {
  const { turnId, itemId, payload } = event;
  const agentPath = event.agentPath ?? root;
  if (itemId === undefined) return refused("invalid");
  flushAgent(it, agentPath, itemId);
  const { generation } = it.memory;
  const start = { activityId: activityId(event), itemId, itemType: payload.itemType, agentPath, generation };
  return unless(enter(it, { type: "activity.start", ...start, ...defined({ turnId }), ...fields }));
};

const merge = (it: Interpretation, event: ItemEvent): Outcome => {
  const { rows, accounts } = it.memory;
  const id = activityId(event);
  const fields = fieldsOf(it, event);
  const pending = rows.get(id);
  if (pending?.kind === "activity") {
    pending.fields = mergeActivity(pending.fields, fields);
    pending.record = position(it);
    pending.events += 1;
  } else rows.set(id, { kind: "activity", fields, record: position(it), events: 1, since: it.arrived });
  accounts.held += 1;
  return held;
};

/** What goes on with an open activity, or begins one that was not announced. */
const beginOrMerge = (it: Interpretation, event: ItemEvent): Outcome =>
  isOpen(it, activityId(event)) ? merge(it, event) : begin(it, event, fieldsOf(it, event));

const endStatus = ({ payload }: ItemEvent): EndStatus =>
  payload.status === undefined || payload.status === "in_progress" ? "completed" : payload.status;

const endActivity = (it: Interpretation, event: ItemEvent): Outcome => {
  const id = activityId(event);
  const status = endStatus(event);
  if (!isOpen(it, id)) {
    const begun = begin(it, event, fieldsOf(it, event));
    if (begun.outcome === "refused") return begun;
    return unless(enter(it, { type: "activity.end", activityId: id, status }));
  }
  const fields = capActivity({ ...pick(event.payload, fieldNames), ...endOutput(it, id) }, position(it), it.blobs);
  return unless(enter(it, { type: "activity.end", activityId: id, ...fields, status }));
};

/** The turn is over: an activity that began and ended unseen comes closed; one that was settled stays as it is. */
const endLateActivity = (it: Interpretation, event: ItemEvent): Outcome => {
  const id = activityId(event);
  if (it.look.closed("activity", id) !== undefined) return refused("item_over");
  if (isOpen(it, id)) return endActivity(it, event);
  return begin(it, event, { ...fieldsOf(it, event), status: endStatus(event) });
};

/** Which stream an item's whole text is the whole of. */
const wholeKind = (it: Interpretation, itemType: ItemType, event: ItemEvent): TextKind | undefined => {
  if (itemType === "assistant_message") return "message";
  if (it.reasoning === "off") return undefined;
  if (findItem(it.memory, "full", event) !== undefined) return "full";
  if (it.reasoning === "summary" || findItem(it.memory, "summary", event) !== undefined) return "summary";
  return "full";
};

const settleText = (it: Interpretation, event: ItemEvent, late: boolean): Outcome => {
  const { text, itemType } = event.payload;
  const kind = text === undefined || text === "" ? undefined : wholeKind(it, itemType, event);
  if (text === undefined || kind === undefined) return applied;
  const item = findOrMakeItem(it, kind, event);
  const isNew = item.open === undefined && item.ended.length === 0;
  if (isNew && (late || item.turnId === undefined || it.memory.forgot) && item.nextNumber > 0)
    return refused("item_over");
  if (isNew) flushAgent(it, item.agentPath, item.itemId);
  const open = late ? () => lateSegment(it, item) : () => openIn(it.memory, item, openSegment(false));
  return unless(settleWhole(it, item, text, open));
};

const endText = (it: Interpretation, event: ItemEvent, finish: (it: Interpretation, item: TextItem) => void): void => {
  for (const item of itemsOf(it.memory, event)) {
    finish(it, item);
    item.done = true;
  }
  forgetOld(it.memory);
};

const completeText = (it: Interpretation, event: ItemEvent): Outcome => {
  const outcome = settleText(it, event, false);
  endText(it, event, end);
  return outcome;
};

const completeLateText = (it: Interpretation, event: ItemEvent): Outcome => {
  const outcome = settleText(it, event, true);
  endText(it, event, endQuietly);
  return outcome;
};

/** Text items are their deltas and their whole text; their other fields say nothing that anyone shows. */
const startText = (it: Interpretation, event: ItemEvent): Outcome => {
  flushAgent(it, event.agentPath ?? root, event.itemId);
  return applied;
};

const isText = ({ payload }: ItemEvent): boolean => isTextType(payload.itemType);

/** Whether an update of an open activity only waits in memory: a diff that must become a blob does not. */
const isQuietMerge = (it: Interpretation, event: ItemEvent): boolean =>
  isOpen(it, activityId(event)) && oversizedDiffs(event.payload.changes).length === 0;

export const itemStarted: Handler<"item.started"> = {
  quiet: (it, event) =>
    isText(event) ? !agentHolds(it, event.agentPath ?? root, event.itemId) : isQuietMerge(it, event),
  apply: (it, event) => (isText(event) ? startText(it, event) : beginOrMerge(it, event)),
};

export const itemUpdated: Handler<"item.updated"> = {
  quiet: (it, event) => isText(event) || isQuietMerge(it, event),
  apply: (it, event) => (isText(event) ? folded : beginOrMerge(it, event)),
};

export const itemCompleted: Handler<"item.completed"> = {
  apply: (it, event) => (isText(event) ? completeText(it, event) : endActivity(it, event)),
  late: (it, event) => (isText(event) ? completeLateText(it, event) : endLateActivity(it, event)),
};
