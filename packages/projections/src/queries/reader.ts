/** Reading rows of several keys with one statement. */
import type { RowReader } from "@tributary/store";
import { stringOf, type Row } from "../cells.ts";

export type Reader = RowReader["Service"];

/** The parameter that `json_each` turns into rows of keys. */
export const keys = (ids: ReadonlyArray<string>): string => JSON.stringify(ids);

export const groupBy = (rows: ReadonlyArray<Row>, column: string): ReadonlyMap<string, ReadonlyArray<Row>> =>
  Map.groupBy(rows, (row) => stringOf(row, column));

export const indexBy = (rows: ReadonlyArray<Row>, column: string): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => [stringOf(row, column), row]));
