/** The items with text of a session: found by key, remembered while they may still be compared, forgotten in time. */
import { itemKey, messageId } from "@tributary/contracts";
import type { RuntimeEventEnvelope } from "@tributary/contracts";
import type { Lookups } from "@tributary/domain";
import type { Interpretation } from "../interpret/interpretation.ts";
import { openSegments, rememberedItems } from "../limits.ts";
import type { Memory } from "../interpret/memory.ts";
import { root, samePath } from "../plain.ts";
import type { OpenSegment, TextItem, TextKind } from "./segments.ts";

/** An assistant message or reasoning that the runtime gave no item id. */
const anonymous = "-";

const kinds: ReadonlyArray<TextKind> = ["message", "full", "summary"];

/** Where an event's text belongs. */
export type Place = Pick<TextItem, "turnId" | "agentPath" | "itemId">;

export const placeOf = ({ turnId, agentPath, itemId }: RuntimeEventEnvelope): Place => ({
  turnId,
  agentPath: agentPath ?? root,
  itemId: itemId ?? anonymous,
});

/** Ids hold no control characters, so no two places share a key. */
export const keyOf = (kind: TextKind, { turnId, agentPath, itemId }: Place): string =>
  `${kind}\u0000${turnId ?? ""}\u0000${agentPath.join("\u0001")}\u0000${itemId}`;

/** The id in the log of the segment with this number. */
export const textId = ({ kind, turnId, agentPath, itemId }: Place & Pick<TextItem, "kind">, number: number): string =>
  kind === "message"
    ? messageId(turnId, agentPath, itemId, number)
    : `${itemKey(turnId, agentPath, itemId)}#${kind === "full" ? "r" : "s"}${number}`;

export const makeItem = (kind: TextKind, place: Place): TextItem => ({
  key: keyOf(kind, place),
  kind,
  ...place,
  ended: [],
  open: undefined,
  nextNumber: 0,
  done: false,
  revision: 0,
  recordSeq: 0,
  recordUnits: 0,
});

/** The first number that no text of this item in the log has. By key, one at a time: an item has few segments. */
export const firstFreeNumber = (look: Lookups, item: Place & Pick<TextItem, "kind">): number => {
  let number = 0;
  while (look.closed("text", textId(item, number)) !== undefined) number += 1;
  return number;
};

/** Finds the item an event's text belongs to. */
export const findItem = (memory: Memory, kind: TextKind, event: RuntimeEventEnvelope): TextItem | undefined => {
  const { last } = memory;
  if (
    last !== undefined &&
    last.kind === kind &&
    last.itemId === event.itemId &&
    last.turnId === event.turnId &&
    samePath(last.agentPath, event.agentPath ?? root)
  )
    return last;
  const item = memory.items.get(keyOf(kind, placeOf(event)));
  if (item !== undefined) memory.last = item;
  return item;
};

/**
 * Finds it or makes it. An item without a turn may have been in an earlier generation, and one that was forgotten may
 * come again: then its messages in the log say which number is free.
 */
export const findOrMakeItem = (it: Interpretation, kind: TextKind, event: RuntimeEventEnvelope): TextItem => {
  const { memory, look } = it;
  const found = findItem(memory, kind, event);
  if (found !== undefined) return found;
  const item = makeItem(kind, placeOf(event));
  const isNew = item.turnId !== undefined && item.turnId === it.state()?.turn?.turnId && !memory.forgot;
  if (!isNew) item.nextNumber = firstFreeNumber(look, item);
  memory.items.set(item.key, item);
  memory.last = item;
  return item;
};

/** What is known of an item in its three streams. */
export const itemsOf = (memory: Memory, event: RuntimeEventEnvelope): ReadonlyArray<TextItem> => {
  const place = placeOf(event);
  return kinds.flatMap((kind) => memory.items.get(keyOf(kind, place)) ?? []);
};

/** Whether one more open segment would be too many: the one that was opened first must end. */
export const isCrowded = ({ open }: Memory): boolean => open.size >= openSegments;

export const openIn = (memory: Memory, item: TextItem, segment: OpenSegment): OpenSegment => {
  item.open = segment;
  memory.open.add(item);
  return segment;
};

export const closeIn = (memory: Memory, item: TextItem): void => {
  item.open = undefined;
  memory.open.delete(item);
};

/** Forgets the items that ended longest ago, beyond those that are remembered (I11). */
export const forgetOld = (memory: Memory): void => {
  let surplus = memory.items.size - memory.open.size - rememberedItems;
  for (const item of memory.items.values()) {
    if (surplus <= 0) return;
    if (item.open !== undefined) continue;
    memory.items.delete(item.key);
    if (memory.last === item) memory.last = undefined;
    memory.forgot = true;
    surplus -= 1;
  }
};
