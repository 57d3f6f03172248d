/** Making a row that is larger than a whole page fit: what is left out is named, and has its own query. */
import type { TimelineRow } from "@tributary/contracts";

/** Bytes of a value as JSON in UTF-8. */
export const sizeOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));

type Complete = (units?: number) => TimelineRow;

/** A row completed so that it takes at most `room` bytes, if its kind can be cut. `weight` as in `Pending`. */
export const fitted = (complete: Complete, weight: number, room: number): TimelineRow => {
  if (weight > room) return withText(complete, room, room);
  const row = complete();
  if (sizeOf(row) <= room) return row;
  if (row.kind === "activity") return withoutLargest(row, room);
  return row.kind === "message" || row.kind === "reasoning" ? withText(complete, row.text.length, room) : row;
};

/** Each try takes the share of the text that the one before says will fit, and a little less. */
const withText = (complete: Complete, most: number, room: number): TimelineRow => {
  let units = most;
  for (;;) {
    const row = complete(units);
    const size = sizeOf(row);
    if (size <= room || units === 0) return row;
    units = Math.floor(units * Math.min(0.9, room / size));
  }
};

type ActivityRow = Extract<TimelineRow, { readonly kind: "activity" }>;

/** From what is least missed on: the whole is served by the item's own query. */
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
