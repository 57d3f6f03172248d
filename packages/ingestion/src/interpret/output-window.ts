/**
 * Command output in the log (4.4): 32 KiB of its beginning as it comes, 32 KiB of its end when the command is over.
 * The whole is in the journal.
 *
 *      |──── head: logged ────|· pending ·|~~~~~ omitted ~~~~~|──── tail: a ring ────|
 *      0                   logged      ≤ 32,768        size - tail                  size
 *
 * O1 `pending` follows the head without a gap and ends it at 32,768 units.
 * O2 The ring holds at most the last 32,768 units that are not in the head, in blocks, each with the record it began in:
 *    the checkpoint holds no output.
 */
import { outputHeadUnits, outputPieceUnits, outputTailUnits } from "../limits.ts";
import { cutAfter, cutBefore, endsInHigh } from "../text/utf16.ts";

interface Block {
  text: string;
  /** Where its first unit is: the record, and how many units of the item's output in that record come before. */
  readonly seq: number;
  readonly skip: number;
}

/** Small deltas are joined to blocks of about this, so that the ring is a few dozen strings. */
const blockUnits = 1_024;

export interface OutputWindow {
  readonly activityId: string;
  readonly turnId: string | undefined;
  readonly agentPath: ReadonlyArray<string>;
  readonly itemId: string;
  /** Units of the head in the log. */
  logged: number;
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
  if (newest !== undefined && newest.text.length < blockUnits) newest.text += text;
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
export const isHeadReady = (window: OutputWindow): boolean =>
  window.pendingUnits > 1 || (window.pendingUnits === 1 && !endsInHigh(pendingText(window)));

/** Adds one delta of output. Returns whether any of it belongs to the head, and so is pending. */
export const pushOutput = (
  window: OutputWindow,
  text: string,
  at: { readonly seq: number; readonly arrived: number },
): boolean => {
  if (window.recordSeq !== at.seq) {
    window.recordSeq = at.seq;
    window.recordUnits = 0;
  }
  const room = window.ringUnits > 0 ? 0 : outputHeadUnits - window.logged - window.pendingUnits;
  // Of a pair that is split between deltas one half may end the head: the other begins the tail, and nothing is lost.
  const cut = room >= text.length ? text.length : cutBefore(text, room);
  if (cut > 0) {
    // The age of what could not be flushed before begins now.
    if (!isHeadReady(window)) window.since = at.arrived;
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

/** Takes pending head, at most one event's worth; half a pair waits for the other one unless the output ends. */
export const takeHead = (window: OutputWindow, ending: boolean): string => {
  const text = pendingText(window);
  const all = text.length <= outputPieceUnits && ending;
  const cut = all ? text.length : cutBefore(text, Math.min(outputPieceUnits, text.length));
  const rest = text.slice(cut);
  window.pending = rest === "" ? [] : [rest];
  window.pendingUnits = rest.length;
  window.pendingSeq = window.headSeq;
  window.pendingSkip = window.headMark - rest.length;
  return text.slice(0, cut);
};

/** The end of the output, once the head is out: its last 32 KiB, and how much lies between. */
export const closing = (
  window: OutputWindow,
): { readonly tail?: string; readonly omitted?: number; readonly size: number } => {
  const { size } = window;
  if (window.ring.length === 0) return { size };
  const text = window.ring.map((block) => block.text).join("");
  const tail = text.slice(cutAfter(text, Math.max(0, text.length - outputTailUnits)));
  return { tail, omitted: size - window.logged - window.pendingUnits - tail.length, size };
};

/** Output that is not in the log, for those who watch: the pending head, else what the ring has. */
export const unlogged = (window: OutputWindow): { readonly offset: number; readonly text: string } => {
  if (window.ring.length === 0) return { offset: window.logged, text: pendingText(window) };
  return { offset: window.size - window.ringUnits, text: window.ring.map((block) => block.text).join("") };
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
