/**
 * The limit for `storeCommands`: the rows that a run of it left, written again by bare `node:sqlite` in groups of as many
 * commands. Nothing is decided, checked, turned into JSON or told to anybody; rows that the store wrote more than once
 * (states, patched rows) are written once here.
 */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { join } from "node:path";
import type { Synchronous } from "@tributary/store";
import type { Timing } from "./load.ts";

type Row = ReadonlyArray<SQLInputValue>;

interface Table {
  readonly name: string;
  readonly rows: ReadonlyArray<Row>;
  readonly width: number;
}

const tablesOf = (
  source: DatabaseSync,
): { readonly schema: ReadonlyArray<string>; readonly tables: ReadonlyArray<Table> } => {
  const schema = source.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC").all();
  const names = source
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all();
  return {
    schema: schema.map((row) => String(row["sql"])),
    tables: names.flatMap(({ name }) => {
      const statement = source.prepare(`SELECT * FROM "${String(name)}"`);
      const width = statement.columns().length;
      const rows = statement.all().map((row) => Object.values(row));
      return rows.length === 0 ? [] : [{ name: String(name), rows, width }];
    }),
  };
};

/** `from` is the folder of a finished run of `storeCommands`, `dir` an empty one. */
export const rawCommands = (options: {
  readonly from: string;
  readonly dir: string;
  readonly synchronous: Synchronous;
  readonly commands: number;
  readonly group: number;
}): Timing => {
  const source = new DatabaseSync(join(options.from, "main.db"), { readOnly: true });
  const { schema, tables } = tablesOf(source);
  source.close();
  const target = new DatabaseSync(join(options.dir, "raw.db"));
  try {
    target.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${options.synchronous.toUpperCase()}`);
    for (const sql of schema) target.exec(sql);
    const inserts = tables.map(({ name, rows, width }) => ({
      rows,
      statement: target.prepare(
        `INSERT INTO "${name}" VALUES (${Array.from({ length: width }, () => "?").join(", ")})`,
      ),
    }));
    const begin = target.prepare("BEGIN IMMEDIATE");
    const commit = target.prepare("COMMIT");
    const groups = Math.ceil(options.commands / options.group);
    const start = performance.now();
    for (let group = 0; group < groups; group += 1) {
      begin.run();
      for (const { rows, statement } of inserts) {
        const end = Math.floor((rows.length * (group + 1)) / groups);
        for (let row = Math.floor((rows.length * group) / groups); row < end; row += 1)
          statement.run(...(rows[row] ?? []));
      }
      commit.run();
    }
    return { units: options.commands, seconds: (performance.now() - start) / 1_000 };
  } finally {
    target.close();
  }
};
