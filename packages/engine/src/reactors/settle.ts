/** Ends of sessions that the engine says, because no runtime does. */
import { Effect } from "effect";
import type { Commands } from "../steps.ts";
import type { Tools } from "../tools.ts";

/** Flushes what is held of the thread, as long as that does not take long, and settles (4.10). */
export const settleExit = (
  tools: Pick<Tools, "ingested" | "step" | "timings">,
  { threadId }: { readonly threadId: string },
  commands: Commands,
): Effect.Effect<boolean> =>
  tools.ingested.flush(threadId).pipe(
    // Text that comes later still finds its message (4.3); stopping does not wait for it.
    Effect.timeoutOption(tools.timings.flush),
    Effect.andThen(tools.step(threadId, commands)),
  );
