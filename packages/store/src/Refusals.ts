import type { Refusal } from "@tributary/contracts";
import { Context, Effect } from "effect";
import type { Connection, Row } from "./sqlite/Connection.ts";
import { storeError, type StoreError } from "./StoreError.ts";

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
    /** How many events were refused for each reason in a thread. */
    readonly counts: (threadId: string) => Effect.Effect<Readonly<Record<string, number>>, StoreError>;
  }
>()("tributary/store/Refusals") {}

const mostRefusals = 1_000;

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

export const makeRefusals = (connection: Connection): Refusals["Service"] => {
  const fields = "id, thread_id, generation, seq, type, reason, events";
  const all = connection.prepare(`SELECT ${fields} FROM refusals WHERE id > ? ORDER BY id LIMIT ?`);
  const ofThread = connection.prepare(
    `SELECT ${fields} FROM refusals WHERE thread_id = ? AND id > ? ORDER BY id LIMIT ?`,
  );
  const counts = connection.prepare("SELECT reason, count FROM refusal_counts WHERE thread_id = ?");
  const reading = <A>(read: () => A) =>
    Effect.try({ try: read, catch: (cause) => storeError("The refusals could not be read", cause) });
  return {
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
