/** Pages of a thread's journal: every native frame that crossed the boundary, generation after generation. */
import { EventLog, Journal } from "@tributary/store";
import type { JournalRecord } from "@tributary/store";
import { Effect } from "effect";
import { readRecordCursor, recordCursor } from "./cursor.ts";
import { existing, reading } from "./reads.ts";

const frameOf = ({ frame }: JournalRecord): unknown => {
  if (frame === undefined) return null;
  try {
    return JSON.parse(frame);
  } catch {
    // Noise on a runtime's stdout is a record too, and no JSON.
    return frame;
  }
};

export const shownRecord = (record: JournalRecord) => {
  const { generation, seq, kind, dir, nativeKind, at, events } = record;
  return { generation, seq, kind, dir, nativeKind, at, frame: frameOf(record), events };
};

/** Records after a cursor, of all generations or of one. `done` when there are no more for now. */
export const recordPage = Effect.fnUntraced(function* (
  threadId: string,
  query: { readonly after?: string; readonly limit?: number; readonly generation?: number },
) {
  const { session } = yield* existing(threadId);
  const journal = yield* Journal;
  const { epoch } = yield* EventLog;
  const limit = query.limit ?? 200;
  const start = yield* reading(() => readRecordCursor(query.after, epoch));
  const last = query.generation ?? session?.generation ?? 0;
  let at =
    query.generation === undefined || start.generation === query.generation
      ? start
      : { generation: query.generation, seq: 0 };
  const records: Array<ReturnType<typeof shownRecord>> = [];
  let done = false;
  while (records.length < limit) {
    const page = journal.read({ threadId, generation: at.generation, after: at.seq, limit: limit - records.length });
    records.push(...page.map(shownRecord));
    const end = page.at(-1);
    if (end !== undefined) at = { generation: at.generation, seq: end.seq };
    else if (at.generation < last) at = { generation: at.generation + 1, seq: 0 };
    else {
      done = true;
      break;
    }
  }
  return { records, next: recordCursor(epoch, at.generation, at.seq), done };
});
