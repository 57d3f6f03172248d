/**
 * The rows of a thread by position, immutable, in chunks: a change copies one chunk and the list of chunks, never all rows
 * (a thread may have a hundred thousand). Rows that did not change keep their identity.
 */
import type { TimelineRow } from "@tributary/contracts";

/** `input` is a person's message: its row id is an input's. */
export type RowKind = "input" | TimelineRow["kind"];
type RowKey = `${RowKind} ${string}`;

export interface Timeline {
  readonly chunks: ReadonlyArray<ReadonlyArray<TimelineRow>>;
  /**
   * Where each row that ever was stands: positions belong to the thread, not to one state of it, so all states share
   * this map and each checks what it finds.
   */
  readonly places: Map<RowKey, ReadonlyArray<number>>;
}

/** Rows a chunk. */
const chunkSize = 64;

export const keyOf = (kind: RowKind, rowId: string): RowKey => `${kind} ${rowId}`;
export const kindOf = (row: TimelineRow): RowKind =>
  row.kind === "message" && row.role === "user" ? "input" : row.kind;

const place = (places: Timeline["places"], row: TimelineRow): void => {
  const key = keyOf(kindOf(row), row.rowId);
  const known = places.get(key);
  if (known === undefined) places.set(key, [row.position]);
  else if (!known.includes(row.position)) places.set(key, [...known, row.position]);
};

const cut = (rows: ReadonlyArray<TimelineRow>): Timeline["chunks"] => {
  const chunks: Array<ReadonlyArray<TimelineRow>> = [];
  for (let from = 0; from < rows.length; from += chunkSize) chunks.push(rows.slice(from, from + chunkSize));
  return chunks;
};

/** Rows in the order of position. */
export const timelineOf = (rows: ReadonlyArray<TimelineRow>): Timeline => {
  const places: Timeline["places"] = new Map();
  for (const row of rows) place(places, row);
  return { chunks: cut(rows), places };
};

/** The number of elements, of those ordered by `position`, that are at or before one. */
const upTo = <A>(of: ReadonlyArray<A>, position: number, positionOf: (a: A) => number): number => {
  let low = 0;
  let high = of.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (positionOf(of[middle] as A) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
};

const firstOf = (chunk: ReadonlyArray<TimelineRow>): number => chunk[0]?.position ?? 0;

/** Chunk and index of the last row at or before a position; the index is -1 before all rows. */
const locate = ({ chunks }: Timeline, position: number): readonly [chunk: number, index: number] => {
  const chunk = Math.max(0, upTo(chunks, position, firstOf) - 1);
  return [chunk, upTo(chunks[chunk] ?? [], position, (row) => row.position) - 1];
};

const at = (timeline: Timeline, position: number): TimelineRow | undefined => {
  const [chunk, index] = locate(timeline, position);
  const row = timeline.chunks[chunk]?.[index];
  return row?.position === position ? row : undefined;
};

export const find = (timeline: Timeline, kind: RowKind, rowId: string): TimelineRow | undefined => {
  for (const position of timeline.places.get(keyOf(kind, rowId)) ?? []) {
    const row = at(timeline, position);
    if (row !== undefined && row.rowId === rowId && kindOf(row) === kind) return row;
  }
  return undefined;
};

const withChunk = (timeline: Timeline, index: number, ...chunks: Timeline["chunks"]): Timeline => ({
  ...timeline,
  chunks: timeline.chunks.toSpliced(index, 1, ...chunks),
});

/** Puts a changed row in the place of the one at its position. */
export const replace = (timeline: Timeline, row: TimelineRow): Timeline => {
  const [chunk, index] = locate(timeline, row.position);
  return withChunk(timeline, chunk, (timeline.chunks[chunk] ?? []).with(index, row));
};

export const remove = (timeline: Timeline, row: TimelineRow): Timeline => {
  const [chunk, index] = locate(timeline, row.position);
  const rest = (timeline.chunks[chunk] ?? []).toSpliced(index, 1);
  return rest.length === 0 ? withChunk(timeline, chunk) : withChunk(timeline, chunk, rest);
};

/** Adds a row where its position says. One that is there under another position goes. */
export const put = (timeline: Timeline, row: TimelineRow): Timeline => {
  const before = find(timeline, kindOf(row), row.rowId);
  if (before !== undefined) return put(remove(timeline, before), row);
  place(timeline.places, row);
  if (timeline.chunks.length === 0) return { ...timeline, chunks: [[row]] };
  const [chunk, index] = locate(timeline, row.position);
  const rows = timeline.chunks[chunk] ?? [];
  const isLast = chunk === timeline.chunks.length - 1 && index === rows.length - 1;
  if (isLast && rows.length >= chunkSize) return { ...timeline, chunks: [...timeline.chunks, [row]] };
  return withChunk(timeline, chunk, ...cut2(rows.toSpliced(index + 1, 0, row)));
};

/** Rows inserted in the middle let a chunk grow: it is halved before it becomes large. */
const cut2 = (rows: ReadonlyArray<TimelineRow>): Timeline["chunks"] =>
  rows.length > 2 * chunkSize ? [rows.slice(0, chunkSize), rows.slice(chunkSize)] : [rows];

/** Older rows before those that are there. */
export const prepend = (timeline: Timeline, rows: ReadonlyArray<TimelineRow>): Timeline => {
  for (const row of rows) place(timeline.places, row);
  return { ...timeline, chunks: [...cut(rows), ...timeline.chunks] };
};

export const oldest = ({ chunks }: Timeline): TimelineRow | undefined => chunks[0]?.[0];

/** From the newest to the oldest. */
export function* backward({ chunks }: Timeline): Generator<TimelineRow> {
  for (let chunk = chunks.length - 1; chunk >= 0; chunk -= 1) {
    const rows = chunks[chunk] ?? [];
    for (let index = rows.length - 1; index >= 0; index -= 1) yield rows[index] as TimelineRow;
  }
}

/** All rows; `shown` may stand in for some, by position. */
export const flat = (timeline: Timeline, shown: ReadonlyMap<number, TimelineRow> = new Map()): Array<TimelineRow> => {
  const rows = timeline.chunks.flat();
  for (const [position, row] of shown) rows[upTo(rows, position, ({ position: p }) => p) - 1] = row;
  return rows;
};
