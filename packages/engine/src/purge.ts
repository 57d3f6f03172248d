/** Erasing a deleted thread for good: only once nothing of it runs, because what runs may still say something. */
import { Effect } from "effect";
import { endSession } from "./reactors/end.ts";
import type { Tools } from "./tools.ts";

/**
 * Ends what is left of the thread's session, waits until its records are interpreted, and commits the purge; the store then
 * erases payloads, journal and blobs, and leaves tombstones (I3). False: there is no such thread, or it is not deleted.
 */
export const purgeThread = Effect.fn("Engine.purge")(function* (tools: Tools, threadId: string) {
  if (tools.writer.state(threadId)?.deleted !== true) return false;
  const live = tools.sessions.get(threadId);
  if (live !== undefined) yield* endSession(tools, live);
  tools.answers.dropAll(threadId);
  tools.servers.drop(threadId);
  yield* tools.activity.outside(tools.ingested.flush(threadId));
  return yield* tools.step(threadId, ({ deleted }) => (deleted ? [{ type: "thread.purge" }] : []));
});
