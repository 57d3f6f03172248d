/**
 * Cursors into the event log: `e:` and the sequence that was read up to. Opaque to clients. Positions of rows are
 * sequences too, so a page's cursor and a feed's are of one kind. A cursor of a thread's journal (`r:`) is none of these.
 */
import { Schema } from "effect";

/** The cursor is not one of ours, or is one of another log. Leave it out to begin anew. */
export class CursorInvalid extends Schema.TaggedError<CursorInvalid>()("CursorInvalid", {
  cursor: Schema.String,
  message: Schema.String,
}) {}

export const encodeCursor = (sequence: number): string => `e:${sequence}`;

/** The sequence of a cursor, or why it has none. Never throws. */
export const decodeCursor = (cursor: string): number | CursorInvalid => {
  const digits = /^e:(0|[1-9]\d{0,15})$/.exec(cursor)?.[1];
  const sequence = digits === undefined ? Number.NaN : Number(digits);
  if (Number.isSafeInteger(sequence)) return sequence;
  const shown = cursor.slice(0, 64);
  return new CursorInvalid({
    cursor: shown,
    message: cursor.startsWith("r:")
      ? `"${shown}" is a cursor of a thread's journal; this reads the event log. Use a cursor that it gave.`
      : `"${shown}" is not a cursor of the event log. Use one that a page or an event gave, or none.`,
  });
};
