/**
 * The boundary (section 3): a record as an adapter hands it over becomes a journal entry. Events are checked against their
 * schemas, secrets are masked, sizes are taken. Nothing an adapter gives makes this throw.
 */
import { decodeRuntimeEvent, isUndecodable } from "@tributary/contracts";
import type { RuntimeEvent, RuntimeRecord } from "@tributary/contracts";
import type { JournalEntry } from "@tributary/store";
import { maskEvent, maskValue } from "./secrets.ts";
import { markUndecodable } from "../interpret/undecodable.ts";
import { utf8Bytes } from "../text/utf16.ts";

/** A record whose events are not checked yet. Every `RuntimeRecord` is one. */
export type IncomingRecord = Omit<RuntimeRecord, "events"> & { readonly events: ReadonlyArray<unknown> };

/** A journal entry on its way: its number is given when it is its turn. */
export interface Accepted {
  readonly entry: JournalEntry & { seq: number };
  /** Bytes of frame and events: what it counts against the limits. */
  readonly bytes: number;
}

export interface IntakeOptions {
  readonly threadId: string;
  readonly generation: number;
  /** As `maskable` gives them. */
  readonly secrets: ReadonlyArray<string>;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** JSON text; undefined for what has none (a cycle, a function). */
const json = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
};

/** What an event of a few fields weighs in memory beside its text, and a record beside its frame and events. */
const eventBytes = 320;
const recordBytes = 256;

interface Checked {
  readonly event: RuntimeEvent;
  readonly bytes: number;
}

const checked = (event: RuntimeEvent, secrets: ReadonlyArray<string>): Checked | undefined => {
  // Deltas are most of everything: their text says how much they weigh, and is the only place for a secret.
  if (event.type === "content.delta" && secrets.length === 0)
    return { event, bytes: eventBytes + utf8Bytes(event.payload.text) };
  const text = json(event);
  return text === undefined
    ? undefined
    : { event: maskEvent(event, text, secrets), bytes: eventBytes + utf8Bytes(text) };
};

const check = (incoming: unknown, secrets: ReadonlyArray<string>): Checked => {
  const decoded = decodeRuntimeEvent(incoming);
  const good = isUndecodable(decoded) ? undefined : checked(decoded, secrets);
  if (good !== undefined) return good;
  const problem = isUndecodable(decoded)
    ? decoded
    : { problem: "an event must be representable as JSON", type: decoded.type };
  const mark = markUndecodable(problem, incoming);
  const text = json(mark) ?? "";
  return { event: maskEvent(mark, text, secrets), bytes: eventBytes + utf8Bytes(text) };
};

const frameText = (frame: unknown, secrets: ReadonlyArray<string>): string => {
  const text = json(frame);
  if (text === undefined) return "null";
  if (secrets.length === 0) return text;
  const masked = maskValue(frame, text, secrets);
  return masked === frame ? text : (json(masked) ?? "null");
};

const nativeKindUnits = 256;

export const intake = (record: IncomingRecord, options: IntakeOptions): Accepted => {
  const { threadId, generation, secrets, at } = options;
  const { kind, dir = "in", native, replyTo } = record;
  const frame = frameText(native.frame, secrets);
  let bytes = utf8Bytes(frame) + recordBytes;
  const events: Array<RuntimeEvent> = [];
  for (const incoming of record.events) {
    const { event, bytes: size } = check(incoming, secrets);
    bytes += size;
    events.push(event);
  }
  const nativeKind = native.kind.slice(0, nativeKindUnits);
  const entry: Accepted["entry"] = { threadId, generation, seq: 0, kind, dir, nativeKind, frame, events, at };
  return { entry: replyTo === undefined ? entry : { ...entry, replyTo }, bytes };
};
