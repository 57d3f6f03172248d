/**
 * A raw SQLite connection for the hot path: prepared statements, synchronous transactions, and a count of executed
 * statements. Effect's `SqlClient` (SqliteClient.ts) is for migrations and ordinary queries.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { Lru } from "../Lru.ts";

/** A value SQLite stores. Numbers are bound as floating point: give a column that holds them INTEGER or REAL affinity. */
export type Cell = string | number | null | Uint8Array;

export type Row = Record<string, Cell>;

/** How durable a commit is: `full` survives power loss, `normal` survives a crash of the process. */
export type Synchronous = "full" | "normal";

export interface ConnectionOptions {
  /** A file, or `:memory:`. */
  readonly path: string;
  readonly synchronous: Synchronous;
  /** Holds the file's kernel lock until closed: no other process can open it. */
  readonly exclusive?: boolean;
  /** Refuses to write. */
  readonly queryOnly?: boolean;
  /** Page cache, default 16 MiB. */
  readonly cacheBytes?: number;
}

/** A statement that is prepared once. */
export class Prepared {
  readonly sql: string;
  private readonly statement: StatementSync;
  private readonly connection: Connection;

  constructor(connection: Connection, sql: string) {
    this.sql = sql;
    this.connection = connection;
    this.statement = connection.db.prepare(sql);
  }

  /** Returns how many rows it changed. */
  run(...cells: ReadonlyArray<Cell>): number {
    this.connection.executed += 1;
    return Number(this.statement.run(...cells).changes);
  }

  get(...cells: ReadonlyArray<Cell>): Row | undefined {
    this.connection.executed += 1;
    // Big integers are off and no column is read as one, so every value is a Cell.
    return this.statement.get(...cells) as Row | undefined;
  }

  all(...cells: ReadonlyArray<Cell>): Array<Row> {
    this.connection.executed += 1;
    return this.statement.all(...cells) as Array<Row>;
  }

  /** Rows one by one; leave the loop early and the rest is not read. */
  iterate(...cells: ReadonlyArray<Cell>): IterableIterator<Row> {
    this.connection.executed += 1;
    return this.statement.iterate(...cells) as IterableIterator<Row>;
  }

  /** The same, with rows as their values in order: for long reads, where an object a row is most of the work. */
  iterateValues(...cells: ReadonlyArray<Cell>): IterableIterator<ReadonlyArray<Cell>> {
    this.connection.executed += 1;
    this.statement.setReturnArrays(true);
    return this.statement.iterate(...cells) as IterableIterator<unknown> as IterableIterator<ReadonlyArray<Cell>>;
  }
}

/** Statements kept by text, so that shapes made at run time (patches, page queries) are prepared once. */
const keptStatements = 512;

/** Pages in the write-ahead log before a commit moves them into the database: 4,000 of 4 KiB. */
const checkpointPages = 4_000;

/** How long a transaction waits for another process's; it blocks the event loop meanwhile. */
const busyMilliseconds = 2_000;

/** An owner holds its lock for good, so there is nothing to wait for but its last moment. */
const ownerMilliseconds = 100;

export class Connection {
  readonly db: DatabaseSync;
  /** Statements executed so far, transaction control included. Tests subtract to count them per group. */
  executed = 0;
  private readonly kept = new Lru<Prepared>(keptStatements);
  private readonly begin: Prepared;
  private readonly beginRead: Prepared;
  private readonly commit: Prepared;

  constructor(options: ConnectionOptions) {
    this.db = new DatabaseSync(options.path, {
      timeout: options.exclusive === true ? ownerMilliseconds : busyMilliseconds,
    });
    try {
      // The locking mode comes first: a connection that has touched the log once in normal mode keeps its shared memory.
      if (options.exclusive === true) this.db.exec("PRAGMA locking_mode = EXCLUSIVE");
      this.db.exec(`
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = ${options.synchronous === "full" ? "FULL" : "NORMAL"};
        PRAGMA foreign_keys = ON;
        PRAGMA temp_store = MEMORY;
        PRAGMA secure_delete = FAST;
        PRAGMA cache_size = -${Math.ceil((options.cacheBytes ?? 16_777_216) / 1024)};
        PRAGMA wal_autocheckpoint = ${checkpointPages};
        PRAGMA journal_size_limit = 67108864;
      `);
      if (options.queryOnly === true) this.db.exec("PRAGMA query_only = ON");
      this.begin = new Prepared(this, "BEGIN IMMEDIATE");
      this.beginRead = new Prepared(this, "BEGIN");
      this.commit = new Prepared(this, "COMMIT");
      if (options.exclusive === true) this.immediate(() => {});
    } catch (error) {
      this.db.close();
      throw error;
    }
  }

  /** A statement that stays prepared while it is among the last few hundred used. */
  prepare(sql: string): Prepared {
    const known = this.kept.get(sql);
    if (known !== undefined) return known;
    const prepared = new Prepared(this, sql);
    this.kept.set(sql, prepared);
    return prepared;
  }

  /** The text of every statement that is prepared now. */
  get statements(): ReadonlyArray<string> {
    return [...this.kept.keys()];
  }

  exec(sql: string): void {
    this.executed += 1;
    this.db.exec(sql);
  }

  /** Runs `body` in one write transaction: it commits if `body` returns, and nothing of it stays if it throws. */
  immediate<A>(body: () => A): A {
    this.begin.run();
    try {
      const result = body();
      this.commit.run();
      return result;
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  /**
   * Overwrites with zeros whatever `body` deletes. Otherwise only what costs no further write is overwritten, and a freed
   * page keeps its content until it is used again.
   */
  erasing<A>(body: () => A): A {
    this.exec("PRAGMA secure_delete = ON");
    try {
      return body();
    } finally {
      this.exec("PRAGMA secure_delete = FAST");
    }
  }

  /** Moves the write-ahead log into the database and empties it. Not inside a transaction. */
  emptyLog(): void {
    this.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /** Runs `body` on one snapshot. Inside an open transaction it is part of that. */
  snapshot<A>(body: () => A): A {
    if (this.db.isTransaction) return body();
    this.beginRead.run();
    try {
      return body();
    } finally {
      this.rollback();
    }
  }

  close(): void {
    if (this.db.isOpen) this.db.close();
  }

  /** SQLite has rolled back by itself after some errors (a full disk, for one). */
  private rollback(): void {
    if (this.db.isTransaction) this.exec("ROLLBACK");
  }
}
