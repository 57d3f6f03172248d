/**
 * Live frames of one subscription: text that people may see before the log has it. Keeps how far each open row was sent,
 * nothing per client and delta: what is skipped while a client is slow arrives as one larger piece (I11). Pure.
 */
import type { LiveText } from "@tributary/contracts/api";

/** What the client knows of one open row. */
export interface Sent {
  readonly revision: number;
  /** UTF-16 code units of the row that the client knows, from the log or from live frames. */
  readonly upTo: number;
}

/**
 * What to send now, given all open text beyond the log as ingestion has it now: each row from where the log ends.
 * Changes `sent` to what the client knows afterwards.
 */
export const liveFrames = (open: ReadonlyArray<LiveText>, sent: Map<string, Sent>): ReadonlyArray<LiveText> => {
  const seen = new Set<string>();
  const frames = open.flatMap((text) => {
    seen.add(text.rowId);
    const end = text.offset + text.text.length;
    const before = sent.get(text.rowId);
    const known = before?.revision === text.revision ? Math.max(before.upTo, text.offset) : text.offset;
    sent.set(text.rowId, { revision: text.revision, upTo: Math.max(known, end) });
    // A raised revision takes back what was shown, also when nothing stands in its place yet.
    const takesBack = before !== undefined && before.revision !== text.revision;
    if (end <= known && !takesBack) return [];
    return [known === text.offset ? text : { ...text, offset: known, text: text.text.slice(known - text.offset) }];
  });
  for (const rowId of sent.keys()) if (!seen.has(rowId)) sent.delete(rowId);
  return frames;
};
