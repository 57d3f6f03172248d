/** What becomes of a column when several patches of one group meet: always one SQL expression. */
import type { Cell } from "../sqlite/Connection.ts";

/**
 * `set`: the value, whatever was there. `default`: the value where there is NULL. `add`: `base` where there is NULL,
 * plus `amount`.
 */
export type ColumnChange =
  | { readonly kind: "set"; readonly value: Cell }
  | { readonly kind: "default"; readonly value: Cell }
  | { readonly kind: "add"; readonly base: Cell; readonly amount: number };

const numeric = (cell: Cell): number => {
  if (cell === null) return 0;
  if (typeof cell === "number") return cell;
  throw new TypeError(`a projector adds to a column that holds ${typeof cell}; only numbers can be added to`);
};

/** NULL counts as 0. */
export const sum = (cell: Cell, amount: number): number => numeric(cell) + amount;

export const set = (value: Cell): ColumnChange => ({ kind: "set", value });

/** After `before`, set the column only where it is NULL. */
export const setIfNull = (before: ColumnChange | undefined, value: Cell): ColumnChange => {
  if (before === undefined) return { kind: "default", value };
  switch (before.kind) {
    case "set":
    case "default":
      return before.value === null ? { ...before, value } : before;
    case "add":
      return before;
  }
};

/** After `before`, add to the column. */
export const add = (before: ColumnChange | undefined, amount: number): ColumnChange => {
  if (before === undefined) return { kind: "add", base: 0, amount };
  switch (before.kind) {
    case "set":
      return { kind: "set", value: sum(before.value, amount) };
    case "default":
      return { kind: "add", base: numeric(before.value), amount };
    case "add":
      return { ...before, amount: before.amount + amount };
  }
};
