/** Letting go of old records, by age and by size. */
import { Effect } from "effect";
import type { Connection } from "../sqlite/Connection.ts";
import type { StoreError } from "../StoreError.ts";
import type { Removed, Submit } from "./erase.ts";
import type { Sessions } from "./sessions.ts";

export interface PruneOptions {
  /** Milliseconds since the epoch: records from before may go. */
  readonly olderThan?: number;
  /** As long as the journal takes more bytes than this, its oldest records may go, whatever their age. */
  readonly maxBytes?: number;
  /**
   * Up to which seq of a session nothing is needed any more: never past its checkpoint, nor past what is held from before
   * the checkpoint. 0 keeps all; Infinity says that the session is over and interpreted.
   */
  readonly keepAfter: (threadId: string, generation: number) => number;
}

export interface Pruned {
  readonly records: number;
  readonly bytes: number;
}

interface Cursor {
  id: number;
  records: number;
  bytes: number;
}

/** Packs looked at in one transaction. */
const slice = 200;

export const prune = (
  submit: Submit,
  connection: Connection,
  sessions: Sessions,
  options: PruneOptions,
  removeUnused: (removed: Removed) => void,
): Effect.Effect<Pruned, StoreError> => {
  const sql = {
    next: connection.prepare(
      "SELECT id, session, first_seq, last_seq, at, bytes FROM packs WHERE id > ? ORDER BY id LIMIT ?",
    ),
    session: connection.prepare("SELECT thread_id, generation FROM sessions WHERE session = ?"),
    drop: connection.prepare("DELETE FROM packs WHERE id = ?"),
    prunedTo: connection.prepare("UPDATE sessions SET pruned_to = ? WHERE session = ? AND pruned_to < ?"),
    uses: connection.prepare("DELETE FROM blob_uses WHERE session = ? AND seq BETWEEN ? AND ? RETURNING hash, bytes"),
    left: connection.prepare("SELECT 1 AS one FROM packs WHERE session = ? LIMIT 1"),
    ids: connection.prepare("DELETE FROM event_ids WHERE session = ?"),
  };

  /** Up to which seq of a session may go, asked once a slice. */
  const makeFloor = () => {
    const floors = new Map<number, number>();
    return (session: number): number => {
      const known = floors.get(session);
      if (known !== undefined) return known;
      const row = sql.session.get(session);
      const floor = row === undefined ? 0 : options.keepAfter(String(row["thread_id"]), Number(row["generation"]));
      floors.set(session, floor);
      return floor;
    };
  };

  /** Drops what may go of the next packs. Returns whether to go on. */
  const step = (cursor: Cursor, hashes: Set<string>): boolean => {
    const floor = makeFloor();
    // Pruned rows are changed behind the sessions' cache.
    sessions.forget();
    const rows = sql.next.all(cursor.id, slice);
    let total = sessions.bytes();
    for (const row of rows) {
      const id = Number(row["id"]);
      const session = Number(row["session"]);
      const first = Number(row["first_seq"]);
      const last = Number(row["last_seq"]);
      const isOld = options.olderThan !== undefined && Number(row["at"]) < options.olderThan;
      const isTooMuch = options.maxBytes !== undefined && total > options.maxBytes;
      // Later packs are younger, and the size has not changed: nothing after this one may go either.
      if (!isOld && !isTooMuch) return false;
      cursor.id = id;
      if (last > floor(session)) continue;
      const uses = sql.uses.all(session, first, last);
      const freed = Number(row["bytes"]) + uses.reduce((sum, use) => sum + Number(use["bytes"]), 0);
      for (const use of uses) hashes.add(String(use["hash"]));
      sql.drop.run(id);
      sql.prunedTo.run(last, session, last);
      sessions.count(-freed);
      total -= freed;
      cursor.records += last - first + 1;
      cursor.bytes += freed;
      // A session that is over sees no event again, so what it has seen need not be known.
      if (floor(session) === Infinity && sql.left.get(session) === undefined) sql.ids.run(session);
    }
    return rows.length === slice;
  };

  return Effect.gen(function* () {
    const cursor: Cursor = { id: 0, records: 0, bytes: 0 };
    for (;;) {
      const hashes = new Set<string>();
      const goOn = yield* submit(() => step(cursor, hashes));
      removeUnused({ hashes });
      if (!goOn) return { records: cursor.records, bytes: cursor.bytes };
    }
  });
};
