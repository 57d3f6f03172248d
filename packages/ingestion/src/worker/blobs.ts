/** Diffs that are too large for an event become blobs (4.11): put away before the step, which is synchronous. */
import type { FileChange, RuntimeEvent } from "@tributary/contracts";
import type { Journal, StoreError } from "@tributary/store";
import { Effect } from "effect";
import { noBlobs, oversizedDiffs } from "../interpret/caps.ts";
import type { Blobs } from "../interpret/caps.ts";
import type { Interpretable } from "../interpret/interpret.ts";
import { diffBytes } from "../limits.ts";
import type { Memory } from "../interpret/memory.ts";
import { utf8Bytes } from "../text/utf16.ts";

const isLarge = (diff: string): boolean => diff.length * 3 > diffBytes && utf8Bytes(diff) > diffBytes;

const changesOf = (event: RuntimeEvent): ReadonlyArray<FileChange> | undefined => {
  switch (event.type) {
    case "item.started":
    case "item.updated":
    case "item.completed":
      return event.payload.changes;
    case "request.opened":
      return event.payload.subject?.changes;
    default:
      return undefined;
  }
};

const largeTexts = (event: RuntimeEvent): ReadonlyArray<string> =>
  event.type === "turn.diff" ? [event.payload.unifiedDiff].filter(isLarge) : oversizedDiffs(changesOf(event));

/** What a step over these records may have to name: diffs in them, and those that wait. */
const needed = (memory: Memory, records: ReadonlyArray<Interpretable>): ReadonlySet<string> => {
  const texts = new Set<string>();
  for (const { text } of memory.diffs.values()) if (isLarge(text)) texts.add(text);
  for (const { events } of records) for (const event of events) for (const text of largeTexts(event)) texts.add(text);
  return texts;
};

/** Puts away what the step will need, and gives the hashes by text. */
export const prepareBlobs = (
  journal: Journal["Service"],
  threadId: string,
  memory: Memory,
  records: ReadonlyArray<Interpretable>,
): Effect.Effect<Blobs, StoreError> => {
  const texts = needed(memory, records);
  if (texts.size === 0) return Effect.succeed(noBlobs);
  const hashes = new Map<string, string>();
  const put = (text: string) => Effect.map(journal.putBlob(threadId, text), (hash) => hashes.set(text, hash));
  return Effect.as(Effect.forEach(texts, put, { discard: true }), (text: string) => hashes.get(text));
};
