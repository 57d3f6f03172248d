/**
 * Rebuilds a projection from the log (I14): the events are run through the projector into shadow tables, a slice a
 * transaction, in turn with the writer's groups. Events that arrive meanwhile are simply more of the log; the swap happens
 * in the transaction that finds nothing left, so none is lost and nobody waits.
 */
import { Effect } from "effect";
import { hash } from "node:crypto";
import { columns, eventOf, isKnown } from "../events/rows.ts";
import { readMeta, writeMeta } from "../schema/meta.ts";
import type { Connection } from "../sqlite/Connection.ts";
import type { StoreError } from "../StoreError.ts";
import type { RunSql } from "../writer/Writer.ts";
import { Fold } from "./fold.ts";
import type { Projector, TableSpec } from "./Projector.ts";
import { makeRowWriter, type RowWriter } from "./RowWriter.ts";
import { createIndexes, createTable, dropTables, swapTables, tableName } from "./tables.ts";

export interface ProjectionTables {
  readonly projector: Projector;
  readonly specs: ReadonlyMap<string, TableSpec>;
}

/** How much of the log one transaction of a rebuild takes. Larger slices fold more changes into one. */
export interface Slice {
  readonly events: number;
  /** Reading and projecting end after this time; writing takes about as long again. */
  readonly milliseconds: number;
}

/** While others write, they wait for no more than a group takes. */
export const besideWriters: Slice = { events: 2_000, milliseconds: 4 };
export const alone: Slice = { events: 5_000, milliseconds: Infinity };

/** What the live tables were made by: the projector's version and its tables. */
const fingerprintOf = ({ projector }: ProjectionTables): string =>
  `${projector.version}:${hash("sha256", JSON.stringify(projector.tables), "base64url")}`;

export const isCurrent = (connection: Connection, tables: ProjectionTables): boolean =>
  readMeta(connection, "projection") === fingerprintOf(tables);

const nextBuild = (connection: Connection): number => {
  const build = Number(readMeta(connection, "projection_build") ?? 0) + 1;
  writeMeta(connection, "projection_build", String(build));
  return build;
};

/** Makes the tables of an empty log. To be called inside a transaction. */
export const createLive = (connection: Connection, tables: ProjectionTables): void => {
  const build = nextBuild(connection);
  for (const spec of tables.specs.values()) {
    createTable(connection, "live", spec);
    createIndexes(connection, "live", spec, build);
  }
  writeMeta(connection, "projection", fingerprintOf(tables));
};

/** Projects the next events into the shadow tables. Returns the last sequence, and whether it was the log's last. */
const project = (
  connection: Connection,
  tables: ProjectionTables,
  writer: RowWriter,
  after: number,
  slice: Slice,
): { readonly at: number; readonly isLast: boolean } => {
  const rows = connection
    .prepare(`SELECT ${columns.join(", ")} FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?`)
    .iterateValues(after, slice.events);
  const fold = new Fold(tables.specs);
  const started = performance.now();
  let at = after;
  let events = 0;
  let isCut = false;
  for (const row of rows) {
    const event = eventOf(row);
    if (isKnown(event)) for (const change of tables.projector.project(event)) fold.add(change);
    at = event.sequence;
    events += 1;
    isCut = events % 32 === 0 && performance.now() - started > slice.milliseconds;
    if (isCut) break;
  }
  writer.flush(fold);
  return { at, isLast: !isCut && events < slice.events };
};

/**
 * Fills shadow tables from the whole log, then runs `finish` in the transaction in which they have caught up with it.
 */
export const withShadow = <A>(
  runSql: RunSql,
  tables: ProjectionTables,
  slice: Slice,
  finish: (connection: Connection) => A,
): Effect.Effect<A, StoreError> =>
  Effect.gen(function* () {
    const { build, writer } = yield* runSql((connection) => {
      dropTables(connection, "shadow");
      for (const spec of tables.specs.values()) createTable(connection, "shadow", spec);
      return { build: nextBuild(connection), writer: makeRowWriter(connection, "shadow", tables.specs) };
    });
    let at = 0;
    const step = (connection: Connection): boolean => {
      const done = project(connection, tables, writer, at, slice);
      at = done.at;
      return done.isLast;
    };
    while (!(yield* runSql(step)));
    for (const spec of tables.specs.values()) {
      yield* runSql((connection) => createIndexes(connection, "shadow", spec, build));
    }
    for (;;) {
      const result = yield* runSql((connection) => (step(connection) ? { value: finish(connection) } : undefined));
      if (result !== undefined) return result.value;
    }
  });

/** Rebuilds the live tables. */
export const rebuild = (runSql: RunSql, tables: ProjectionTables, slice: Slice): Effect.Effect<void, StoreError> =>
  withShadow(runSql, tables, slice, (connection) => {
    swapTables(connection, tables.specs.values());
    writeMeta(connection, "projection", fingerprintOf(tables));
  });

/** A row that the live table and the rebuilt one do not share. */
export interface Difference {
  readonly table: string;
  readonly only: "live" | "rebuilt";
  readonly row: Readonly<Record<string, unknown>>;
}

const shownPerTable = 10;

/** Where a rebuild would come out differently from what is there: nothing, if all is well (I14). */
export const diff = (
  runSql: RunSql,
  tables: ProjectionTables,
  slice: Slice,
): Effect.Effect<ReadonlyArray<Difference>, StoreError> =>
  withShadow(runSql, tables, slice, (connection) => {
    const differences = [...tables.specs.keys()].flatMap((table) => [
      ...missing(connection, table, "live"),
      ...missing(connection, table, "rebuilt"),
    ]);
    dropTables(connection, "shadow");
    return differences;
  });

const missing = (connection: Connection, table: string, only: "live" | "rebuilt"): ReadonlyArray<Difference> => {
  const live = tableName("live", table);
  const rebuilt = tableName("shadow", table);
  const [from, other] = only === "live" ? [live, rebuilt] : [rebuilt, live];
  return connection
    .prepare(`SELECT * FROM ${from} EXCEPT SELECT * FROM ${other} LIMIT ${shownPerTable}`)
    .all()
    .map((row) => ({ table, only, row: { ...row } }));
};
