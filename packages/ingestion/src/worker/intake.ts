/**
 * The boundary (section 3): a record as an adapter hands it over becomes a journal entry. Events are checked against their
 * schemas, secrets are masked, sizes are taken. Nothing an adapter gives makes this throw.
 */
import { decodeRuntimeEvent, isUndecodable } from "@tributary/contracts";
import type { RuntimeEvent, RuntimeRecord } from "@tributary/contracts";
import { maskEvent, maskValue } from "./secrets.ts";
import { markUndecodable } from "../interpret/undecodable.ts";
import { utf8Bytes } from "../text/utf16.ts";

/** A record whose events are not checked yet. Every `RuntimeRecord` is one. */
export type IncomingRecord = Omit<RuntimeRecord, "events"> & { readonly events: ReadonlyArray<unknown> };

/** A journal entry without its number. */
export interface Accepted {
  readonly generation: number;
  readonly kind: "frame" | "call" | "reply";
  readonly dir: "in" | "out";
  readonly nativeKind: string;
  readonly frame: string;
  readonly replyTo?: string;
  readonly events: ReadonlyArray<RuntimeEvent>;
  readonly at: number;
  /** Bytes of frame and events: what it counts against the limits. */
  readonly bytes: number;
}

export interface IntakeOptions {
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

/** What an event of a few fields weighs beside its text. */
const envelopeBytes = 160;

interface Checked {
  readonly event: RuntimeEvent;
  readonly bytes: number;
}

const checked = (event: RuntimeEvent, secrets: ReadonlyArray<string>): Checked | undefined => {
  // Deltas are most of everything: their text says how much they weigh, and is the only place for a secret.
  if (event.type === "content.delta" && secrets.length === 0)
    return { event, bytes: envelopeBytes + utf8Bytes(event.payload.text) };
  const text = json(event);
  return text === undefined ? undefined : { event: maskEvent(event, text, secrets), bytes: utf8Bytes(text) };
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
  return { event: maskEvent(mark, text, secrets), bytes: utf8Bytes(text) };
};

const frameText = (frame: unknown, secrets: ReadonlyArray<string>): string => {
  const text = json(frame);
  if (text === undefined) return "null";
  if (secrets.length === 0) return text;
  const masked = maskValue(frame, text, secrets);
  return masked === frame ? text : (json(masked) ?? "null");
};

const nativeKindUnits = 256;

export const intake = (record: IncomingRecord, { generation, secrets, at }: IntakeOptions): Accepted => {
  const frame = frameText(record.native.frame, secrets);
  let bytes = utf8Bytes(frame) + envelopeBytes;
  const events = record.events.map((incoming) => {
    const { event, bytes: size } = check(incoming, secrets);
    bytes += size;
    return event;
  });
  return {
    generation,
    kind: record.kind,
    dir: record.dir ?? "in",
    nativeKind: record.native.kind.slice(0, nativeKindUnits),
    frame,
    ...(record.replyTo === undefined ? {} : { replyTo: record.replyTo }),
    events,
    at,
    bytes,
  };
};
