/** Cursors on the wire: opaque to clients, and each knows which log it counts in. Pure. */
import { CursorProblem } from "@tributary/contracts/api";

/** A place in the event log. `e:<epoch>.<sequence>`; pages of rows give `e:<position>`, which counts the same. */
export const eventCursor = (epoch: string, sequence: number): string => `e:${epoch}.${sequence}`;

/** A place in a thread's journal: the record up to which (inclusive) was read. `r:<epoch>.<generation>.<seq>` */
export const recordCursor = (epoch: string, generation: number, seq: number): string =>
  `r:${epoch}.${generation}.${seq}`;

const count = (text: string | undefined): number | undefined =>
  text !== undefined && /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : undefined;

const problem = (detail: string): CursorProblem => new CursorProblem({ detail, userAction: "retry" });

/** What an event cursor says. `unservable`: of another log, or beyond the end of this one; a stream answers with `reset`. */
export type ReadCursor =
  | { readonly kind: "at"; readonly sequence: number }
  | { readonly kind: "unservable"; readonly reason: string };

/** Reads an event cursor. Throws `CursorProblem` for one that belongs to a journal or is damaged. */
export const readEventCursor = (cursor: string, log: { readonly epoch: string; readonly head: number }): ReadCursor => {
  if (cursor.startsWith("r:"))
    throw problem(
      "This cursor counts in a thread's journal (r:…); the event log needs one that an event came with (e:…).",
    );
  const parts = /^e:(?:(.+)\.)?(\d+)$/.exec(cursor);
  const sequence = count(parts?.[2]);
  if (sequence === undefined)
    throw problem("This is no cursor that was given out; leave `after` away to start from the beginning.");
  if (parts?.[1] !== undefined && parts[1] !== log.epoch)
    return { kind: "unservable", reason: "the cursor is of another event log; read everything again" };
  if (sequence > log.head)
    return { kind: "unservable", reason: "the cursor is beyond the end of the event log; read everything again" };
  return { kind: "at", sequence };
};

/** Reads an event cursor for a page, where one that can't be served is an error as well. Absent: the beginning. */
export const pageAfter = (
  cursor: string | undefined,
  log: { readonly epoch: string; readonly head: number },
): number => {
  if (cursor === undefined) return 0;
  const read = readEventCursor(cursor, log);
  if (read.kind === "at") return read.sequence;
  throw problem(`It can't be served: ${read.reason}.`);
};

/** Reads a journal cursor. Absent: the beginning. Throws `CursorProblem` for one of the event log, or a damaged one. */
export const readRecordCursor = (
  cursor: string | undefined,
  epoch: string,
): { readonly generation: number; readonly seq: number } => {
  if (cursor === undefined) return { generation: 1, seq: 0 };
  if (cursor.startsWith("e:"))
    throw problem("This cursor counts in the event log (e:…); the journal needs one that records came with (r:…).");
  const parts = /^r:(.+)\.(\d+)\.(\d+)$/.exec(cursor);
  const generation = count(parts?.[2]);
  const seq = count(parts?.[3]);
  if (parts?.[1] !== epoch || !generation || seq === undefined)
    throw problem("This is no cursor of this journal; leave `after` away to start from the beginning.");
  return { generation, seq };
};
