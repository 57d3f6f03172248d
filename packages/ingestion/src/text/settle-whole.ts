/** A completed item's whole text is made to stand in the log, whatever was streamed (4.5). */
import type { RefusalReason } from "@tributary/contracts";
import { enter } from "../interpret/enter.ts";
import type { Interpretation } from "../interpret/interpretation.ts";
import { segmentUnits } from "../limits.ts";
import { forgetHeld, retractOpen } from "./retract.ts";
import { maskedBy } from "./masking.ts";
import type { Masker } from "./masking.ts";
import { forgetUndecided, heldText, openSegment } from "./segments.ts";
import type { EndedSegment, OpenSegment, TextItem } from "./segments.ts";
import { append } from "./text.ts";
import { hashText } from "./text-hash.ts";
import { textId } from "./text-items.ts";
import { cutBefore, isBlank } from "./utf16.ts";
import { compareWhole } from "./whole-text.ts";
import type { StreamedPiece } from "./whole-text.ts";

const reason = "not in the runtime's final text";

/** A piece of the comparison and where it came from. */
interface Source extends StreamedPiece {
  readonly ended?: EndedSegment;
}

const piecesOf = (item: TextItem, masker: Masker | undefined): ReadonlyArray<Source> => {
  const ended: ReadonlyArray<Source> = item.ended.flatMap((segment) =>
    segment.retracted === true
      ? []
      : {
          committed: segment.length,
          hash: segment.hash,
          held: "",
          dropped: segment.number === undefined,
          ended: segment,
        },
  );
  const { open } = item;
  if (open === undefined) return ended;
  // What cannot be compared keeps what it has.
  const isKnown = open.hash !== undefined && ended.every(({ hash }) => hash !== undefined);
  if (masker !== undefined && isKnown) forgetUndecided(open, masker);
  const held = maskedBy(masker, heldText(open));
  return [...ended, { committed: open.committed, hash: open.hash, held, dropped: false }];
};

/** The part of a replacement that its event carries; the rest is appended to the same message. */
const firstPart = (text: string): string =>
  text.length <= segmentUnits ? text : text.slice(0, cutBefore(text, segmentUnits));

/** A message in the log gets another text. Returns the segment as it then is. */
const replace = (
  it: Interpretation,
  item: TextItem,
  number: number,
  text: string,
): { readonly segment: OpenSegment; readonly refusal: RefusalReason | undefined } => {
  const first = firstPart(text);
  item.revision += 1;
  const refusal = enter(it, { type: "message.replace", messageId: textId(item, number), text: first });
  const segment = Object.assign(openSegment(false), {
    number,
    committed: first.length,
    hash: hashText(first),
    blank: false,
  });
  return { segment, refusal: refusal ?? append(it, item, segment, text.slice(first.length)) };
};

const retractEnded = (it: Interpretation, item: TextItem, { number }: EndedSegment): RefusalReason | undefined => {
  if (number === undefined) return undefined;
  item.revision += 1;
  return enter(it, { type: "message.retract", messageId: textId(item, number), reason });
};

/** Gives an ended message `rest` as its text, or retracts it where only whitespace is left. */
const settleEnded = (it: Interpretation, item: TextItem, segment: EndedSegment, rest: string) => {
  const { number } = segment;
  if (number === undefined || isBlank(rest)) {
    const refusal = retractEnded(it, item, segment);
    const dropped = rest === "" ? [] : [{ length: rest.length, hash: hashText(rest) }];
    return { refusal, ended: [{ ...segment, retracted: true }, ...dropped] };
  }
  const { segment: replaced, refusal } = replace(it, item, number, rest);
  const { committed: length, hash } = replaced;
  return { refusal, ended: [{ number, length, ...(hash === undefined ? {} : { hash }) }] };
};

/** Gives the open segment `rest` as its text. It is still to be ended. */
const settleOpen = (
  it: Interpretation,
  item: TextItem,
  segment: OpenSegment,
  rest: string,
): RefusalReason | undefined => {
  forgetHeld(it, item, segment);
  if (segment.number === undefined) {
    hold(it, segment, rest);
    segment.blank = isBlank(rest);
    return undefined;
  }
  if (isBlank(rest)) return retractOpen(it, item, reason);
  const { segment: replaced, refusal } = replace(it, item, segment.number, rest);
  segment.committed = replaced.committed;
  segment.hash = replaced.hash;
  return refusal;
};

/** Text of the runtime's final word. It is flushed with the end of the segment, in the same event. */
const hold = (it: Interpretation, segment: OpenSegment, text: string): void => {
  if (text === "") return;
  if (segment.held === 0) segment.firstSeq = it.seq;
  segment.pieces.push(text);
  segment.held += text.length;
  segment.blank &&= isBlank(text);
};

/**
 * Makes the messages of an item say what the runtime's whole text says. The open segment, if there is one afterwards, is
 * still to be ended. `openFor` gives the segment that the rest goes to when none is open.
 */
export const settleWhole = (
  it: Interpretation,
  item: TextItem,
  whole: string,
  openFor: () => OpenSegment,
): RefusalReason | undefined => {
  const pieces = piecesOf(item, it.memory.masker);
  const { outcome, forgotten } = compareWhole(pieces, whole);
  if (outcome.kind === "same") return undefined;
  // Its text is in the log and nowhere else: it stays.
  if (outcome.kind === "unknown") return "item_over";
  const gone = new Set(forgotten.map((index) => pieces[index]?.ended));
  const kept = item.ended.filter((segment) => !gone.has(segment));
  item.ended.splice(0, item.ended.length, ...kept);
  if (outcome.kind === "longer") {
    hold(it, item.open ?? openFor(), outcome.rest);
    return undefined;
  }
  // Reasoning cannot be replaced in the log: what was streamed stays.
  if (item.kind !== "message") return undefined;
  const first = pieces[outcome.index]?.ended;
  const { open } = item;
  if (first === undefined) return open === undefined ? undefined : settleOpen(it, item, open, outcome.rest);

  const at = item.ended.indexOf(first);
  const later = item.ended.slice(at + 1).filter((segment) => segment.retracted !== true);
  let refusal = open === undefined ? undefined : retractOpen(it, item, reason);
  for (const segment of later) refusal = retractEnded(it, item, segment) ?? refusal;
  const settled = settleEnded(it, item, first, outcome.rest);
  item.ended.splice(
    at,
    item.ended.length,
    ...settled.ended,
    ...later.map((segment) => ({ ...segment, retracted: true })),
  );
  return settled.refusal ?? refusal;
};
