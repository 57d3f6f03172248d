import { assert, describe, it } from "@effect/vitest";
import { SqliteClient } from "@tributary/store";
import { Effect, Exit } from "effect";
import { SqlClient } from "effect/sql";
import { join } from "node:path";
import { temporaryFolder } from "./support/layers.ts";

const memory = Effect.provide(SqliteClient.layer({ filename: ":memory:" }));

describe("SqliteClient", () => {
  it.effect("runs statements with values", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* sql`CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)`;
      yield* sql`INSERT INTO notes ${sql.insert([{ text: "one" }, { text: "two" }])}`;
      const rows = yield* sql<{ id: number; text: string }>`SELECT * FROM notes WHERE text = ${"two"}`;
      assert.deepStrictEqual(
        rows.map((row) => ({ ...row })),
        [{ id: 2, text: "two" }],
      );
      assert.deepStrictEqual(yield* sql`SELECT id, text FROM notes`.values, [
        [1, "one"],
        [2, "two"],
      ]);
    }).pipe(memory),
  );

  it.effect("a transaction that fails leaves nothing; a nested one undoes itself alone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* sql`CREATE TABLE notes (text TEXT UNIQUE)`;
      const insert = (text: string) => sql`INSERT INTO notes VALUES (${text})`;
      const failed = yield* Effect.exit(sql.withTransaction(Effect.andThen(insert("lost"), insert("lost"))));
      assert.isTrue(Exit.isFailure(failed));
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* insert("kept");
          yield* Effect.exit(sql.withTransaction(Effect.andThen(insert("inner"), Effect.fail("no"))));
          yield* insert("also kept");
        }),
      );
      assert.deepStrictEqual(yield* sql`SELECT text FROM notes ORDER BY rowid`.values, [["kept"], ["also kept"]]);
    }).pipe(memory),
  );

  it.effect("says what kind of error it was", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* sql`CREATE TABLE notes (text TEXT UNIQUE)`;
      yield* sql`INSERT INTO notes VALUES ('a')`;
      const error = yield* Effect.flip(sql`INSERT INTO notes VALUES ('a')`);
      assert.strictEqual(error.reason._tag, "UniqueViolation");
    }).pipe(memory),
  );

  it.effect("transactions of two fibers take turns", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient;
      yield* sql`CREATE TABLE counters (n INTEGER)`;
      yield* sql`INSERT INTO counters VALUES (0)`;
      const increment = sql.withTransaction(
        Effect.gen(function* () {
          const [row] = yield* sql<{ n: number }>`SELECT n FROM counters`;
          yield* Effect.yieldNow;
          yield* sql`UPDATE counters SET n = ${(row?.n ?? 0) + 1}`;
        }),
      );
      yield* Effect.all(
        Array.from({ length: 20 }, () => increment),
        { concurrency: "unbounded" },
      );
      assert.deepStrictEqual(yield* sql`SELECT n FROM counters`.values, [[20]]);
    }).pipe(memory),
  );

  it.effect("backs up and exports", () =>
    Effect.gen(function* () {
      const dir = yield* temporaryFolder;
      const target = join(dir, "copy.db");
      yield* Effect.gen(function* () {
        const client = yield* SqliteClient.SqliteClient;
        yield* client`CREATE TABLE notes (text TEXT)`;
        yield* client`INSERT INTO notes VALUES ('a')`;
        yield* client.backup(target);
        assert.isAbove((yield* client.export).length, 4_096);
      }).pipe(memory);
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient;
        assert.deepStrictEqual(yield* sql`SELECT text FROM notes`.values, [["a"]]);
        assert.isTrue(Exit.isFailure(yield* Effect.exit(sql`INSERT INTO notes VALUES ('b')`)));
      }).pipe(Effect.provide(SqliteClient.layer({ filename: target, readonly: true })));
    }).pipe(Effect.scoped),
  );
});
