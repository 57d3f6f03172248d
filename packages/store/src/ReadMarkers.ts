import { Context, Effect } from "effect";
import type { Connection } from "./sqlite/Connection.ts";
import { storeError, type StoreError } from "./StoreError.ts";
import type { ReadMarker } from "./writer/Committed.ts";

/**
 * Up to which position each person has read each thread: moved by `thread.read`, never back, without an event. Its
 * changes are a feed of their own: touch key `read:<actorId>`, then read what has a higher `revision`.
 */
export class ReadMarkers extends Context.Service<
  ReadMarkers,
  {
    /** A person's markers that changed after a revision, in the order of their changes. */
    readonly page: (query: {
      readonly actorId: string;
      readonly after: number;
      readonly limit?: number;
    }) => Effect.Effect<ReadonlyArray<ReadMarker>, StoreError>;
    /** Up to which position a person has read a thread; 0 when never. Synchronous read. */
    readonly position: (actorId: string, threadId: string) => number;
  }
>()("tributary/store/ReadMarkers") {}

const mostMarkers = 1_000;

export const makeReadMarkers = (connection: Connection): ReadMarkers["Service"] => {
  const feed = connection.prepare(
    "SELECT thread_id, position, revision FROM read_markers WHERE actor_id = ? AND revision > ? ORDER BY revision LIMIT ?",
  );
  const one = connection.prepare("SELECT position FROM read_markers WHERE actor_id = ? AND thread_id = ?");
  return {
    page: ({ actorId, after, limit = mostMarkers }) =>
      Effect.try({
        try: () =>
          feed.all(actorId, after, Math.min(limit, mostMarkers)).map((row) => ({
            actorId,
            threadId: String(row["thread_id"]),
            position: Number(row["position"]),
            revision: Number(row["revision"]),
          })),
        catch: (cause) => storeError("The read markers could not be read", cause),
      }),
    position: (actorId, threadId) => Number(one.get(actorId, threadId)?.["position"] ?? 0),
  };
};
