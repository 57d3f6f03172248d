/** The port through which projections get their events: the store writes their rows in the events' own transaction. */
import type { StoredEvent } from "@tributary/contracts";
import { Context } from "effect";
import type { Cell } from "../sqlite/Connection.ts";

/** One table of a projection. Rebuild makes a shadow of it under another name and swaps. */
export interface TableSpec {
  /** Without prefix; lower_snake. */
  readonly name: string;
  /** `column definition`, in order; the first `key` of them are the primary key. */
  readonly columns: ReadonlyArray<readonly [name: string, definition: string]>;
  readonly key: ReadonlyArray<string>;
  /** Column lists, each optionally with a partial-index condition. */
  readonly indexes?: ReadonlyArray<{
    readonly name: string;
    readonly columns: ReadonlyArray<string>;
    readonly where?: string;
    readonly unique?: boolean;
  }>;
  readonly withoutRowid?: boolean;
}

/** What an event changes in rows: by key, never by listing. Changes of one group to one row are folded before they are written. */
export type RowChange =
  /** Inserts, or replaces all columns (missing ones become NULL). */
  | { readonly op: "put"; readonly table: string; readonly row: Readonly<Record<string, Cell>> }
  /** Changes some columns of an existing row, and adds to numeric ones (NULL counts as 0); no row, no effect. */
  | {
      readonly op: "patch";
      readonly table: string;
      readonly key: Readonly<Record<string, Cell>>;
      readonly set?: Readonly<Record<string, Cell>>;
      readonly add?: Readonly<Record<string, number>>;
      /** Sets a column only where it is NULL. */
      readonly setIfNull?: Readonly<Record<string, Cell>>;
    }
  /** `key` may be a prefix of the primary key: all rows under it go (chunks of one message). */
  | { readonly op: "delete"; readonly table: string; readonly key: Readonly<Record<string, Cell>> }
  /**
   * Joins the rows under a prefix of the primary key, greedily in key order: the text `column` of each row is appended
   * to the row before it, and the row deleted, as long as the joined text stays within `limit` UTF-16 code units. What
   * the same group changed under that prefix before is written first. Reads those rows: once per ended message.
   * The prefix is all of the key but its last column.
   */
  | {
      readonly op: "merge";
      readonly table: string;
      readonly key: Readonly<Record<string, Cell>>;
      readonly column: string;
      readonly limit: number;
    };

/** A pure projector: rows from events. Given to the store, which writes them in the events' own transaction. */
export interface Projector {
  readonly tables: ReadonlyArray<TableSpec>;
  /** Raise when rows would come out differently: the store rebuilds at start. */
  readonly version: number;
  /**
   * After `thread.purged` no row of that thread may be left: its other events are only tombstones from then on, which
   * a rebuild does not see (I14).
   */
  readonly project: (event: StoredEvent) => ReadonlyArray<RowChange>;
}

/** The projector that the writer folds events into. */
export class Projection extends Context.Service<Projection, Projector>()("tributary/store/Projection") {}
