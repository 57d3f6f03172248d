import { Context, Effect } from "effect";
import type { Connection } from "../sqlite/Connection.ts";
import { storeError, type StoreError } from "../StoreError.ts";
import { firstVersionAfter } from "./firstVersionAfter.ts";
import { columns, eventOf, payloadSize, type LogEvent } from "./rows.ts";

export type { LogEvent } from "./rows.ts";

/** Reads of the event log, on a connection of their own. */
export class EventLog extends Context.Service<
  EventLog,
  {
    /** Events after a sequence, rising, at most `limit` (≤ 1,000) and about `maxBytes` of payload (at least one). */
    readonly page: (query: {
      readonly after: number;
      readonly threadId?: string;
      readonly limit?: number;
      readonly maxBytes?: number;
    }) => Effect.Effect<ReadonlyArray<LogEvent>, StoreError>;
    readonly head: Effect.Effect<number, StoreError>;
    /** Identifies this log: a cursor of another or wiped store is told by it. */
    readonly epoch: string;
  }
>()("tributary/store/EventLog") {}

const mostEvents = 1_000;
const usualBytes = 4_194_304;

export const makeEventLog = (connection: Connection, epoch: string): EventLog["Service"] => {
  const fields = columns.join(", ");
  const all = connection.prepare(`SELECT ${fields} FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?`);
  const ofThread = connection.prepare(
    `SELECT ${fields} FROM events WHERE stream_id = ? AND version >= ? ORDER BY version LIMIT ?`,
  );
  const newest = connection.prepare("SELECT version FROM events WHERE stream_id = ? ORDER BY version DESC LIMIT 1");
  const place = connection.prepare("SELECT sequence FROM events WHERE stream_id = ? AND version = ?");
  const head = connection.prepare("SELECT max(sequence) AS head FROM events");

  const rowsAfter = (after: number, threadId: string | undefined, limit: number) => {
    if (threadId === undefined) return all.iterateValues(after, limit);
    const versions = Number(newest.get(threadId)?.["version"] ?? 0);
    const from = firstVersionAfter(after, versions, (version) =>
      Number(place.get(threadId, version)?.["sequence"] ?? 0),
    );
    return ofThread.iterateValues(threadId, from, limit);
  };

  const reading = <A>(read: () => A) =>
    Effect.try({ try: read, catch: (cause) => storeError("The event log could not be read", cause) });

  return {
    epoch,
    head: reading(() => Number(head.get()?.["head"] ?? 0)),
    page: ({ after, threadId, limit = mostEvents, maxBytes = usualBytes }) =>
      reading(() =>
        connection.snapshot(() => {
          const events: Array<LogEvent> = [];
          let bytes = 0;
          for (const row of rowsAfter(after, threadId, Math.min(Math.max(1, Math.trunc(limit)), mostEvents))) {
            bytes += payloadSize(row);
            if (events.length > 0 && bytes > maxBytes) break;
            events.push(eventOf(row));
          }
          return events;
        }),
      ),
  };
};
