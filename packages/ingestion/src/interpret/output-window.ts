/**
 * Command output in the log (4.4): 32 KiB of its beginning as it comes, 32 KiB of its end when the command is over.
 * The whole is in the journal.
 *
 *      |──── head: logged ────|· pending ·|~~~~~ omitted ~~~~~|──── tail: a ring ────|
 *      0                   logged      ≤ 32,768        size - tail                  size
 *
 * O1 `pending` follows the head without a gap and ends it at 32,768 units, counted as they came: in the log secrets are
 *    masked, so that it may have fewer.
 * O2 The ring holds at most the last 32,768 units that are not in the head, in blocks, each with the record it began in:
 *    the checkpoint holds no output.
 */
import { outputHeadUnits, outputPieceUnits, outputTailUnits } from "../limits.ts";
import { maskedBy } from "../text/masking.ts";
import type { Masker } from "../text/masking.ts";
import { blockUnits, readyUnits } from "../text/segments.ts";
import { cutAfter, cutBefore } from "../text/utf16.ts";

interface Block {
  text: string;
  /** Where its first unit is: the record, and how many units of the item's output in that record come before. */
  readonly seq: number;
  readonly skip: number;
}

/** Small deltas are joined to blocks of about this, so that the ring is a few dozen strings. */
const ringBlockUnits = 1_024;

export interface OutputWindow {
  readonly activityId: string;
  readonly turnId: string | undefined;
  readonly agentPath: ReadonlyArray<string>;
  readonly itemId: string;
  /** Units of the head in the log. */
  logged: number;
  /** Units that came of what is in the log: more where secrets are masked. */
  taken: number;
  pending: Array<string>;
  pendingUnits: number;
  /** Events whose last unit is pending. */
  events: number;
  /** Where the first pending unit is. */
  pendingSeq: number;
  pendingSkip: number;
  since: number;
  /** The newest record with head in it, and how many of its units came up to the end of that head. */
  headSeq: number;
  headMark: number;
  readonly ring: Array<Block>;
  ringUnits: number;
  /** Units seen in all. */
  size: number;
  recordSeq: number;
  recordUnits: number;
}

export const openOutput = (of: Pick<OutputWindow, "activityId" | "turnId" | "agentPath" | "itemId">): OutputWindow => ({
  ...of,
  logged: 0,
  taken: 0,
  pending: [],
  pendingUnits: 0,
  events: 0,
  pendingSeq: 0,
  pendingSkip: 0,
  since: 0,
  headSeq: 0,
  headMark: 0,
  ring: [],
  ringUnits: 0,
  size: 0,
  recordSeq: 0,
  recordUnits: 0,
});

const pushTail = (window: OutputWindow, text: string, seq: number, skip: number): void => {
  const newest = window.ring.at(-1);
  if (newest !== undefined && newest.text.length < ringBlockUnits) newest.text += text;
  else window.ring.push({ text, seq, skip });
  window.ringUnits += text.length;
  for (let oldest = window.ring[0]; oldest !== undefined; oldest = window.ring[0]) {
    if (window.ringUnits - oldest.text.length < outputTailUnits) break;
    window.ringUnits -= oldest.text.length;
    window.ring.shift();
  }
};

const pendingText = (window: OutputWindow): string => {
  if (window.pending.length > 1) window.pending = [window.pending.join("")];
  return window.pending[0] ?? "";
};

/** Whether `takeHead` would give anything while the output goes on. */
export const isHeadReady = (window: OutputWindow, masker?: Masker): boolean =>
  window.pendingUnits > (masker?.longest ?? 1) || readyUnits(pendingText(window), masker) > 0;

/** Adds one delta of output. Returns whether any of it belongs to the head, and so is pending. */
export const pushOutput = (
  window: OutputWindow,
  text: string,
  at: { readonly seq: number; readonly arrived: number },
  masker?: Masker,
): boolean => {
  if (window.recordSeq !== at.seq) {
    window.recordSeq = at.seq;
    window.recordUnits = 0;
  }
  const room = window.ringUnits > 0 ? 0 : outputHeadUnits - window.taken - window.pendingUnits;
  // Of a pair that is split between deltas one half may end the head: the other begins the tail, and nothing is lost.
  const cut = room >= text.length ? text.length : cutBefore(text, room);
  if (cut > 0) {
    // The age of what could not be flushed before begins now.
    if (!isHeadReady(window, masker)) window.since = at.arrived;
    if (window.pendingUnits === 0) {
      window.pendingSeq = at.seq;
      window.pendingSkip = window.recordUnits;
    }
    window.pending.push(text.slice(0, cut));
    window.pendingUnits += cut;
    window.headSeq = at.seq;
    window.headMark = window.recordUnits + cut;
  }
  if (cut < text.length) pushTail(window, text.slice(cut), at.seq, window.recordUnits + cut);
  window.recordUnits += text.length;
  window.size += text.length;
  return cut > 0;
};

export const outputIsFull = (window: OutputWindow): boolean => window.pendingUnits >= outputPieceUnits;

/**
 * Takes pending head, at most one event's worth, as it came: half a pair, and what may be the beginning of a secret, waits
 * for the rest unless the output ends.
 */
export const takeHead = (window: OutputWindow, ending: boolean, masker?: Masker): string => {
  const text = pendingText(window);
  const all = text.length <= outputPieceUnits && ending;
  const cut = all ? text.length : blockUnits(text, Math.min(outputPieceUnits, text.length), masker);
  const rest = text.slice(cut);
  window.pending = rest === "" ? [] : [rest];
  window.pendingUnits = rest.length;
  if (rest.length <= window.headMark) {
    window.pendingSeq = window.headSeq;
    window.pendingSkip = window.headMark - rest.length;
  } else window.pendingSkip += cut;
  return text.slice(0, cut);
};

/** What is undecided at the end of the head goes to the tail that follows it without a gap: together they are decided. */
export const joinUndecided = (window: OutputWindow, masker: Masker): void => {
  const { taken, pendingUnits, ring, ringUnits, size } = window;
  if (ring.length === 0 || taken + pendingUnits + ringUnits < size) return;
  const text = pendingText(window);
  const rest = text.slice(readyUnits(text, masker));
  if (rest === "") return;
  const head = text.slice(0, text.length - rest.length);
  window.pending = head === "" ? [] : [head];
  window.pendingUnits = head.length;
  // The output is over: nothing of it is read again.
  ring.unshift({ text: rest, seq: window.pendingSeq, skip: window.pendingSkip });
  window.ringUnits += rest.length;
};

/** The end of the output, once the head is out: its last 32 KiB, and how much lies between. */
export const closing = (
  window: OutputWindow,
  masker?: Masker,
): { readonly tail?: string; readonly omitted?: number; readonly size: number } => {
  const { size } = window;
  if (window.ring.length === 0) return { size };
  const text = window.ring.map((block) => block.text).join("");
  const start = cutAfter(text, Math.max(0, text.length - outputTailUnits));
  const tail = text.slice(masker === undefined ? start : masker.after(text, start));
  return {
    tail: maskedBy(masker, tail),
    omitted: size - window.taken - window.pendingUnits - tail.length,
    size,
  };
};

/** Output that is not in the log, for those who watch: the pending head, else what the ring has. */
export const unlogged = (window: OutputWindow, masker?: Masker): { readonly offset: number; readonly text: string } => {
  const { ring, logged, taken, size, ringUnits } = window;
  const text = ring.length === 0 ? pendingText(window) : ring.map((block) => block.text).join("");
  return {
    offset: ring.length === 0 ? logged : logged + size - ringUnits - taken,
    text: masker === undefined ? text : masker.masked(text.slice(0, readyUnits(text, masker))),
  };
};

/** Puts pending head back that the journal still has. */
export const restoreHead = (
  window: OutputWindow,
  text: string,
  at: { readonly seq: number; readonly skip: number },
): void => {
  window.pending.push(text);
  window.pendingUnits += text.length;
  window.headSeq = at.seq;
  window.headMark = at.skip + text.length;
};

/** Puts the ring back. */
export const restoreTail =
  (window: OutputWindow) =>
  (text: string, { seq, skip }: { readonly seq: number; readonly skip: number }): void =>
    pushTail(window, text, seq, skip);
