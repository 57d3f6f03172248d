/** Projection rows in a database of their own: row changes written per group as the port says, and a `RowReader`. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { StoredEvent } from "@tributary/contracts";
import type { Cell, RowChange, TableSpec } from "@tributary/store";
import { projector } from "../src/projector.ts";
import type { Reader } from "../src/queries/reader.ts";

export interface Harness {
  readonly reader: Reader;
  /** Projects the events and writes what they change as one group. */
  readonly apply: (events: ReadonlyArray<StoredEvent>) => void;
  /** Every row of every table, for comparing whole projections. */
  readonly dump: () => Record<string, ReadonlyArray<Record<string, Cell>>>;
  /** The SQL of every statement that was read with, as SQLite gets it. */
  readonly statements: () => ReadonlyArray<string>;
  readonly database: DatabaseSync;
}

const specs = new Map(projector.tables.map((spec) => [spec.name, spec]));

export const makeHarness = (path = ":memory:"): Harness => {
  const database = new DatabaseSync(path);
  for (const spec of projector.tables) database.exec(createTable(spec));
  const prepared = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    let found = prepared.get(sql);
    if (found === undefined) prepared.set(sql, (found = database.prepare(sql)));
    return found;
  };
  const queries = new Map<string, string>();
  const query = (sql: string): StatementSync => {
    let real = queries.get(sql);
    if (real === undefined) queries.set(sql, (real = sql.replaceAll(/\{(\w+)\}/g, "p_$1")));
    return statement(real);
  };
  let sequence = 0;
  const reader: Reader = {
    all: (sql, ...parameters) => query(sql).all(...parameters) as Array<Record<string, Cell>>,
    get: (sql, ...parameters) => query(sql).get(...parameters) as Record<string, Cell> | undefined,
    snapshot: (read) => read(sequence),
  };

  const put = (spec: TableSpec, row: Readonly<Record<string, Cell>>): void => {
    const names = spec.columns.map(([name]) => name);
    const unknown = Object.keys(row).filter((name) => !names.includes(name));
    if (unknown.length > 0) throw new Error(`${spec.name} has no ${unknown.join(", ")}`);
    statement(`INSERT OR REPLACE INTO p_${spec.name} (${list(names)}) VALUES (${names.map(() => "?").join()})`).run(
      ...names.map((name) => row[name] ?? null),
    );
  };
  const apply = (change: RowChange): void => {
    const spec = specs.get(change.table);
    if (spec === undefined) throw new Error(`no table ${change.table}`);
    if (change.op === "put") return put(spec, change.row);
    const key = Object.keys(change.key);
    const values = Object.values(change.key);
    if (change.op === "delete") {
      statement(`DELETE FROM p_${spec.name} WHERE ${where(key)}`).run(...values);
      return;
    }
    const order = spec.key[key.length];
    if (change.op === "merge") {
      if (order === undefined) throw new Error("merge takes a prefix of the key");
      const rows = statement(`SELECT * FROM p_${spec.name} WHERE ${where(key)} ORDER BY "${order}"`).all(...values);
      apply({ op: "delete", table: spec.name, key: change.key });
      let last: Record<string, Cell> | undefined;
      for (const row of rows as Array<Record<string, Cell>>) {
        const joined = `${last?.[change.column] ?? ""}${row[change.column] ?? ""}`;
        if (last === undefined || joined.length > change.limit) {
          if (last !== undefined) put(spec, last);
          last = { ...row };
        } else last[change.column] = joined;
      }
      if (last !== undefined) put(spec, last);
      return;
    }
    if (key.length !== spec.key.length) throw new Error(`patch of ${spec.name} without its whole key`);
    const set = [
      ...Object.entries(change.set ?? {}).map(([name, cell]) => [`"${name}" = ?`, cell] as const),
      ...Object.entries(change.add ?? {}).map(([name, by]) => [`"${name}" = coalesce("${name}", 0) + ?`, by] as const),
      ...Object.entries(change.setIfNull ?? {}).map(
        ([name, cell]) => [`"${name}" = coalesce("${name}", ?)`, cell] as const,
      ),
    ];
    if (set.length === 0) return;
    statement(`UPDATE p_${spec.name} SET ${set.map(([sql]) => sql).join()} WHERE ${where(key)}`).run(
      ...set.map(([, cell]) => cell),
      ...values,
    );
  };
  return {
    reader,
    database,
    apply: (events) => {
      database.exec("BEGIN");
      for (const event of events) {
        for (const change of projector.project(event)) apply(change);
        sequence = event.sequence;
      }
      database.exec("COMMIT");
    },
    dump: () =>
      Object.fromEntries(
        [...specs.values()].map((spec) => [
          spec.name,
          statement(`SELECT * FROM p_${spec.name} ORDER BY ${list(spec.key)}`).all() as Array<Record<string, Cell>>,
        ]),
      ),
    statements: () => [...queries.values()],
  };
};

const list = (names: ReadonlyArray<string>): string => names.map((name) => `"${name}"`).join(", ");
const where = (names: ReadonlyArray<string>): string => names.map((name) => `"${name}" = ?`).join(" AND ");

const createTable = (spec: TableSpec): string => {
  const columns = spec.columns.map(([name, definition]) => `"${name}" ${definition}`).join(", ");
  const indexes = (spec.indexes ?? []).map(
    (index) =>
      `CREATE ${index.unique === true ? "UNIQUE " : ""}INDEX "${spec.name}_${index.name}" ON p_${spec.name} (${list(index.columns)})` +
      (index.where === undefined ? "" : ` WHERE ${index.where}`),
  );
  return [
    `CREATE TABLE p_${spec.name} (${columns}, PRIMARY KEY (${list(spec.key)}))${spec.withoutRowid === true ? " WITHOUT ROWID" : ""}`,
    ...indexes,
  ].join(";");
};
