import type { Refusal } from "@tributary/contracts";
import { Context, Effect } from "effect";
import type { Connection, Row } from "./sqlite/Connection.ts";
import { storeError, type StoreError } from "./StoreError.ts";
import type { RunSql } from "./writer/Writer.ts";

/** A refusal with its place in the order of refusals. */
export interface StoredRefusal extends Refusal {
  readonly id: number;
}

/** What the guard refused, kept and counted: nothing is dropped in silence (I5). */
export class Refusals extends Context.Service<
  Refusals,
  {
    /** Refusals in the order in which they were recorded, of one thread or of all. */
    readonly page: (query: {
      readonly after: number;
      readonly threadId?: string;
      readonly limit?: number;
    }) => Effect.Effect<ReadonlyArray<StoredRefusal>, StoreError>;
    /** A thread's last ones, in the order in which they were recorded. */
    readonly newest: (threadId: string, limit: number) => Effect.Effect<ReadonlyArray<StoredRefusal>, StoreError>;
    /**
     * Drops those whose record is gone, as `isGone` says: nothing is left that they point at. Their counts stay. Returns
     * how many went.
     */
    readonly prune: (isGone: (refusal: Refusal) => boolean) => Effect.Effect<number, StoreError>;
    /** How many events were refused for each reason in a thread, dropped ones included. */
    readonly counts: (threadId: string) => Effect.Effect<Readonly<Record<string, number>>, StoreError>;
  }
>()("tributary/store/Refusals") {}

const mostRefusals = 1_000;

/** Rows looked at, and dropped in one transaction. */
const slice = 500;

const refusalOf = (row: Row): StoredRefusal => ({
  id: Number(row["id"]),
  threadId: String(row["thread_id"]),
  generation: Number(row["generation"]),
  seq: Number(row["seq"]),
  type: String(row["type"]),
  // Only what the guard says gets in.
  reason: String(row["reason"]) as Refusal["reason"],
  ...(Number(row["events"]) === 1 ? {} : { events: Number(row["events"]) }),
});

export const makeRefusals = (connection: Connection, runSql: RunSql): Refusals["Service"] => {
  const fields = "id, thread_id, generation, seq, type, reason, events";
  const all = connection.prepare(`SELECT ${fields} FROM refusals WHERE id > ? ORDER BY id LIMIT ?`);
  const ofThread = connection.prepare(
    `SELECT ${fields} FROM refusals WHERE thread_id = ? AND id > ? ORDER BY id LIMIT ?`,
  );
  const lastOfThread = connection.prepare(
    `SELECT ${fields} FROM refusals WHERE thread_id = ? ORDER BY id DESC LIMIT ?`,
  );
  const counts = connection.prepare("SELECT reason, count FROM refusal_counts WHERE thread_id = ?");
  const reading = <A>(read: () => A) =>
    Effect.try({ try: read, catch: (cause) => storeError("The refusals could not be read", cause) });
  const drop = (ids: ReadonlyArray<number>) =>
    runSql((writing) => {
      const one = writing.prepare("DELETE FROM refusals WHERE id = ?");
      for (const id of ids) one.run(id);
    });
  return {
    newest: (threadId, limit) => reading(() => lastOfThread.all(threadId, limit).map(refusalOf).toReversed()),
    prune: Effect.fnUntraced(function* (isGone) {
      let dropped = 0;
      for (let after = 0; ;) {
        const start = after;
        const rows = yield* reading(() => all.all(start, slice).map(refusalOf));
        const last = rows.at(-1);
        if (last === undefined) return dropped;
        const gone = rows.filter(isGone).map(({ id }) => id);
        if (gone.length > 0) yield* drop(gone);
        dropped += gone.length;
        after = last.id;
        // Many of them must not hold up everybody else.
        yield* Effect.yieldNow;
      }
    }),
    page: ({ after, threadId, limit = mostRefusals }) =>
      reading(() => {
        const most = Math.min(limit, mostRefusals);
        const rows = threadId === undefined ? all.all(after, most) : ofThread.all(threadId, after, most);
        return rows.map(refusalOf);
      }),
    counts: (threadId) =>
      reading(() =>
        Object.fromEntries(counts.all(threadId).map((row) => [String(row["reason"]), Number(row["count"])])),
      ),
  };
};
