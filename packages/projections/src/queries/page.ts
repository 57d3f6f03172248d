/**
 * Pages of a thread's timeline: whole turns as long as they fit, rows of one turn when it does not. Pages are cut by
 * position, which never changes, so going through a thread in either direction shows each row once, also while the
 * thread grows.
 */
import type { TimelineRow } from "@tributary/contracts";
import { numberOf } from "../cells.ts";
import { fitted, sizeOf } from "./fit.ts";
import type { Reader } from "./reader.ts";
import { completeRows, entryColumns, entryOf, pendingRows, type Entry, type Pending } from "./rows.ts";

export interface PageLimits {
  /** Of the rows as JSON in UTF-8. One row is given even when it alone is larger and cannot be cut. */
  readonly maxBytes: number;
  readonly maxTurns: number;
}

export const defaultPageLimits: PageLimits = { maxBytes: 131_072, maxTurns: 20 };

/** Rows of one page at most, so that a thread of tiny rows does not make one page slow. */
const maxRows = 400;

/** Where a page begins, exclusive: going back from `before`, or on from `after`. */
export type PageFrom = { readonly before: number } | { readonly after: number };

export const newest: PageFrom = { before: Number.MAX_SAFE_INTEGER };

export interface RowsPage {
  /** By rising position. */
  readonly rows: ReadonlyArray<TimelineRow>;
  /** Position to go back from, when there are older rows. */
  readonly before: number | undefined;
  /** Position to go on from, when there are newer rows. */
  readonly after: number | undefined;
}

export const readPage = (reader: Reader, threadId: string, from: PageFrom, limits: PageLimits): RowsPage => {
  const read = collect(reader, threadId, from, limits);
  const rows = "before" in from ? read.toReversed() : read;
  const oldest = rows[0]?.position;
  const last = rows.at(-1)?.position;
  const older = oldest === undefined ? undefined : reader.get(olderThan, threadId, oldest);
  const newer = last === undefined || from === newest ? undefined : reader.get(newerThan, threadId, last);
  return {
    rows,
    before: older === undefined ? undefined : oldest,
    after: newer === undefined ? undefined : last,
  };
};

const backward = `SELECT ${entryColumns} FROM {timeline} WHERE thread_id = ? AND position < ? ORDER BY position DESC LIMIT ?`;
const forward = `SELECT ${entryColumns} FROM {timeline} WHERE thread_id = ? AND position > ? ORDER BY position LIMIT ?`;
const olderThan = "SELECT position FROM {timeline} WHERE thread_id = ? AND position < ? LIMIT 1";
const newerThan = "SELECT position FROM {timeline} WHERE thread_id = ? AND position > ? LIMIT 1";

/** The rows of a page in the direction of reading. */
const collect = (reader: Reader, threadId: string, from: PageFrom, limits: PageLimits): ReadonlyArray<TimelineRow> => {
  const rows: Array<TimelineRow> = [];
  const turns = new Set<string>();
  let bytes = 0;
  /** Up to here only whole turns. */
  let whole = 0;
  // A row that does not fit ends the page: with the turns before it, or, inside the first turn, just before it.
  const cut = (): ReadonlyArray<TimelineRow> => (whole > 0 ? rows.slice(0, whole) : rows);

  for (const batch of batches(reader, threadId, from, () => expected(rows.length, bytes, limits.maxBytes))) {
    const pending = pendingRows(reader, threadId, batch);
    const fitting = pending.slice(0, fittingCount(pending, limits.maxBytes - bytes));
    const completed = completeRows(reader, threadId, fitting);
    for (const [index, each] of pending.entries()) {
      const { turnId } = each.entry;
      if (turnId !== undefined && !turns.has(turnId)) {
        if (turns.size > 0) whole = rows.length;
        if (turns.size === limits.maxTurns) return rows;
        turns.add(turnId);
      }
      const room = limits.maxBytes - bytes;
      const row = completed[index] ?? (rows.length === 0 ? fitted(reader, threadId, each, room) : undefined);
      if (row === undefined || rows.length === maxRows) return cut();
      const size = sizeOf(row);
      if (size > room) {
        if (rows.length > 0) return cut();
        return [fitted(reader, threadId, each, room) ?? row];
      }
      rows.push(row);
      bytes += size;
    }
  }
  return rows;
};

/** How many of these rows may fit, by their weights: the texts of others are not read. */
const fittingCount = (rows: ReadonlyArray<Pending>, room: number): number => {
  let weight = 0;
  const over = rows.findIndex((row) => (weight += row.weight) > room);
  return over === -1 ? rows.length : over;
};

const firstBatch = 24;
const largestBatch = 128;

/** How many more rows are likely to fit: what is read and not shown costs as much as what is. */
const expected = (rows: number, bytes: number, maxBytes: number): number =>
  rows === 0 ? firstBatch : Math.min(largestBatch, Math.max(8, Math.ceil(((maxBytes - bytes) * rows) / bytes)));

function* batches(
  reader: Reader,
  threadId: string,
  from: PageFrom,
  size: () => number,
): Generator<ReadonlyArray<Entry>> {
  const sql = "before" in from ? backward : forward;
  let position = "before" in from ? from.before : from.after;
  for (;;) {
    const limit = size();
    const found = reader.all(sql, threadId, position, limit);
    const last = found.at(-1);
    if (last === undefined) return;
    yield found.map(entryOf);
    if (found.length < limit) return;
    position = numberOf(last, "position");
  }
}
