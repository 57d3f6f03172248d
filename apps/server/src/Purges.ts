/**
 * Deleted threads do not stay in the data folder for ever: after `settings.purgeDeletedAfterDays` they are purged. Looked
 * at soon after the start and every hour, with the settings as they are then.
 */
import { Engine } from "@tributary/engine";
import { RowReader, StoreError } from "@tributary/store";
import { Clock, Effect, Layer } from "effect";
import { Configuration } from "./config/Configuration.ts";

const defaultDays = 30;
const day = 24 * 60 * 60 * 1_000;
/** Threads at a time, so that a first look at an old folder is no burst. */
const batch = 50;

/** Threads that were deleted before an instant, the oldest first. Nothing changes a deleted thread but its purge. */
const deletedBefore = (
  reader: RowReader["Service"],
  instant: string,
): Effect.Effect<ReadonlyArray<string>, StoreError> =>
  Effect.try({
    try: () =>
      reader
        .all(
          "SELECT thread_id FROM {threads} WHERE deleted = 1 AND updated_at <= ? ORDER BY updated_seq LIMIT ?",
          instant,
          batch,
        )
        .map((row) => String(row["thread_id"])),
    catch: (cause) => new StoreError({ reason: "io", message: "Deleted threads can't be listed.", cause }),
  });

/** Purges what is due now; how many threads that were. */
export const purgeDue = Effect.gen(function* () {
  const engine = yield* Engine;
  const reader = yield* RowReader;
  const configuration = yield* Configuration;
  const days = configuration.current().settings.purgeDeletedAfterDays ?? defaultDays;
  if (days === "never") return 0;
  const before = new Date((yield* Clock.currentTimeMillis) - days * day).toISOString();
  let purged = 0;
  for (;;) {
    const due = yield* deletedBefore(reader, before);
    let done = 0;
    for (const threadId of due) if (yield* engine.purge(threadId)) done += 1;
    purged += done;
    // Those that would not go are looked at again in an hour, not again and again.
    if (due.length < batch || done === 0) return purged;
  }
});

/** Looks for as long as the server runs. */
export const Purges = Layer.effectDiscard(
  Effect.forkScoped(
    Effect.forever(
      Effect.andThen(
        Effect.catchCause(purgeDue, (cause) => Effect.logWarning("Deleted threads are not purged yet", cause)),
        Effect.sleep("1 hour"),
      ),
    ),
  ),
);
