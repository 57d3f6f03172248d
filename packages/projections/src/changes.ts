/** Row changes, and the parts that the projector is put together from. */
import type { DomainEventType, StoredEventOf } from "@tributary/contracts";
import type { RowChange, TableSpec } from "@tributary/store";
import { present, type Cells, type Row } from "./cells.ts";

export const put = (table: string, row: Cells): RowChange => ({ op: "put", table, row: present(row) });

export const patch = (
  table: string,
  key: Row,
  set: Cells,
  more: { readonly add?: Readonly<Record<string, number>>; readonly setIfNull?: Cells } = {},
): RowChange => ({
  op: "patch",
  table,
  key,
  set: present(set),
  ...(more.add === undefined ? {} : { add: more.add }),
  ...(more.setIfNull === undefined ? {} : { setIfNull: present(more.setIfNull) }),
});

export const remove = (table: string, key: Row): RowChange => ({ op: "delete", table, key });

/** What events of some types change. At most a handful of rows each, however long the thread is (I12). */
export type Handlers = {
  readonly [T in DomainEventType]?: (event: StoredEventOf<T>) => ReadonlyArray<RowChange>;
};

/** One concept: its tables, and what events do to them. */
export interface Part {
  readonly tables: ReadonlyArray<TableSpec>;
  readonly on: Handlers;
}
