/**
 * Migrations of main.db, in order. Never edit one that has shipped: add the next.
 *
 * Whatever is read or written per command is found by a key; a test asserts that no plan scans a table.
 */
import { Effect } from "effect";
import { SqlClient } from "effect/sql";

const statements = (...list: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    for (const statement of list) yield* sql.unsafe(statement);
  });

const tables = statements(
  "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT",

  // The log. `record` is the journal position in the same thread: "generation:seq".
  `CREATE TABLE events (
    sequence INTEGER PRIMARY KEY,
    stream_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    occurred_at TEXT NOT NULL,
    command_id TEXT,
    correlation_id TEXT,
    causation_id TEXT,
    actor TEXT NOT NULL,
    record TEXT,
    payload TEXT NOT NULL
  )`,
  "CREATE UNIQUE INDEX events_version ON events (stream_id, version)",

  // Rows lie in the order of their making, so that the oldest are found without an index on the time.
  `CREATE TABLE receipts (
    command_id TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL
  )`,

  "CREATE TABLE thread_states (thread_id TEXT PRIMARY KEY, state TEXT NOT NULL, open INTEGER NOT NULL)",
  "CREATE INDEX thread_states_open ON thread_states (thread_id) WHERE open = 1",
  "CREATE TABLE project_states (project_id TEXT PRIMARY KEY, state TEXT NOT NULL)",

  // What is over: turns, inputs, requests, texts, activities, tasks. Looked up by key only.
  `CREATE TABLE closed (
    thread_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (thread_id, kind, id)
  ) WITHOUT ROWID`,

  `CREATE TABLE checkpoints (
    thread_id TEXT PRIMARY KEY,
    generation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    interpretive TEXT NOT NULL
  )`,

  `CREATE TABLE refusals (
    id INTEGER PRIMARY KEY,
    thread_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    reason TEXT NOT NULL
  )`,
  "CREATE INDEX refusals_thread ON refusals (thread_id)",
  `CREATE TABLE refusal_counts (
    thread_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (thread_id, reason)
  ) WITHOUT ROWID`,

  // The feed of a person's markers: a later change has a higher revision.
  `CREATE TABLE read_markers (
    actor_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (actor_id, thread_id)
  ) WITHOUT ROWID`,
  "CREATE INDEX read_markers_feed ON read_markers (actor_id, revision)",

  `CREATE TABLE processes (
    marker TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    pid INTEGER,
    start_time TEXT,
    boot_id TEXT
  ) WITHOUT ROWID`,

  // How far background work has come, by its name.
  "CREATE TABLE positions (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID, STRICT",
);

/** Held text is refused as a whole: one row for all its events. */
const refusalEvents = statements("ALTER TABLE refusals ADD COLUMN events INTEGER NOT NULL DEFAULT 1");

/** An id stands for a content by its hash; `unused_since` is set while no thread uses it, and 0 says: ever. */
const attachments = statements(
  `CREATE TABLE attachments (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    media_type TEXT NOT NULL,
    size INTEGER NOT NULL,
    name TEXT,
    created_at INTEGER NOT NULL,
    owner TEXT NOT NULL,
    unused_since INTEGER
  ) WITHOUT ROWID, STRICT`,
  "CREATE INDEX attachments_hash ON attachments (hash)",
  "CREATE INDEX attachments_unused ON attachments (unused_since) WHERE unused_since IS NOT NULL",
  `CREATE TABLE attachment_uses (
    thread_id TEXT NOT NULL,
    attachment_id TEXT NOT NULL,
    PRIMARY KEY (thread_id, attachment_id)
  ) WITHOUT ROWID, STRICT`,
  "CREATE INDEX attachment_uses_attachment ON attachment_uses (attachment_id)",
);

export const mainMigrations = {
  "1_tables": tables,
  "2_refusal_events": refusalEvents,
  "3_attachments": attachments,
};
