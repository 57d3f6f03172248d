/** The tables of a projection: names, making, dropping, and the swap of a rebuilt set for the live one. */
import type { Connection } from "../sqlite/Connection.ts";
import type { TableSpec } from "./Projector.ts";

/** `live` is what readers see; `shadow` is what a rebuild fills. */
export type TableSet = "live" | "shadow";

const prefix = { live: "p_", shadow: "s_" } as const;

export const tableName = (set: TableSet, name: string): string => `${prefix[set]}${name}`;

const identifier = /^[a-z][a-z0-9_]*$/;

/** Names go into SQL as they are, so they are checked first. */
export const checkSpecs = (specs: ReadonlyArray<TableSpec>): ReadonlyMap<string, TableSpec> => {
  const byName = new Map<string, TableSpec>();
  for (const spec of specs) {
    const columns = spec.columns.map(([name]) => name);
    for (const name of [spec.name, ...columns, ...(spec.indexes ?? []).map((index) => index.name)]) {
      if (!identifier.test(name)) throw new TypeError(`"${name}" can't name part of a projection: use lower_snake`);
    }
    if (spec.key.length === 0 || spec.key.some((name, index) => columns[index] !== name)) {
      throw new TypeError(`the key of projection table ${spec.name} has to be its first columns, in order`);
    }
    if (byName.has(spec.name)) throw new TypeError(`two projection tables are called ${spec.name}`);
    byName.set(spec.name, spec);
  }
  return byName;
};

export const createTable = (connection: Connection, set: TableSet, spec: TableSpec): void => {
  const columns = spec.columns.map(([name, definition]) => `"${name}" ${definition}`);
  connection.exec(
    `CREATE TABLE ${tableName(set, spec.name)} (${[...columns, `PRIMARY KEY (${quoted(spec.key)})`].join(", ")})` +
      (spec.withoutRowid === true ? " WITHOUT ROWID" : ""),
  );
};

/**
 * Indexes keep their name when their table is renamed, so `build`, which is new for each rebuild, is part of it. Made
 * after a shadow is filled: sorting once is many times cheaper than inserting everywhere.
 */
export const createIndexes = (connection: Connection, set: TableSet, spec: TableSpec, build: number): void => {
  for (const index of spec.indexes ?? []) {
    connection.exec(
      `CREATE ${index.unique === true ? "UNIQUE " : ""}INDEX x${build}_${spec.name}_${index.name} ` +
        `ON ${tableName(set, spec.name)} (${quoted(index.columns)})` +
        (index.where === undefined ? "" : ` WHERE ${index.where}`),
    );
  }
};

/** Drops every table of a set, those of earlier projectors too. */
export const dropTables = (connection: Connection, set: TableSet): void => {
  const found = connection
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 2) = ?")
    .all(prefix[set]);
  for (const { name } of found) connection.exec(`DROP TABLE "${String(name)}"`);
};

/** Puts the shadows in the place of the live tables. To be called inside a transaction. */
export const swapTables = (connection: Connection, specs: Iterable<TableSpec>): void => {
  dropTables(connection, "live");
  for (const { name } of specs) {
    connection.exec(`ALTER TABLE ${tableName("shadow", name)} RENAME TO ${tableName("live", name)}`);
  }
};

/** An index column may say how it sorts: `position DESC`. */
const quoted = (names: ReadonlyArray<string>): string =>
  names
    .map((name) => {
      const [column, ...order] = name.split(" ");
      return [`"${column}"`, ...order].join(" ");
    })
    .join(", ");
