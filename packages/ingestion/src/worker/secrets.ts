/**
 * Values known as secrets reach neither the journal nor the log (I16): exact values are masked in frames and events
 * before either sees them. A value that comes in pieces, over several frames, is masked where they are put together: in text
 * and output on their way into the log (`text/masking.ts`).
 */
import type { RuntimeEvent } from "@tributary/contracts";
import { mask } from "@tributary/domain";
import { Context } from "effect";
import { maskedBy, maskerOf } from "../text/masking.ts";

/**
 * The exact values to mask in what a thread's runtime says: values of its instance's environment, of MCP servers'
 * environment and headers, answers to secret questions. Asked for each record, so a new secret counts at once.
 */
export class Secrets extends Context.Reference<{ readonly of: (threadId: string) => ReadonlyArray<string> }>(
  "tributary/ingestion/Secrets",
  { defaultValue: () => ({ of: () => [] }) },
) {}

/** Shorter values ("1", "on") are no secrets, and masking them would spoil everything that people read. */
const shortest = 4;

/** Longest first, so that a value inside another one does not leave the other's rest behind. */
export const maskable = (secrets: ReadonlyArray<string>): ReadonlyArray<string> =>
  secrets.filter((secret) => secret.length >= shortest).toSorted((one, other) => other.length - one.length);

const maskText = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.reduce((masked, secret) => masked.replaceAll(secret, mask), text);

/** Fields of events whose inside is the runtime's own JSON. */
const foreign: ReadonlySet<string> = new Set(["input", "output", "form", "value", "choices", "ext"]);

/** `keys`: whether names are masked too. Those of our own events never are: a secret "error" must not cost the error. */
const maskDeep = (value: unknown, secrets: ReadonlyArray<string>, keys: boolean): unknown => {
  if (typeof value === "string") return maskText(value, secrets);
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, secrets, keys));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) =>
      keys ? [maskText(key, secrets), maskDeep(item, secrets, true)] : [key, maskDeep(item, secrets, foreign.has(key))],
    ),
  );
};

/** Whether a value's JSON may hold one of the secrets. */
const mayHold = (json: string, secrets: ReadonlyArray<string>): boolean =>
  secrets.some((secret) => json.includes(JSON.stringify(secret).slice(1, -1)));

/** A value without secrets, its names included, given its JSON; the same value where there are none. */
export const maskValue = (value: unknown, json: string, secrets: ReadonlyArray<string>): unknown =>
  secrets.length > 0 && mayHold(json, secrets) ? maskDeep(value, secrets, true) : value;

/** Likewise for an event, whose own fields keep their names. Only strings change, and only into other strings. */
export const maskEvent = (event: RuntimeEvent, json: string, secrets: ReadonlyArray<string>): RuntimeEvent =>
  secrets.length > 0 && mayHold(json, secrets) ? (maskDeep(event, secrets, false) as RuntimeEvent) : event;

/** Text that was put together of pieces, masked as if it had come whole. */
export const maskSecrets = (text: string, secrets: ReadonlyArray<string>): string =>
  secrets.length === 0 ? text : maskedBy(maskerOf(maskable(secrets)), text);
