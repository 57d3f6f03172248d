import { Context, Effect } from "effect";
import type { Cell, Connection } from "../sqlite/Connection.ts";
import { storeError, type StoreError } from "../StoreError.ts";
import { firstVersionAfter } from "./firstVersionAfter.ts";
import { encodedColumns, encodedOf, encodedSize, type EncodedEvent } from "./encoded.ts";
import { columns, eventOf, payloadSize, type LogEvent } from "./rows.ts";

export type { EncodedEvent } from "./encoded.ts";
export type { LogEvent } from "./rows.ts";

export interface EventQuery {
  readonly after: number;
  readonly threadId?: string;
  /** At most 1,000. */
  readonly limit?: number;
  /** About so much payload, and at least one event. */
  readonly maxBytes?: number;
}

/** Reads of the event log, on a connection of their own. */
export class EventLog extends Context.Service<
  EventLog,
  {
    /** Events after a sequence, rising. */
    readonly page: (query: EventQuery) => Effect.Effect<ReadonlyArray<LogEvent>, StoreError>;
    /** The same, without taking payloads apart. */
    readonly encodedPage: (query: EventQuery) => Effect.Effect<ReadonlyArray<EncodedEvent>, StoreError>;
    readonly head: Effect.Effect<number, StoreError>;
    /** Identifies this log: a cursor of another or wiped store is told by it. */
    readonly epoch: string;
  }
>()("tributary/store/EventLog") {}

const mostEvents = 1_000;
const usualBytes = 4_194_304;

/** The two ways to read the log: as events, and as what encoders pass on. */
const readers = (connection: Connection) => {
  const newest = connection.prepare("SELECT version FROM events WHERE stream_id = ? ORDER BY version DESC LIMIT 1");
  const place = connection.prepare("SELECT sequence FROM events WHERE stream_id = ? AND version = ?");

  const reader = <A>(
    fields: string,
    sizeOf: (row: ReadonlyArray<Cell>) => number,
    make: (row: ReadonlyArray<Cell>) => A,
  ) => {
    const all = connection.prepare(`SELECT ${fields} FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?`);
    const ofThread = connection.prepare(
      `SELECT ${fields} FROM events WHERE stream_id = ? AND version >= ? ORDER BY version LIMIT ?`,
    );
    const rowsAfter = (after: number, threadId: string | undefined, limit: number) => {
      if (threadId === undefined) return all.iterateValues(after, limit);
      const versions = Number(newest.get(threadId)?.["version"] ?? 0);
      const from = firstVersionAfter(after, versions, (version) =>
        Number(place.get(threadId, version)?.["sequence"] ?? 0),
      );
      return ofThread.iterateValues(threadId, from, limit);
    };
    return ({ after, threadId, limit = mostEvents, maxBytes = usualBytes }: EventQuery) =>
      reading(() =>
        connection.snapshot(() => {
          const made: Array<A> = [];
          let bytes = 0;
          for (const row of rowsAfter(after, threadId, Math.min(Math.max(1, Math.trunc(limit)), mostEvents))) {
            bytes += sizeOf(row);
            if (made.length > 0 && bytes > maxBytes) break;
            made.push(make(row));
          }
          return made;
        }),
      );
  };

  return {
    page: reader(columns.join(", "), payloadSize, eventOf),
    encodedPage: reader(encodedColumns.join(", "), encodedSize, encodedOf),
  };
};

const reading = <A>(read: () => A) =>
  Effect.try({ try: read, catch: (cause) => storeError("The event log could not be read", cause) });

export const makeEventLog = (connection: Connection, epoch: string): EventLog["Service"] => {
  const head = connection.prepare("SELECT max(sequence) AS head FROM events");
  return { epoch, head: reading(() => Number(head.get()?.["head"] ?? 0)), ...readers(connection) };
};
