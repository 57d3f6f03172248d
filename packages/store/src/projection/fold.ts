/**
 * Folds the row changes of a group, so that a row is written once however often the group changed it. Pure.
 *
 * A table's changes are kept in stages. Inside a stage the order is fixed: deletes by prefix first (what they cover of
 * the stage's own rows is dropped when they arrive), then rows, then merges. A change that has to come after a merge
 * opens the next stage, so that rows come out the same whatever the groups were (I14).
 */
import type { Cell } from "../sqlite/Connection.ts";
import { add, set, setIfNull, sum, type ColumnChange } from "./columns.ts";
import type { RowChange, TableSpec } from "./Projector.ts";

export type RowFold =
  /** The row is the projector's own until the first patch copies it. */
  | { readonly kind: "put"; row: Readonly<Record<string, Cell>>; isCopy: boolean }
  | { readonly kind: "patch"; readonly key: ReadonlyArray<Cell>; readonly columns: Map<string, ColumnChange> }
  | { readonly kind: "delete"; readonly key: ReadonlyArray<Cell> };

export interface MergeFold {
  readonly key: ReadonlyArray<Cell>;
  readonly column: string;
  readonly limit: number;
}

export interface Stage {
  readonly deletes: Map<string, ReadonlyArray<Cell>>;
  readonly rows: Map<string, RowFold>;
  readonly merges: Map<string, MergeFold>;
}

export interface TableFold {
  readonly spec: TableSpec;
  readonly stages: Array<Stage>;
}

const newStage = (): Stage => ({ deletes: new Map(), rows: new Map(), merges: new Map() });

/** Ends each part of a key, so that one key's text is another's beginning only where the parts are the same. */
const END = "\u0000";

/** A text for some leading key columns: equal exactly where the cells are, and a prefix where they are a prefix. */
const keyText = (cells: ReadonlyArray<Cell>): string => {
  let text = "";
  for (const cell of cells) {
    if (typeof cell === "string") text += `s${cell.includes(END) ? cell.replaceAll(END, `${END}+`) : cell}${END}.`;
    else if (typeof cell === "number") text += `n${cell}${END}.`;
    else throw new TypeError("a projection's key columns hold text or numbers");
  }
  return text;
};

const leading = (spec: TableSpec, key: Readonly<Record<string, Cell>>): ReadonlyArray<Cell> => {
  const cells: Array<Cell> = [];
  for (const name of spec.key) {
    const cell = key[name];
    if (cell === undefined) break;
    cells.push(cell);
  }
  return cells;
};

const whole = (spec: TableSpec, key: Readonly<Record<string, Cell>>): ReadonlyArray<Cell> => {
  const cells = leading(spec, key);
  if (cells.length !== spec.key.length) {
    throw new TypeError(
      `a change to projection table ${spec.name} lacks key columns; its key is ${spec.key.join(", ")}`,
    );
  }
  return cells;
};

/** Whether the stage has a merge over what stands under this key. Merges name all key columns but the last. */
const isMerged = (spec: TableSpec, { merges }: Stage, key: ReadonlyArray<Cell>, text: string): boolean => {
  if (merges.size === 0) return false;
  if (key.length === spec.key.length) return merges.has(keyText(key.slice(0, -1)));
  return [...merges.keys()].some((merged) => merged.startsWith(text));
};

type Patch = Extract<RowChange, { readonly op: "patch" }>;

/** What a patch makes of the changes before it. */
const patchColumns = (
  columns: Map<string, ColumnChange>,
  { set: values, add: amounts, setIfNull: defaults }: Patch,
) => {
  for (const name in values) columns.set(name, set(values[name] ?? null));
  for (const name in amounts) columns.set(name, add(columns.get(name), amounts[name] ?? 0));
  for (const name in defaults) columns.set(name, setIfNull(columns.get(name), defaults[name] ?? null));
  return columns;
};

/** What a patch makes of a row that is known. */
const patchRow = (row: Record<string, Cell>, { set: values, add: amounts, setIfNull: defaults }: Patch): void => {
  for (const name in values) row[name] = values[name] ?? null;
  for (const name in amounts) row[name] = sum(row[name] ?? null, amounts[name] ?? 0);
  for (const name in defaults) row[name] ??= defaults[name] ?? null;
};

export class Fold {
  private readonly specs: ReadonlyMap<string, TableSpec>;
  readonly tables = new Map<string, TableFold>();

  constructor(specs: ReadonlyMap<string, TableSpec>) {
    this.specs = specs;
  }

  get isEmpty(): boolean {
    return this.tables.size === 0;
  }

  add(change: RowChange): void {
    const table = this.table(change.table);
    switch (change.op) {
      case "put":
        return this.put(table, change.row);
      case "patch":
        return this.patch(table, change);
      case "delete":
        return this.delete(table, change.key);
      case "merge":
        return this.merge(table, change);
    }
  }

  private table(name: string): TableFold {
    const known = this.tables.get(name);
    if (known !== undefined) return known;
    const spec = this.specs.get(name);
    if (spec === undefined) throw new TypeError(`a projector changes table ${name}, which it does not declare`);
    const table: TableFold = { spec, stages: [newStage()] };
    this.tables.set(name, table);
    return table;
  }

  /** The stage in which a change under this key belongs: the last, or a new one after a merge that covers it. */
  private stage(table: TableFold, key: ReadonlyArray<Cell>, text: string): Stage {
    const last = table.stages.at(-1) ?? newStage();
    if (!isMerged(table.spec, last, key, text)) return last;
    const next = newStage();
    table.stages.push(next);
    return next;
  }

  private put(table: TableFold, row: Readonly<Record<string, Cell>>): void {
    const key = whole(table.spec, row);
    const text = keyText(key);
    this.stage(table, key, text).rows.set(text, { kind: "put", row, isCopy: false });
  }

  private patch(table: TableFold, change: Patch): void {
    const key = whole(table.spec, change.key);
    const text = keyText(key);
    const { rows } = this.stage(table, key, text);
    const before = rows.get(text);
    if (before === undefined) rows.set(text, { kind: "patch", key, columns: patchColumns(new Map(), change) });
    else if (before.kind === "patch") patchColumns(before.columns, change);
    else if (before.kind === "put") {
      const row: Record<string, Cell> = before.isCopy ? before.row : { ...before.row };
      patchRow(row, change);
      before.row = row;
      before.isCopy = true;
    }
  }

  private delete(table: TableFold, keyed: Readonly<Record<string, Cell>>): void {
    const key = leading(table.spec, keyed);
    if (key.length === 0) throw new TypeError(`a delete in projection table ${table.spec.name} names no key column`);
    const text = keyText(key);
    const stage = this.stage(table, key, text);
    if (key.length === table.spec.key.length) {
      stage.rows.set(text, { kind: "delete", key });
      return;
    }
    for (const row of stage.rows.keys()) if (row.startsWith(text)) stage.rows.delete(row);
    stage.deletes.set(text, key);
  }

  private merge(table: TableFold, change: Extract<RowChange, { readonly op: "merge" }>): void {
    const key = leading(table.spec, change.key);
    if (key.length !== table.spec.key.length - 1) {
      throw new TypeError(`a merge in projection table ${table.spec.name} names all key columns but the last`);
    }
    const text = keyText(key);
    const last = table.stages.at(-1) ?? newStage();
    last.merges.set(text, { key, column: change.column, limit: change.limit });
  }
}
