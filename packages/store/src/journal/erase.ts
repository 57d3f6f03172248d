/** Erasing a thread's part of the journal, and finding blobs that nobody names any more. */
import { Effect } from "effect";
import type { Connection } from "../sqlite/Connection.ts";
import type { StoreError } from "../StoreError.ts";
import type { Sessions } from "./sessions.ts";

/** Runs statements in one of the journal's groups. */
export type Submit = <A>(run: () => A) => Effect.Effect<A, StoreError>;

/** Blobs that lost a use. */
export interface Removed {
  readonly hashes: ReadonlySet<string>;
}

/** Rows in one transaction. */
const slice = 200;

/** Those of `hashes` that no row names. */
export const unusedAmong = (connection: Connection, hashes: ReadonlyArray<string>): ReadonlyArray<string> => {
  const used = connection.prepare("SELECT 1 AS used FROM blob_uses WHERE hash = ? LIMIT 1");
  return hashes.filter((hash) => used.get(hash) === undefined);
};

/**
 * A slice a transaction, so that other threads' records are not kept waiting. Begun again after a crash, it goes on with
 * what is left.
 */
export const eraseThread = (
  submit: Submit,
  connection: Connection,
  sessions: Sessions,
  threadId: string,
): Effect.Effect<Removed, StoreError> => {
  const hashes = new Set<string>();

  const erasePacks = (session: number): boolean => {
    const rows = connection
      .prepare(
        "DELETE FROM packs WHERE id IN (SELECT id FROM packs WHERE session = ? ORDER BY last_seq LIMIT ?) RETURNING bytes",
      )
      .all(session, slice);
    sessions.count(-rows.reduce((sum, row) => sum + Number(row["bytes"]), 0));
    return rows.length < slice;
  };

  const eraseIds = (session: number): boolean =>
    connection
      .prepare(
        "DELETE FROM event_ids WHERE session = ?1 AND id IN (SELECT id FROM event_ids WHERE session = ?1 ORDER BY id LIMIT ?2)",
      )
      .run(session, slice) < slice;

  const eraseUses = (): void => {
    const rows = connection.prepare("DELETE FROM blob_uses WHERE thread_id = ? RETURNING hash, bytes").all(threadId);
    for (const row of rows) hashes.add(String(row["hash"]));
    sessions.count(-rows.reduce((sum, row) => sum + Number(row["bytes"]), 0));
  };

  /** Returns whether there is nothing left. */
  const step = (): boolean => {
    const session = connection
      .prepare("SELECT session FROM sessions WHERE thread_id = ? ORDER BY generation LIMIT 1")
      .get(threadId);
    if (session === undefined) {
      eraseUses();
      return true;
    }
    const id = Number(session["session"]);
    if (erasePacks(id) && eraseIds(id)) {
      connection.prepare("DELETE FROM sessions WHERE session = ?").run(id);
      sessions.forget();
    }
    return false;
  };

  const slices: Effect.Effect<void, StoreError> = Effect.flatMap(
    submit(() => connection.erasing(step)),
    (isDone) => (isDone ? Effect.void : slices),
  );
  return Effect.as(
    Effect.tap(slices, () => Effect.sync(() => connection.emptyLog())),
    { hashes },
  );
};
