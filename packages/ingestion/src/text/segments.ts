/**
 * Segments: the text of one item, keyed (turnId, agentPath, itemId, stream), on its way into the log.
 *
 *      ┌────────── ended ──────────┐  ┌───────────── open ─────────────┐
 *      [ piece 0 ][ whitespace ][ piece 1 ][ in the log │ held: pieces… ] ◄── push
 *       message #0   no message  message #1    message #2 │
 *                                                         │
 *      journal:  … frame ─ frame ─ frame ─ frame ─ frame ─ frame
 *                                            ▲
 *                               firstSeq, after `skip` code units of it
 *
 * S1 What was pushed since the segment opened is `committed` in the log, then `held` (I4).
 * S2 After every push and `takeBlock` until empty, held < 24,000 code units. A block handed out is never longer, and is
 *    never cut inside a surrogate pair.
 * S3 A push is O(1) amortised: pieces are joined only when something is handed out.
 * S4 `firstSeq` and `skip` name the first held unit in the journal: the checkpoint holds no text (4.2).
 * S5 While a segment is nothing but whitespace nothing of it is handed out, save at the cap; ending so it makes no message.
 * S6 A high surrogate at the end waits for the next push; it goes alone only when the segment ends. So does what may be
 *    the beginning of a secret: with a masker, what is handed out is masked, and `held` counts what came.
 *
 * All of it is memory that can be thrown away: the checkpoint and the journal bring it back.
 */
import { segmentUnits } from "../limits.ts";
import { maskedBy } from "./masking.ts";
import type { Masker } from "./masking.ts";
import { emptyHash } from "./text-hash.ts";
import type { TextHash } from "./text-hash.ts";
import { cutBefore, detached, endsInHigh, isBlank } from "./utf16.ts";

/** `message`: assistant text. `full` and `summary`: reasoning. */
export type TextKind = "message" | "full" | "summary";

/** A segment that ended. Without a number it was whitespace and made no message. */
export interface EndedSegment {
  readonly number?: number;
  readonly length: number;
  /** Absent when the text is known only from the log. */
  readonly hash?: TextHash;
  readonly retracted?: boolean;
}

/** The segment that new text goes to. */
export interface OpenSegment {
  /** Its message's number, once it has one. */
  number: number | undefined;
  /** Code units in the log, and their hash. */
  committed: number;
  hash: TextHash | undefined;
  /** Nothing but whitespace so far. */
  blank: boolean;
  pieces: Array<string>;
  /** Code units in `pieces`. */
  held: number;
  /** Events whose last unit is held. */
  events: number;
  firstSeq: number;
  skip: number;
  /** When the first held unit came, in milliseconds. */
  since: number;
  /** Its turn is over: what it commits stays closed, and nothing is held for long. */
  late: boolean;
}

/** The text of one item in one stream. */
export interface TextItem {
  readonly key: string;
  readonly kind: TextKind;
  readonly turnId: string | undefined;
  readonly agentPath: ReadonlyArray<string>;
  readonly itemId: string;
  readonly ended: Array<EndedSegment>;
  open: OpenSegment | undefined;
  /** The number of the next message. Only segments that make one are numbered. */
  nextNumber: number;
  /** The item itself is over; text that still comes is kept all the same. */
  done: boolean;
  /** Raised when live text that people saw was replaced or retracted. */
  revision: number;
  /** The newest record with text of this item, and how many units of that record it was. */
  recordSeq: number;
  recordUnits: number;
}

export const openSegment = (late: boolean): OpenSegment => ({
  number: undefined,
  committed: 0,
  hash: emptyHash,
  blank: true,
  pieces: [],
  held: 0,
  events: 0,
  firstSeq: 0,
  skip: 0,
  since: 0,
  late,
});

/** All that is held, as one string. */
export const heldText = (segment: OpenSegment): string => {
  const { pieces } = segment;
  if (pieces.length > 1) segment.pieces = [pieces.join("")];
  return segment.pieces[0] ?? "";
};

/** How many code units of a text that goes on may be handed out. */
export const readyUnits = (text: string, masker: Masker | undefined): number => {
  const units = endsInHigh(text) ? text.length - 1 : text.length;
  return masker === undefined ? units : cutBefore(text, Math.min(units, masker.decided(text)));
};

/** Whether a flush would hand something out. */
export const isFlushable = (segment: OpenSegment, masker?: Masker): boolean => {
  if (segment.held === 0 || (segment.blank && segment.number === undefined)) return false;
  if (segment.held > (masker?.longest ?? 1)) return true;
  return readyUnits(heldText(segment), masker) > 0;
};

/** What may be shown of what is held: masked, and without what is undecided. */
export const shownText = (segment: OpenSegment, masker: Masker | undefined): string => {
  const text = heldText(segment);
  return masker === undefined ? text : masker.masked(text.slice(0, readyUnits(text, masker)));
};

/** Where a delta came from: its record, and when that came. */
export interface Arrival {
  readonly seq: number;
  readonly arrived: number;
}

/** Adds text of one delta to the item's open segment. */
export const push = (
  item: TextItem,
  segment: OpenSegment,
  text: string,
  { seq, arrived }: Arrival,
  masker?: Masker,
): void => {
  if (item.recordSeq !== seq) {
    item.recordSeq = seq;
    item.recordUnits = 0;
  }
  // The age of what could not be flushed before begins now.
  if (!isFlushable(segment, masker)) segment.since = arrived;
  if (segment.held === 0) {
    segment.firstSeq = seq;
    segment.skip = item.recordUnits;
  }
  item.recordUnits += text.length;
  segment.pieces.push(text);
  segment.held += text.length;
  segment.blank &&= isBlank(text);
};

/**
 * Keeps only the end of what is held: the last `rest.length` units of the newest record, or all but the first `taken` ones
 * from `firstSeq` on where that record has fewer (what is undecided may have come in many).
 */
const keep = (item: TextItem, segment: OpenSegment, rest: string, taken: number): void => {
  segment.pieces = rest === "" ? [] : [rest];
  segment.held = rest.length;
  if (rest.length <= item.recordUnits) {
    segment.firstSeq = item.recordSeq;
    segment.skip = item.recordUnits - rest.length;
  } else segment.skip += taken;
};

/** Forgets what is undecided at the end: the runtime's whole text says what it was. */
export const forgetUndecided = (segment: OpenSegment, masker: Masker): void => {
  const text = heldText(segment);
  const kept = text.slice(0, masker.decided(text));
  segment.pieces = kept === "" ? [] : [kept];
  segment.held = kept.length;
};

export const isFull = (segment: OpenSegment): boolean => segment.held >= segmentUnits;

/** Where a block ends that has at most `units`: in no pair, in no secret and before what may become one. */
export const blockUnits = (text: string, units: number, masker: Masker | undefined): number =>
  cutBefore(text, masker === undefined ? units : masker.before(text, Math.min(units, masker.decided(text))));

/** Takes what a full buffer gives at once: 24,000 code units, fewer where that would part a pair or a secret. */
export const takeBlock = (item: TextItem, segment: OpenSegment, masker?: Masker): string => {
  const text = heldText(segment);
  const cut = blockUnits(text, segmentUnits, masker);
  const rest = text.slice(cut);
  // The last rest of a huge delta must not keep that delta alive.
  keep(item, segment, text.length > 4 * segmentUnits && rest.length < segmentUnits ? detached(rest) : rest, cut);
  return maskedBy(masker, text.slice(0, cut));
};

/** Takes what may enter the log now; the segment goes on. */
export const takeReady = (item: TextItem, segment: OpenSegment, masker?: Masker): string => {
  if (!isFlushable(segment, masker)) return "";
  const text = heldText(segment);
  const cut = readyUnits(text, masker);
  keep(item, segment, text.slice(cut), cut);
  return maskedBy(masker, text.slice(0, cut));
};

/** Takes all that is held: the segment ends. */
export const takeAll = (item: TextItem, segment: OpenSegment, masker?: Masker): string => {
  const text = heldText(segment);
  keep(item, segment, "", text.length);
  return maskedBy(masker, text);
};
