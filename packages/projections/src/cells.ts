/** How values become SQLite cells and come back. */
import type { Cell } from "@tributary/store";

/**
 * SQLite keeps text as UTF-8, where a lone surrogate has no form, and its string functions stop at NUL. Free text must
 * come back as it went in (I4), so these code units are written as DLE and four hex digits, and DLE itself too. The
 * encoding of a concatenation is the concatenation of the encodings: chunks can be joined without being decoded.
 */
const DLE = "\u0010";
const NUL = "\u0000";
const unsafe = new RegExp(
  `[${NUL}${DLE}]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]`,
  "g",
);
const escaped = new RegExp(`${DLE}([0-9a-f]{4})`, "g");

/** A cell holds at most this many characters for one code unit of text. */
export const escapeWidth = 5;

export const textCell = (text: string): string =>
  text.isWellFormed() && !text.includes(DLE) && !text.includes(NUL)
    ? text
    : text.replace(unsafe, (unit) => DLE + unit.charCodeAt(0).toString(16).padStart(4, "0"));

/** The text of a cell, or of several joined ones. */
export const cellText = (cell: string): string =>
  cell.includes(DLE) ? cell.replace(escaped, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))) : cell;

/** JSON text escapes lone surrogates and control characters itself. */
export const jsonCell = (value: unknown): string | undefined =>
  value === undefined ? undefined : JSON.stringify(value);

/** A row or part of one, before its absent fields are left out. */
export type Cells = Readonly<Record<string, Cell | undefined>>;

/** Leaves out what is absent. */
export const present = (cells: Cells): Record<string, Cell> => {
  const row: Record<string, Cell> = {};
  for (const name in cells) {
    const cell = cells[name];
    if (cell !== undefined) row[name] = cell;
  }
  return row;
};

/** A row as `RowReader` gives it. */
export type Row = Readonly<Record<string, Cell>>;

/** Thrown when a row is not as the projector wrote it: rebuild the projections (`tributary rebuild`). */
const malformed = (column: string, cell: Cell | undefined): Error =>
  new Error(
    `projection column "${column}" holds ${cell === undefined ? "nothing" : typeof cell}; rebuild the projections`,
  );

export const stringOf = (row: Row, column: string): string => {
  const cell = row[column];
  if (typeof cell !== "string") throw malformed(column, cell);
  return cell;
};

export const optString = (row: Row, column: string): string | undefined => {
  const cell = row[column];
  return typeof cell === "string" ? cell : undefined;
};

export const optText = (row: Row, column: string): string | undefined => {
  const cell = row[column];
  return typeof cell === "string" ? cellText(cell) : undefined;
};

export const numberOf = (row: Row, column: string): number => {
  const cell = row[column];
  if (typeof cell !== "number") throw malformed(column, cell);
  return cell;
};

export const optNumber = (row: Row, column: string): number | undefined => {
  const cell = row[column];
  return typeof cell === "number" ? cell : undefined;
};

/** The value of a JSON column. It is what this package wrote, so its type is taken on trust. */
export const optJson = <A>(row: Row, column: string): A | undefined => {
  const cell = row[column];
  return typeof cell === "string" ? (JSON.parse(cell) as A) : undefined;
};

export const jsonOf = <A>(row: Row, column: string): A => JSON.parse(stringOf(row, column)) as A;

/** A column that only ever holds members of a closed set. */
export const literalOf = <A extends string>(row: Row, column: string): A => stringOf(row, column) as A;

type AbsentKeys<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];
type Compact<T> = { [K in Exclude<keyof T, AbsentKeys<T>>]: T[K] } & {
  [K in AbsentKeys<T>]?: Exclude<T[K], undefined>;
};

/** The object without its absent fields: what is not known is not there. */
export const compact = <T extends object>(value: T): Compact<T> => {
  const result: Partial<T> = {};
  for (const name in value) if (value[name] !== undefined) result[name] = value[name];
  // What is missing from `T` is what may be.
  return result as Compact<T>;
};
