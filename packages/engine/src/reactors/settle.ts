/** Ends of sessions that the engine says, because no runtime does. */
import { Effect } from "effect";
import type { Commands } from "../steps.ts";
import type { Tools } from "../tools.ts";

/** Flushes what is held of the thread, as long as that does not take long, and settles (4.10). */
export const settleExit = Effect.fnUntraced(function* (
  { activity, ingested, step, timings }: Pick<Tools, "activity" | "ingested" | "step" | "timings">,
  threadId: string,
  commands: Commands,
) {
  const flushing = yield* activity.entrust(ingested.flush(threadId));
  // Text that comes later still finds its message (4.3); stopping does not wait for it.
  yield* flushing.within(timings.flush);
  return yield* step(threadId, commands);
});
