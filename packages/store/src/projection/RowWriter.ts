/** Writes folded row changes with prepared statements. Synchronous; to be called inside a transaction. */
import type { Cell, Connection, Prepared } from "../sqlite/Connection.ts";
import type { ColumnChange } from "./columns.ts";
import type { Fold, MergeFold, Stage } from "./fold.ts";
import type { TableSpec } from "./Projector.ts";
import { tableName, type TableSet } from "./tables.ts";

export interface RowWriter {
  readonly flush: (fold: Fold) => void;
}

const expression: { readonly [K in ColumnChange["kind"]]: (column: string) => string } = {
  set: (column) => `"${column}" = ?`,
  default: (column) => `"${column}" = COALESCE("${column}", ?)`,
  add: (column) => `"${column}" = COALESCE("${column}", ?) + ?`,
};

const where = (columns: ReadonlyArray<string>): string => columns.map((name) => `"${name}" = ?`).join(" AND ");

/** The statements of one table. Those for patches depend on which columns change how, so they are found by that. */
const makeTableWriter = (connection: Connection, set: TableSet, spec: TableSpec) => {
  const table = tableName(set, spec.name);
  const columns = spec.columns.map(([name]) => name);
  const known = new Set(columns);
  const rest = columns.slice(spec.key.length);
  const upsert = connection.prepare(
    `INSERT INTO ${table} (${columns.map((name) => `"${name}"`).join(", ")}) VALUES (${columns.map(() => "?").join(", ")}) ` +
      `ON CONFLICT (${spec.key.map((name) => `"${name}"`).join(", ")}) DO ` +
      (rest.length === 0 ? "NOTHING" : `UPDATE SET ${rest.map((name) => `"${name}" = excluded."${name}"`).join(", ")}`),
  );
  const byKey = where(spec.key);
  const patches = new Map<string, Prepared>();

  const put = (row: Readonly<Record<string, Cell>>): void => {
    for (const name in row) if (!known.has(name)) throw unknownColumn(spec, name);
    upsert.run(...columns.map((name) => row[name] ?? null));
  };

  const patch = (key: ReadonlyArray<Cell>, changes: ReadonlyMap<string, ColumnChange>): void => {
    if (changes.size === 0) return;
    let shape = "";
    const cells: Array<Cell> = [];
    for (const [name, change] of changes) {
      shape += `${name} ${change.kind},`;
      if (change.kind === "add") cells.push(change.base, change.amount);
      else cells.push(change.value);
    }
    let statement = patches.get(shape);
    if (statement === undefined) {
      for (const name of changes.keys()) if (!known.has(name)) throw unknownColumn(spec, name);
      const sets = [...changes].map(([name, { kind }]) => expression[kind](name));
      statement = connection.prepare(`UPDATE ${table} SET ${sets.join(", ")} WHERE ${byKey}`);
      if (patches.size >= 256) patches.clear();
      patches.set(shape, statement);
    }
    statement.run(...cells, ...key);
  };

  /** By how many key columns are named, from one to all. */
  const deletes = spec.key.map((_, index) =>
    connection.prepare(`DELETE FROM ${table} WHERE ${where(spec.key.slice(0, index + 1))}`),
  );
  const remove = (key: ReadonlyArray<Cell>): void => {
    deletes[key.length - 1]?.run(...key);
  };

  const last = spec.key.at(-1) ?? "";
  const prefix = spec.key.length > 1 ? where(spec.key.slice(0, -1)) : "TRUE";
  const absorbed = connection.prepare(`DELETE FROM ${table} WHERE ${prefix} AND "${last}" > ? AND "${last}" <= ?`);
  const merge = ({ key, column, limit }: MergeFold): void => {
    if (!known.has(column)) throw unknownColumn(spec, column);
    const rows = connection
      .prepare(`SELECT "${last}" AS part, "${column}" AS text FROM ${table} WHERE ${prefix} ORDER BY "${last}"`)
      .all(...key);
    for (const run of runsOf(rows, limit)) {
      connection.prepare(`UPDATE ${table} SET "${column}" = ? WHERE ${byKey}`).run(run.text, ...key, run.first);
      absorbed.run(...key, run.first, run.last);
    }
  };

  return (stage: Stage): void => {
    for (const key of stage.deletes.values()) remove(key);
    for (const fold of stage.rows.values()) {
      if (fold.kind === "put") put(fold.row);
      else if (fold.kind === "patch") patch(fold.key, fold.columns);
      else remove(fold.key);
    }
    for (const each of stage.merges.values()) merge(each);
  };
};

/** Rows that become one: from the first to the last of them, with their joined text. Single rows are left out. */
const runsOf = (rows: ReadonlyArray<Record<string, Cell>>, limit: number) => {
  const runs: Array<{ first: Cell; last: Cell; text: string; rows: number }> = [];
  for (const { part = null, text: cell } of rows) {
    const text = typeof cell === "string" ? cell : "";
    const run = runs.at(-1);
    if (run === undefined || run.text.length + text.length > limit)
      runs.push({ first: part, last: part, text, rows: 1 });
    else {
      run.last = part;
      run.text += text;
      run.rows += 1;
    }
  }
  return runs.filter((run) => run.rows > 1);
};

const unknownColumn = (spec: TableSpec, name: string): Error =>
  new TypeError(`projection table ${spec.name} has no column ${name}`);

export const makeRowWriter = (
  connection: Connection,
  set: TableSet,
  specs: ReadonlyMap<string, TableSpec>,
): RowWriter => {
  const writers = new Map([...specs].map(([name, spec]) => [name, makeTableWriter(connection, set, spec)] as const));
  return {
    flush: (fold) => {
      for (const [name, { stages }] of fold.tables) {
        const write = writers.get(name);
        if (write !== undefined) for (const stage of stages) write(stage);
      }
    },
  };
};
