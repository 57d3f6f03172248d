/** Text on its way into the log: segments are flushed, end, and are appended to at the offset that the log has (I4). */
import type { InternalCommand, RefusalReason, TextStart } from "@tributary/contracts";
import { settleHeld } from "../accounts.ts";
import { enter } from "../interpret/enter.ts";
import type { Interpretation } from "../interpret/interpretation.ts";
import { segmentUnits } from "../limits.ts";
import { defined, samePath } from "../plain.ts";
import { isFlushable, takeAll, takeBlock, takeReady, isFull } from "./segments.ts";
import type { OpenSegment, TextItem } from "./segments.ts";
import { hashText } from "./text-hash.ts";
import { closeIn, textId } from "./text-items.ts";
import { cutBefore } from "./utf16.ts";

const startOf = (it: Interpretation, item: TextItem, segment: number): TextStart =>
  defined({
    turnId: item.turnId,
    agentPath: item.agentPath,
    itemId: item.itemId,
    segment,
    generation: it.memory.generation,
  });

const appendCommand = (it: Interpretation, item: TextItem, segment: OpenSegment, text: string): InternalCommand => {
  const number = segment.number ?? item.nextNumber;
  const piece = { offset: segment.committed, text };
  const start = segment.number === undefined ? { start: startOf(it, item, number) } : {};
  const id = textId(item, number);
  return item.kind === "message"
    ? { type: "message.append", messageId: id, ...piece, ...start }
    : { type: "reasoning.append", reasoningId: id, kind: item.kind, ...piece, ...start };
};

/** One piece of at most 24,000 units. What is refused is not in the log: the offset stays. */
const appendPiece = (
  it: Interpretation,
  item: TextItem,
  segment: OpenSegment,
  text: string,
): RefusalReason | undefined => {
  const refusal = enter(it, appendCommand(it, item, segment, text));
  if (refusal !== undefined) return refusal;
  if (segment.number === undefined) {
    segment.number = item.nextNumber;
    item.nextNumber += 1;
  }
  segment.committed += text.length;
  segment.hash = segment.hash === undefined ? undefined : hashText(text, segment.hash);
  return undefined;
};

/** Any length: in pieces that are never cut inside a pair. */
export const append = (
  it: Interpretation,
  item: TextItem,
  segment: OpenSegment,
  text: string,
): RefusalReason | undefined => {
  for (let rest = text; rest !== "";) {
    const cut = rest.length <= segmentUnits ? rest.length : cutBefore(rest, segmentUnits);
    const refusal = appendPiece(it, item, segment, rest.slice(0, cut));
    if (refusal !== undefined) return refusal;
    rest = rest.slice(cut);
  }
  return undefined;
};

/** Events whose text left the buffer are settled; the last one stays while some of its text does. */
const settle = (it: Interpretation, segment: OpenSegment, seq: number, refusal: RefusalReason | undefined): void => {
  const still = segment.held > 0 ? 1 : 0;
  const left = segment.events - still;
  settleHeld(it.memory.accounts, left, refusal);
  segment.events = still;
  if (refusal !== undefined && left > 0) it.note(seq, "content.delta", refusal, left);
};

/** Flushes what a full buffer must give. */
export const flushFull = (it: Interpretation, item: TextItem, segment: OpenSegment): void => {
  while (isFull(segment)) {
    const seq = segment.firstSeq;
    const text = takeBlock(item, segment, it.memory.masker);
    settle(it, segment, seq, append(it, item, segment, text));
  }
};

/** Flushes what may enter the log; the segment goes on. */
export const flush = (it: Interpretation, item: TextItem): void => {
  const segment = item.open;
  if (segment === undefined || !isFlushable(segment, it.memory.masker)) return;
  const seq = segment.firstSeq;
  const text = takeReady(item, segment, it.memory.masker);
  settle(it, segment, seq, append(it, item, segment, text));
};

const completeCommand = (item: TextItem, number: number): InternalCommand =>
  item.kind === "message"
    ? { type: "message.complete", messageId: textId(item, number) }
    : { type: "reasoning.complete", reasoningId: textId(item, number) };

/** Whitespace made no message; it is remembered for the comparison with the whole text. */
const drop = (it: Interpretation, item: TextItem, segment: OpenSegment): void => {
  const text = takeAll(item, segment, it.memory.masker);
  const { accounts } = it.memory;
  accounts.held -= segment.events;
  accounts.folded += segment.events;
  if (text !== "") item.ended.push({ length: text.length, hash: hashText(text) });
};

/** Flushes everything and ends the segment; whoever settles the turn completes the message. */
export const endQuietly = (it: Interpretation, item: TextItem): void => {
  const segment = item.open;
  if (segment === undefined) return;
  if (segment.blank && segment.number === undefined) drop(it, item, segment);
  else {
    const seq = segment.firstSeq;
    const text = takeAll(item, segment, it.memory.masker);
    settle(it, segment, seq, append(it, item, segment, text));
    const { number, committed: length, hash } = segment;
    if (number !== undefined) item.ended.push(defined({ number, length, hash }));
  }
  closeIn(it.memory, item);
};

/** Ends the segment and completes its message. */
export const end = (it: Interpretation, item: TextItem): void => {
  const segment = item.open;
  if (segment === undefined) return;
  endQuietly(it, item);
  if (segment.number !== undefined && !segment.late) enter(it, completeCommand(item, segment.number));
};

/** Open items in the order in which what they hold came. */
export const openInOrder = (it: Interpretation): ReadonlyArray<TextItem> =>
  [...it.memory.open].toSorted((one, other) => (one.open?.firstSeq ?? 0) - (other.open?.firstSeq ?? 0));

const ofAgent = (it: Interpretation, agentPath: ReadonlyArray<string>): ReadonlyArray<TextItem> =>
  openInOrder(it).filter((item) => samePath(item.agentPath, agentPath));

/** Something else begins on this agent's path: what it said before stands before it (4.4). */
export const flushAgent = (it: Interpretation, agentPath: ReadonlyArray<string>, except?: string): void => {
  if (it.memory.open.size === 0) return;
  for (const item of ofAgent(it, agentPath)) if (item.itemId !== except) flush(it, item);
};

/** The agent asks: later text of its items opens the next segments (4.8). */
export const endAgent = (it: Interpretation, agentPath: ReadonlyArray<string>): void => {
  for (const item of ofAgent(it, agentPath)) end(it, item);
};

/** Whether `flushAgent` would put anything into the log. */
export const agentHolds = (it: Interpretation, agentPath: ReadonlyArray<string>, except?: string): boolean => {
  for (const item of it.memory.open)
    if (
      item.itemId !== except &&
      samePath(item.agentPath, agentPath) &&
      item.open !== undefined &&
      isFlushable(item.open, it.memory.masker)
    )
      return true;
  return false;
};
