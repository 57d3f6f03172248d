/** Migrations of journal.db, in order. Never edit one that has shipped: add the next. */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  // One incarnation of a runtime for a thread. `bytes` is what its packs take.
  yield* sql.unsafe(`CREATE TABLE sessions (
    session INTEGER PRIMARY KEY,
    thread_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    pruned_to INTEGER NOT NULL,
    UNIQUE (thread_id, generation)
  )`);
  // Consecutive records of a session, as one JSON array and their native frames one after the other. Rows lie in the
  // order of their making, so the oldest are found first.
  yield* sql.unsafe(`CREATE TABLE packs (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (session),
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    heads TEXT NOT NULL,
    frames TEXT NOT NULL
  )`);
  yield* sql.unsafe("CREATE UNIQUE INDEX packs_seq ON packs (session, last_seq)");
  yield* sql.unsafe(`CREATE TABLE event_ids (
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (session, id)
  ) WITHOUT ROWID`);
  // Who needs a blob. A value that no record holds (a diff) is the thread's own: session 0, seq 0.
  yield* sql.unsafe(`CREATE TABLE blob_uses (
    hash TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (hash, thread_id, session, seq)
  ) WITHOUT ROWID`);
  yield* sql.unsafe("CREATE INDEX blob_uses_session ON blob_uses (session, seq)");
  yield* sql.unsafe("CREATE INDEX blob_uses_thread ON blob_uses (thread_id)");
  yield* sql.unsafe("CREATE TABLE totals (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID, STRICT");
});

export const journalMigrations = { "1_tables": tables };
