/** Journal records as tests need them. */
import type { RuntimeEvent } from "@tributary/contracts";
import type { JournalEntry } from "@tributary/store";

export const delta = (text: string, id?: string): RuntimeEvent => ({
  type: "content.delta",
  turnId: "t1",
  itemId: "i1",
  payload: { stream: "assistant_text", text },
  ...(id === undefined ? {} : { id }),
});

/** A record with one delta. */
export const entry = (
  threadId: string,
  generation: number,
  seq: number,
  over: { readonly id?: string; readonly frame?: string; readonly at?: number } = {},
): JournalEntry => ({
  threadId,
  generation,
  seq,
  kind: "frame",
  dir: "in",
  nativeKind: "delta",
  frame: over.frame ?? JSON.stringify({ delta: `word ${seq}` }),
  events: [delta(`word ${seq}`, over.id)],
  at: over.at ?? 1_767_225_600_000 + seq,
});

/** Records `from` to `to` of a session. */
export const entries = (threadId: string, generation: number, from: number, to: number): ReadonlyArray<JournalEntry> =>
  Array.from({ length: to - from + 1 }, (_, index) => entry(threadId, generation, from + index));
