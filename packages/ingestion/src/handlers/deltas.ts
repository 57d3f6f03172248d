/** `content.delta`: text goes into its item's segment, command output into its activity's window. */
import type { RuntimeEventOf } from "@tributary/contracts";
import { agentHolds, end, endQuietly, flush, flushAgent, flushFull } from "../text/text.ts";
import { folded, held } from "../interpret/interpretation.ts";
import type { Handler, Interpretation, Outcome } from "../interpret/interpretation.ts";
import { segmentUnits } from "../limits.ts";
import { root } from "../plain.ts";
import { openSegment, push } from "../text/segments.ts";
import type { OpenSegment, TextItem, TextKind } from "../text/segments.ts";
import { findItem, findOrMakeItem, firstFreeNumber, isCrowded, openIn, textId } from "../text/text-items.ts";
import { emptyHash } from "../text/text-hash.ts";
import { isQuietOutput, lateOutput, output } from "./output.ts";

type Delta = RuntimeEventOf<"content.delta">;

const kindOf: { readonly [S in Delta["payload"]["stream"]]: TextKind | undefined } = {
  assistant_text: "message",
  reasoning: "full",
  reasoning_summary: "summary",
  command_output: undefined,
};

/** Whether text of this kind enters the log at all. Reasoning that does not is in the journal only. */
const isWanted = (it: Interpretation, kind: TextKind): boolean =>
  kind === "message" || it.reasoning === "full" || it.reasoning === kind;

const receive = (it: Interpretation, item: TextItem, segment: OpenSegment, text: string): void => {
  push(item, segment, text, it, it.memory.masker);
  segment.events += 1;
  it.memory.accounts.held += 1;
};

const begin = (it: Interpretation, item: TextItem): OpenSegment => {
  const [oldest] = it.memory.open;
  if (isCrowded(it.memory) && oldest !== undefined) end(it, oldest);
  return openIn(it.memory, item, openSegment(false));
};

const text = (it: Interpretation, event: Delta, kind: TextKind): Outcome => {
  if (event.payload.text === "" || !isWanted(it, kind)) return folded;
  const item = findOrMakeItem(it, kind, event);
  // The first text of an item is its start, whether or not the runtime announced it.
  if (item.open === undefined && item.ended.length === 0) flushAgent(it, item.agentPath);
  const segment = item.open ?? begin(it, item);
  receive(it, item, segment, event.payload.text);
  flushFull(it, item, segment);
  return held;
};

const isQuietText = (it: Interpretation, event: Delta, kind: TextKind): boolean => {
  if (event.payload.text === "" || !isWanted(it, kind)) return true;
  const item = findItem(it.memory, kind, event);
  const open = item?.open;
  if (open !== undefined) return open.held + event.payload.text.length < segmentUnits;
  if (event.payload.text.length >= segmentUnits || isCrowded(it.memory)) return false;
  return (item !== undefined && item.ended.length > 0) || !agentHolds(it, event.agentPath ?? root);
};

/** The newest segment of an item whose turn is over, to go on with it; a new one where there is none. */
const reopen = (it: Interpretation, item: TextItem): OpenSegment => {
  const segment = openSegment(true);
  const newest = item.ended.at(-1);
  if (newest?.number !== undefined && newest.retracted !== true) {
    item.ended.pop();
    const { number, length: committed, hash } = newest;
    return openIn(it.memory, item, Object.assign(segment, { number, committed, hash, blank: false }));
  }
  if (newest !== undefined) return openIn(it.memory, item, segment);
  // Nothing is remembered of it: the log knows whether it has a message.
  const free = firstFreeNumber(it.look, item);
  item.nextNumber = free;
  const last = free === 0 ? undefined : it.look.closed("text", textId(item, free - 1));
  const known = last === undefined || last.retracted ? {} : { number: free - 1, committed: last.length, blank: false };
  return openIn(it.memory, item, Object.assign(segment, known, { hash: free === 0 ? emptyHash : undefined }));
};

/** The segment that late text of an item goes to. */
export const lateSegment = (it: Interpretation, item: TextItem): OpenSegment => {
  // Opened while its turn ran, which somebody else ended since.
  if (item.open !== undefined && !item.open.late) endQuietly(it, item);
  return item.open ?? reopen(it, item);
};

/** Text of a turn that is over is committed at once, to that turn's message, which stays closed (4.3). */
const lateText = (it: Interpretation, event: Delta, kind: TextKind): Outcome => {
  if (event.payload.text === "" || !isWanted(it, kind)) return folded;
  const item = findOrMakeItem(it, kind, event);
  const segment = lateSegment(it, item);
  receive(it, item, segment, event.payload.text);
  flushFull(it, item, segment);
  flush(it, item);
  // Only what could not enter the log yet, half a pair or whitespace, keeps it open, and not for long.
  if (segment.held === 0) endQuietly(it, item);
  return held;
};

export const contentDelta: Handler<"content.delta"> = {
  quiet: (it, event) => {
    const kind = kindOf[event.payload.stream];
    return kind === undefined ? isQuietOutput(it, event) : isQuietText(it, event, kind);
  },
  apply: (it, event) => {
    const kind = kindOf[event.payload.stream];
    return kind === undefined ? output(it, event) : text(it, event, kind);
  },
  late: (it, event) => {
    const kind = kindOf[event.payload.stream];
    return kind === undefined ? lateOutput(it, event) : lateText(it, event, kind);
  },
};
