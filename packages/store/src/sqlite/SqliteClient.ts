/**
 * Effect's `SqlClient` over `node:sqlite`, with the surface of `@effect/sql-sqlite-node` (whose newest release does not
 * load with this Effect), so that one import replaces this file by it. One connection, shared through a semaphore.
 *
 * For migrations and ordinary queries. A transaction here stays open across asynchronous steps, while the writer's
 * groups are synchronous on the same thread: never write through a client beside a running store.
 */
import { Context, Effect, Layer, Semaphore, Stream } from "effect";
import { Reactivity } from "effect/reactivity";
import { SqlClient, Statement, type SqlConnection } from "effect/sql";
import { classifySqliteError, SqlError } from "effect/sql/SqlError";
import { DatabaseSync, backup, type StatementSync, type SQLInputValue } from "node:sqlite";

export interface SqliteClient extends SqlClient.SqlClient {
  readonly config: SqliteClientConfig;
  /** The database as one file's bytes. */
  readonly export: Effect.Effect<Uint8Array, SqlError>;
  /** Copies the database into a file, page by page; resolves with the number of pages. */
  readonly backup: (destination: string) => Effect.Effect<number, SqlError>;
  /** Not supported in SQLite. */
  readonly updateValues: never;
}

export const SqliteClient = Context.Service<SqliteClient>("@effect/sql-sqlite-node/SqliteClient");

export interface SqliteClientConfig {
  readonly filename: string;
  readonly readonly?: boolean | undefined;
  /** Statements kept prepared, default 200. */
  readonly prepareCacheSize?: number | undefined;
  readonly disableWAL?: boolean | undefined;
  readonly spanAttributes?: Record<string, unknown> | undefined;
  readonly transformResultNames?: ((name: string) => string) | undefined;
  readonly transformQueryNames?: ((name: string) => string) | undefined;
}

/** node:sqlite calls SQLite's result code `errcode`; Effect looks for it under `errno`. */
const sqlError = (cause: unknown, operation: string): SqlError => {
  if (cause instanceof Error && "errcode" in cause) Object.assign(cause, { errno: cause.errcode });
  return new SqlError({ reason: classifySqliteError(cause, { message: `Failed to ${operation}`, operation }) });
};

const connectionOf = (db: DatabaseSync, cacheSize: number): SqlConnection.Connection => {
  const kept = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    const statement = db.prepare(sql);
    if (kept.size >= cacheSize) for (const oldest of [...kept.keys()].slice(0, 1)) kept.delete(oldest);
    kept.set(sql, statement);
    return statement;
  };
  const attempt = <A>(run: () => A) => Effect.try({ try: run, catch: (cause) => sqlError(cause, "execute statement") });
  // The compiler has turned values into SQLite's own; what it could not turn, SQLite refuses by name.
  const values = (params: ReadonlyArray<unknown>) => params as ReadonlyArray<SQLInputValue>;
  const rows = (statement: StatementSync, params: ReadonlyArray<unknown>) =>
    statement.columns().length === 0 ? (statement.run(...values(params)), []) : statement.all(...values(params));
  const arrays = (statement: StatementSync, params: ReadonlyArray<unknown>): ReadonlyArray<ReadonlyArray<unknown>> =>
    rows(statement, params).map((row) => Object.values(row));

  const connection: SqlConnection.Connection = {
    execute: (sql, params, transform) =>
      attempt(() => {
        const found = rows(prepare(sql), params);
        return transform === undefined ? found : transform(found);
      }),
    executeRaw: (sql, params) => attempt(() => rows(prepare(sql), params)),
    executeStream: (sql, params, transform) =>
      Stream.unwrap(Effect.map(connection.execute(sql, params, transform), Stream.fromIterable)),
    executeValues: (sql, params) => attempt(() => arrays(prepare(sql), params)),
    executeValuesUnprepared: (sql, params) => attempt(() => arrays(db.prepare(sql), params)),
    executeUnprepared: (sql, params, transform) =>
      attempt(() => {
        const found = rows(db.prepare(sql), params);
        return transform === undefined ? found : transform(found);
      }),
  };
  return connection;
};

/** A client over a connection that somebody else opened and will close. */
export const fromDatabase = (
  db: DatabaseSync,
  config: SqliteClientConfig,
): Effect.Effect<SqliteClient, never, Reactivity.Reactivity> =>
  Effect.gen(function* () {
    const transformRows =
      config.transformResultNames === undefined
        ? undefined
        : Statement.defaultTransforms(config.transformResultNames).array;
    const connection = connectionOf(db, config.prepareCacheSize ?? 200);
    const acquirers = SqlClient.makeSqliteAcquirers({
      connection: Effect.succeed(connection),
      semaphore: yield* Semaphore.make(1),
      isTransaction: () => db.isTransaction,
    });
    const client = yield* SqlClient.make({
      ...acquirers,
      compiler: Statement.makeCompilerSqlite(config.transformQueryNames),
      driver: "sqlite-node",
      beginTransaction: "BEGIN IMMEDIATE",
      releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
      prepareTransactionControls: true,
      spanAttributes: [...Object.entries(config.spanAttributes ?? {}), ["db.system.name", "sqlite"]],
      ...(transformRows === undefined ? {} : { transformRows }),
    });
    return Object.assign(client, {
      config,
      export: Effect.try({ try: () => db.serialize(), catch: (cause) => sqlError(cause, "export database") }),
      backup: (destination: string) =>
        Effect.tryPromise({
          try: () => backup(db, destination),
          catch: (cause) => sqlError(cause, "back up database"),
        }),
    }) as SqliteClient;
  });

/** Opens a connection and closes it with the scope. */
export const make = Effect.fnUntraced(function* (config: SqliteClientConfig) {
  const db = yield* Effect.acquireRelease(
    Effect.try({
      try: () => new DatabaseSync(config.filename, { readOnly: config.readonly ?? false, timeout: 5_000 }),
      catch: (cause) => sqlError(cause, "open database"),
    }),
    (db) => Effect.sync(() => db.close()),
  );
  if (config.disableWAL !== true && config.readonly !== true) db.exec("PRAGMA journal_mode = WAL");
  return yield* fromDatabase(db, config);
});

/** `SqlClient` and `SqliteClient` on a database of their own. */
export const layer = (config: SqliteClientConfig): Layer.Layer<SqlClient.SqlClient | SqliteClient, SqlError> =>
  Layer.effectContext(
    Effect.map(make(config), (client) =>
      Context.make(SqliteClient, client).pipe(Context.add(SqlClient.SqlClient, client)),
    ),
  ).pipe(Layer.provide(Reactivity.layer));
