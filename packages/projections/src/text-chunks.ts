/**
 * Long text as rows of pieces: appending to one growing column would be quadratic. The key of a piece is the offset it
 * begins at; pieces are joined when their text ends, up to a size that a page can still cut cheaply.
 */
import type { RowChange, TableSpec } from "@tributary/store";
import { textCell, type Row } from "./cells.ts";
import { put } from "./changes.ts";

/** UTF-16 code units (as written in a cell) up to which pieces of an ended text are joined. */
export const joinedLimit = 65_536;

/** `order` numbers the pieces: the offset in UTF-16 code units, or a sequence where offsets are not known. */
export const chunkTable = (name: string, id: string, order: "offset" | "sequence"): TableSpec => ({
  name,
  columns: [
    ["thread_id", "TEXT NOT NULL"],
    [id, "TEXT NOT NULL"],
    [order, "INTEGER NOT NULL"],
    ["text", "TEXT NOT NULL"],
  ],
  key: ["thread_id", id, order],
});

export const chunk = (table: string, key: Row, text: string): ReadonlyArray<RowChange> =>
  text === "" ? [] : [put(table, { ...key, text: textCell(text) })];

/** A whole text as pieces from offset 0. */
export const wholeText = (table: string, key: Row, text: string): ReadonlyArray<RowChange> => {
  const changes: Array<RowChange> = [];
  for (let offset = 0; offset < text.length;) {
    const piece = headOf(text, offset, joinedLimit);
    changes.push(...chunk(table, { ...key, offset }, piece));
    offset += piece.length;
  }
  return changes;
};

export const join = (table: string, key: Row): RowChange => ({
  op: "merge",
  table,
  key,
  column: "text",
  limit: joinedLimit,
});

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** At most `units` code units from `start`, never ending inside a surrogate pair (unless `units` is 1). */
export const headOf = (text: string, start: number, units: number): string => {
  const end = start + units;
  if (end >= text.length) return start === 0 ? text : text.slice(start);
  const splits = isHigh(text.charCodeAt(end - 1)) && isLow(text.charCodeAt(end));
  return text.slice(start, splits && units > 1 ? end - 1 : end);
};
