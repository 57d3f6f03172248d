/**
 * Erasing what a purged thread left: payloads become tombstones that keep their place in the order (I3), what is over is
 * forgotten, journal and blobs go. It begins when `thread.purged` is committed, goes on in slices between the writer's
 * groups, and after a restart where it was.
 */
import { Effect, Schedule, type Scope } from "effect";
import type { Journal } from "../journal/Journal.ts";
import type { Connection } from "../sqlite/Connection.ts";
import type { StoreError } from "../StoreError.ts";
import { purgeName } from "../writer/flush.ts";
import type { RunSql } from "../writer/Writer.ts";
import { tombstone } from "./rows.ts";
import type { Signals } from "./Signals.ts";

/** Events in one transaction. */
const slice = 200;

/** The thread that is to be erased next, if any. */
const nextThread = (connection: Connection): string | undefined => {
  const name = connection
    .prepare("SELECT name FROM positions WHERE name >= ? AND name < ? ORDER BY name LIMIT 1")
    .get(purgeName(""), "purge;")?.["name"];
  return typeof name === "string" ? name.slice(purgeName("").length) : undefined;
};

/** Erases a slice. Returns whether there is nothing left. */
const eraseSlice = (connection: Connection, threadId: string): boolean => {
  const name = purgeName(threadId);
  const from = Number(connection.prepare("SELECT value FROM positions WHERE name = ?").get(name)?.["value"] ?? 0);
  const events = connection
    .prepare(
      `UPDATE events SET type = CASE type WHEN 'thread.purged' THEN type ELSE '${tombstone}' END, payload = '{}' ` +
        "WHERE stream_id = ? AND version > ? AND version <= ?",
    )
    .run(threadId, from, from + slice);
  connection.prepare("UPDATE positions SET value = ? WHERE name = ?").run(from + slice, name);
  const closed = connection
    .prepare(
      "DELETE FROM closed WHERE thread_id = ?1 AND (kind, id) IN (SELECT kind, id FROM closed WHERE thread_id = ?1 LIMIT ?2)",
    )
    .run(threadId, slice);
  if (events + closed > 0) return false;
  for (const table of ["refusals", "refusal_counts", "checkpoints"]) {
    connection.prepare(`DELETE FROM ${table} WHERE thread_id = ?`).run(threadId);
  }
  return true;
};

/** Erases one thread, if there is one to erase. Returns whether there was. */
const purgeNext = (
  runSql: RunSql,
  journal: Journal["Service"],
  connection: Connection,
): Effect.Effect<boolean, StoreError> =>
  Effect.gen(function* () {
    const threadId = yield* runSql(nextThread);
    if (threadId === undefined) return false;
    while (!(yield* runSql((connection) => connection.erasing(() => eraseSlice(connection, threadId)))));
    yield* journal.erase(threadId);
    yield* runSql((connection) => connection.prepare("DELETE FROM positions WHERE name = ?").run(purgeName(threadId)));
    // The log in front of the database still holds what was there.
    connection.emptyLog();
    return true;
  });

/** Erases purged threads for as long as the scope lives. */
export const runPurges = (
  runSql: RunSql,
  journal: Journal["Service"],
  signals: Signals["Service"],
  connection: Connection,
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const signal = yield* signals.subscribe(["purge"]);
    const all: Effect.Effect<void, StoreError> = Effect.flatMap(purgeNext(runSql, journal, connection), (more) =>
      more ? all : Effect.void,
    );
    const each = all.pipe(
      Effect.tapError((error) => Effect.logWarning("A purged thread could not be erased yet", error)),
      Effect.retry(Schedule.spaced("1 minute")),
      Effect.catchCause(() => Effect.void),
    );
    yield* Effect.forkScoped(Effect.andThen(each, Effect.forever(Effect.andThen(signal.wait, each))));
  });
