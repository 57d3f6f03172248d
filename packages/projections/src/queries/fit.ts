/** Making a row that is larger than a whole page fit: what is left out is named, and has its own query. */
import type { TimelineRow } from "@tributary/contracts";
import type { Reader } from "./reader.ts";
import { completeRows, type Pending } from "./rows.ts";
import { textHead, type TextSource } from "./texts.ts";

/** Bytes of a value as JSON in UTF-8. */
export const sizeOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));

/** A row that takes at most `room` bytes, if its kind can be cut: texts and activities can. */
export const fitted = (reader: Reader, threadId: string, pending: Pending, room: number): TimelineRow | undefined => {
  const { source } = pending;
  const isText = source !== undefined && source !== "output";
  if (isText && pending.weight > room) return cutText(reader, threadId, pending, source, room);
  const [row] = completeRows(reader, threadId, [pending]);
  if (row === undefined || sizeOf(row) <= room) return row;
  if (isText) return cutText(reader, threadId, pending, source, room);
  return row.kind === "activity" ? withoutLargest(row, room) : row;
};

/** Each try takes the share of the text that the one before says will fit, and a little less. */
const cutText = (
  reader: Reader,
  threadId: string,
  { entry, weight, complete }: Pending,
  source: Exclude<TextSource, "output">,
  room: number,
): TimelineRow => {
  let units = Math.min(weight, room);
  for (;;) {
    const row = complete(textHead(reader, threadId, source, entry.rowId, units));
    const size = sizeOf(row);
    if (size <= room || units === 0) return row;
    units = Math.floor(units * Math.min(0.9, room / size));
  }
};

type ActivityRow = Extract<TimelineRow, { readonly kind: "activity" }>;

/** From what is least missed on. */
const cuttable = ["output", "commandOutput", "input", "changes", "locations", "detail"] as const;

const withoutLargest = (row: ActivityRow, room: number): ActivityRow => {
  let kept = row;
  for (const field of cuttable) {
    if (kept[field] === undefined) continue;
    const { [field]: gone, ...rest } = kept;
    kept = { ...rest, cut: [...(kept.cut ?? []), { field, size: JSON.stringify(gone).length }] };
    if (sizeOf(kept) <= room) break;
  }
  return kept;
};
