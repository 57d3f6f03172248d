import { assert, describe, it } from "@effect/vitest";
import type { Cell, RowChange, TableSpec } from "@tributary/store";
import { Fold } from "../src/projection/fold.ts";
import { makeRowWriter } from "../src/projection/RowWriter.ts";
import { checkSpecs, createIndexes, createTable, tableName } from "../src/projection/tables.ts";
import { Connection } from "../src/sqlite/Connection.ts";

const spec: TableSpec = {
  name: "pieces",
  columns: [
    ["thread", "TEXT NOT NULL"],
    ["message", "TEXT NOT NULL"],
    ["place", "INTEGER NOT NULL"],
    ["text", "TEXT"],
    ["count", "INTEGER"],
    ["first", "TEXT"],
  ],
  key: ["thread", "message", "place"],
  withoutRowid: true,
};
const specs = checkSpecs([spec]);

/** xorshift32. */
const randoms = (seed: number) => {
  const next = (): number => {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    return (seed >>> 0) / 2 ** 32;
  };
  return {
    below: (limit: number) => Math.floor(next() * limit),
    pick: <A>(list: ReadonlyArray<A>): A => list[Math.floor(next() * list.length)] as A,
  };
};

/** Few keys, so that changes meet; ids that are prefixes of one another; every operation. */
const randomChange = ({ below, pick }: ReturnType<typeof randoms>): RowChange => {
  const prefix = { thread: pick(["a", "ab"]), message: pick(["m", "m1"]) };
  const key = { ...prefix, place: below(4) };
  const maybe = <A>(value: A): A | undefined => (below(2) === 0 ? value : undefined);
  switch (below(8)) {
    case 0:
    case 1:
    case 2: {
      const row: Record<string, Cell> = { ...key };
      const text = maybe("x".repeat(1 + below(6)));
      const count = maybe(below(5));
      if (text !== undefined) row["text"] = text;
      if (count !== undefined) row["count"] = count;
      return { op: "put", table: "pieces", row };
    }
    case 3:
    case 4:
    case 5: {
      const set: Record<string, Cell> = {};
      if (below(3) === 0) set["count"] = pick([null, below(9)]);
      if (below(3) === 0) set["text"] = pick([null, "set"]);
      return {
        op: "patch",
        table: "pieces",
        key,
        set,
        ...(below(2) === 0 ? { add: { count: 1 + below(3) } } : {}),
        ...(below(2) === 0 ? { setIfNull: pick([{ first: pick(["p", "q"]) }, { count: below(9) }]) } : {}),
      };
    }
    case 6:
      return {
        op: "delete",
        table: "pieces",
        key: pick<Record<string, Cell>>([key, prefix, { thread: prefix.thread }]),
      };
    default:
      return { op: "merge", table: "pieces", key: prefix, column: "text", limit: 8 };
  }
};

const open = () => {
  const connection = new Connection({ path: ":memory:", synchronous: "normal" });
  createTable(connection, "live", spec);
  createIndexes(connection, "live", spec, 1);
  return connection;
};

/** The rows after these changes, folded so many at a time. */
const rowsAfter = (changes: ReadonlyArray<RowChange>, groupOf: number): ReadonlyArray<unknown> => {
  const connection = open();
  const writer = makeRowWriter(connection, "live", specs);
  for (let from = 0; from < changes.length; from += groupOf) {
    const fold = new Fold(specs);
    for (const change of changes.slice(from, from + groupOf)) fold.add(change);
    connection.immediate(() => writer.flush(fold));
  }
  const rows = connection.prepare(`SELECT * FROM ${tableName("live", "pieces")} ORDER BY thread, message, place`).all();
  connection.close();
  return rows.map((row) => ({ ...row }));
};

describe("folding row changes (I14)", () => {
  const seed = Number(process.env["TRIBUTARY_SEED"] ?? 4_711);
  it(`gives the rows that the changes give one by one, however they are grouped (TRIBUTARY_SEED=${seed})`, () => {
    const random = randoms(seed);
    for (let round = 0; round < 150; round += 1) {
      const changes = Array.from({ length: 60 }, () => randomChange(random));
      const oneByOne = rowsAfter(changes, 1);
      for (const groupOf of [2, 7, 60]) {
        assert.deepStrictEqual(
          rowsAfter(changes, groupOf),
          oneByOne,
          `TRIBUTARY_SEED=${seed}, round ${round}, ${groupOf} a group: ${JSON.stringify(changes)}`,
        );
      }
    }
  });

  it("writes a row once, however often a group changes it", () => {
    const connection = open();
    const writer = makeRowWriter(connection, "live", specs);
    const key = { thread: "a", message: "m", place: 0 };
    const fold = new Fold(specs);
    fold.add({ op: "put", table: "pieces", row: { ...key, count: 0 } });
    for (let count = 0; count < 100; count += 1) fold.add({ op: "patch", table: "pieces", key, add: { count: 1 } });
    const before = connection.executed;
    writer.flush(fold);
    assert.strictEqual(connection.executed - before, 1);
    assert.strictEqual(connection.prepare("SELECT count FROM p_pieces").get()?.["count"], 100);
    connection.close();
  });

  it("says what is wrong with a change", () => {
    const fold = new Fold(specs);
    const key = { thread: "a", message: "m", place: 0 };
    assert.throws(() => fold.add({ op: "put", table: "other", row: key }), "table other");
    assert.throws(() => fold.add({ op: "put", table: "pieces", row: { thread: "a" } }), "lacks key columns");
    assert.throws(() => fold.add({ op: "delete", table: "pieces", key: { message: "m" } }), "names no key column");
    assert.throws(
      () => fold.add({ op: "merge", table: "pieces", key, column: "text", limit: 1 }),
      "all key columns but the last",
    );
    assert.throws(() => checkSpecs([{ ...spec, key: ["message"] }]), "first columns");
    assert.throws(() => checkSpecs([{ ...spec, name: "x; DROP TABLE events" }]), "lower_snake");
  });
});
