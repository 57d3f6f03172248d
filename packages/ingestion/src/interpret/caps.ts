/**
 * Caps (4.11): no event grows beyond 64 KiB. Tool data keeps head and tail, with its true size and the record that holds
 * the whole; error strings keep their beginning; diffs are never cut but become blobs. Nothing cut ends inside a
 * surrogate pair.
 */
import type { DomainPayloads, FileChange, RecordPosition, RuntimePayloads } from "@tributary/contracts";
import { diffBytes, errorBytes, payloadBytes } from "../limits.ts";
import { cutAfter, cutBefore, utf8Bytes } from "../text/utf16.ts";

/** The hash of a text that was put away as a blob before the step; undefined when it was not. */
export type Blobs = (text: string) => string | undefined;

export const noBlobs: Blobs = () => undefined;

/** UTF-8 bytes of a value's JSON. */
export const jsonBytes = (value: unknown): number => utf8Bytes(JSON.stringify(value) ?? "");

/** Bytes of one code unit inside JSON, at most. */
const unitBytes = (unit: number): number => {
  if (unit < 0x20) return 6;
  if (unit === 0x22 || unit === 0x5c) return 2;
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  return unit >= 0xd800 && unit <= 0xdfff ? 6 : 3;
};

/** How many code units from the start fit into `bytes`. */
const unitsFromStart = (text: string, bytes: number): number => {
  let left = bytes;
  for (let at = 0; at < text.length; at += 1) {
    left -= unitBytes(text.charCodeAt(at));
    if (left < 0) return cutBefore(text, at);
  }
  return text.length;
};

/** From which code unit on the rest fits into `bytes`. */
const unitsFromEnd = (text: string, bytes: number): number => {
  let left = bytes;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    left -= unitBytes(text.charCodeAt(at));
    if (left < 0) return cutAfter(text, at + 1);
  }
  return 0;
};

const ellipsis = "…";
const room = errorBytes - utf8Bytes(ellipsis);

/** An error string for the log: its beginning, at most 4 KiB. */
export const capError = (text: string): string =>
  text.length <= errorBytes / 6 || unitsFromStart(text, errorBytes) === text.length
    ? text
    : text.slice(0, unitsFromStart(text, room)) + ellipsis;

/** The end of a text, at most 4 KiB: what a process said last. */
export const capTail = (text: string): string => {
  const from = unitsFromEnd(text, errorBytes);
  return from === 0 ? text : ellipsis + text.slice(unitsFromEnd(text, room));
};

/** Head and tail of a text inside `bytes` of JSON, with the number of code units between them. */
export const headAndTail = (text: string, bytes: number): string => {
  if (unitsFromStart(text, bytes) === text.length) return text;
  const half = Math.max(0, bytes - 64) / 2;
  const head = unitsFromStart(text, half);
  const tail = Math.max(head, unitsFromEnd(text, half));
  return `${text.slice(0, head)}\n… ${tail - head} code units left out …\n${text.slice(tail)}`;
};

/** A copy with long strings as head and tail and long lists as their beginning. */
const trimmed = (value: unknown, stringBytes: number, items: number): unknown => {
  if (typeof value === "string") return headAndTail(value, stringBytes);
  if (Array.isArray(value)) return value.slice(0, items).map((item) => trimmed(item, stringBytes, items));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, items)
      .map(([key, item]) => [key, trimmed(item, stringBytes, items)]),
  );
};

/** Any JSON inside `bytes`: in its own shape while that is possible, else as text. */
export const cutJson = (value: unknown, bytes: number): unknown => {
  if (typeof value === "string") return headAndTail(value, bytes);
  for (let strings = bytes / 2, items = 512; strings >= 128; strings /= 2, items = Math.ceil(items / 2)) {
    const smaller = trimmed(value, strings, items);
    if (jsonBytes(smaller) <= bytes) return smaller;
  }
  return headAndTail(JSON.stringify(value) ?? "", bytes);
};

/** A payload without large parts of its own kind, kept inside the cap whatever a runtime put there. */
export const fit = <P extends object>(payload: P): P => {
  if (jsonBytes(payload) <= payloadBytes) return payload;
  const smaller = cutJson(payload, payloadBytes);
  // Only the lengths of strings and lists change, never the shape; a payload of ours has few fields.
  return typeof smaller === "string" ? payload : (smaller as P);
};

/** Which diffs of one event must leave it: the largest, until the rest is small enough. */
export const oversizedDiffs = (changes: ReadonlyArray<FileChange> | undefined): ReadonlyArray<string> => {
  const diffs = (changes ?? []).flatMap(({ diff }) => (diff === undefined ? [] : [diff]));
  let total = diffs.reduce((sum, diff) => sum + diff.length, 0);
  if (total * 3 <= diffBytes) return [];
  const sized = diffs
    .map((diff) => ({ diff, bytes: utf8Bytes(diff) }))
    .toSorted((one, other) => other.bytes - one.bytes);
  total = sized.reduce((sum, { bytes }) => sum + bytes, 0);
  const out: Array<string> = [];
  for (const { diff, bytes } of sized) {
    if (total <= diffBytes) break;
    out.push(diff);
    total -= bytes;
  }
  return out;
};

const withBlobs = (changes: ReadonlyArray<FileChange>, blobs: Blobs): ReadonlyArray<FileChange> => {
  const out = new Set(oversizedDiffs(changes));
  if (out.size === 0) return changes;
  return changes.map((change) => {
    if (change.diff === undefined || !out.has(change.diff)) return change;
    const blob = blobs(change.diff);
    if (blob === undefined) return change;
    const { diff: _, ...rest } = change;
    return { ...rest, blob };
  });
};

type ActivityFields = Omit<DomainPayloads["activity.updated"], "activityId">;
type Cut = NonNullable<ActivityFields["cut"]>[number];

/** Tool data by what it costs to lose: the first goes first where sizes are equal. */
const cuttable = ["output", "input", "detail", "title", "locations"] as const;

const trueSize = (value: unknown): number =>
  typeof value === "string" ? value.length : (JSON.stringify(value) ?? "").length;

/** The fields of an activity inside the cap; what was cut is named with its true size and the record with the whole. */
export const capActivity = <F extends ActivityFields>(fields: F, record: RecordPosition, blobs: Blobs): F => {
  const whole = fields.changes === undefined ? fields : { ...fields, changes: withBlobs(fields.changes, blobs) };
  const changed = fields.changes === undefined || whole.changes === fields.changes ? fields : whole;
  // Room for the names of what is cut.
  let over = jsonBytes(changed) - payloadBytes;
  if (over <= 0) return changed;
  over += 1_024;
  const parts = cuttable
    .flatMap((field) =>
      changed[field] === undefined ? [] : [{ field, value: changed[field], bytes: jsonBytes(changed[field]) }],
    )
    .toSorted((one, other) => other.bytes - one.bytes);
  const smaller: Record<string, unknown> = {};
  const cut: Array<Cut> = [...(fields.cut ?? [])];
  for (const { field, value, bytes } of parts) {
    if (over <= 0) break;
    const kept = cutJson(value, Math.max(1_024, bytes - over));
    // `locations` stays a list, and a title a string: their shape is not the runtime's.
    smaller[field] = field === "locations" && typeof kept === "string" ? [] : kept;
    cut.push({ field, size: trueSize(value), record });
    over -= bytes - jsonBytes(smaller[field]);
  }
  return { ...changed, ...smaller, cut };
};

/** A request inside the cap; a subject that was cut says so. */
export const capRequest = (
  request: RuntimePayloads["request.opened"],
  blobs: Blobs,
): RuntimePayloads["request.opened"] => {
  const { subject } = request;
  const changes = subject?.changes === undefined ? undefined : withBlobs(subject.changes, blobs);
  const whole = changes === undefined ? request : { ...request, subject: { ...subject, changes } };
  const over = jsonBytes(whole) - payloadBytes;
  if (over <= 0) return whole;
  if (whole.subject === undefined) return fit(whole);
  const { changes: kept, ...rest } = whole.subject;
  const bytes = Math.max(2_048, jsonBytes(rest) - over - 64);
  const smaller = cutJson(rest, bytes);
  const cut = typeof smaller === "object" && smaller !== null ? smaller : {};
  const subjectCut = { ...cut, ...(kept === undefined ? {} : { changes: kept }), truncated: true };
  return fit({ ...whole, subject: subjectCut });
};
