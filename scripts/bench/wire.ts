import { withFolder, type BenchContext } from "./harness.ts";
import { firstEvent } from "./wire/first-event.ts";
import { streams } from "./wire/streams.ts";

/** What clients see of it: streams of events, and how soon the first event of a turn is there. */
export const wire = (context: BenchContext): Promise<void> =>
  withFolder(async (folder) => {
    for (const part of [streams, firstEvent]) await part(context, folder);
  });
