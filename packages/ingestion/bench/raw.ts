/**
 * The limit for `ingestDeltas`: the rows that a run of it left in journal and log, written again by bare `node:sqlite` in
 * as many transactions as there were batches. Nothing is decoded, guarded, decided or turned into JSON.
 */
import type { Synchronous } from "@tributary/store";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { Timing } from "./load.ts";

interface Copy {
  readonly insert: StatementSync;
  readonly rows: ReadonlyArray<ReadonlyArray<SQLInputValue>>;
}

interface Target {
  readonly database: DatabaseSync;
  readonly copies: ReadonlyArray<Copy>;
}

const files = ["journal.db", "main.db"];

const open = (from: string, to: string, synchronous: Synchronous): Target => {
  const source = new DatabaseSync(from, { readOnly: true });
  const database = new DatabaseSync(to);
  // Tables are filled side by side: a row may come before the one it names.
  database.exec("PRAGMA foreign_keys = OFF");
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous.toUpperCase()}`);
  const schema = source
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC")
    .all();
  for (const { sql } of schema) database.exec(String(sql));
  const copies = schema.flatMap(({ type, name }): ReadonlyArray<Copy> => {
    if (type !== "table") return [];
    const rows = source
      .prepare(`SELECT * FROM "${String(name)}"`)
      .all()
      .map((row) => Object.values(row));
    const [first] = rows;
    if (first === undefined) return [];
    const values = first.map(() => "?").join(", ");
    return [{ rows, insert: database.prepare(`INSERT INTO "${String(name)}" VALUES (${values})`) }];
  });
  source.close();
  return { database, copies };
};

/** Writes the group-th of so many equal parts of every table. */
const writePart = ({ database, copies }: Target, group: number, groups: number): void => {
  database.exec("BEGIN IMMEDIATE");
  for (const { insert, rows } of copies) {
    const end = Math.floor(((group + 1) * rows.length) / groups);
    for (let at = Math.floor((group * rows.length) / groups); at < end; at += 1) insert.run(...(rows[at] ?? []));
  }
  database.exec("COMMIT");
};

/** `from` is the folder of a finished run, `dir` an empty one. */
export const rawDeltas = (options: {
  readonly from: string;
  readonly dir: string;
  readonly synchronous: Synchronous;
  readonly deltas: number;
  /** Deltas in a transaction. */
  readonly group: number;
}): Timing => {
  const { from, dir, synchronous, deltas } = options;
  const targets = files
    .filter((file) => existsSync(join(from, file)))
    .map((file) => open(join(from, file), join(dir, `raw-${file}`), synchronous));
  const groups = Math.ceil(deltas / options.group);
  const start = performance.now();
  for (let group = 0; group < groups; group += 1) for (const target of targets) writePart(target, group, groups);
  const seconds = (performance.now() - start) / 1_000;
  for (const { database } of targets) database.close();
  return { units: deltas, seconds };
};
