/** `subjectHash`: pins what a request asked, so that an answer given to something else is told apart (`request_changed`). */
import type { RuntimePayloads } from "@tributary/contracts";

/** What a person reads before answering. Not `expiresAt` and `blocking`: they change nothing about what is allowed. */
const asked = ["kind", "action", "title", "subject", "options", "questions", "form", "url"] as const;

/** JSON with its keys in order, so that equal values have one text. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(",")}}`;
};

/** As FNV-1a over UTF-16 code units, with a final mix (murmur3) so that short texts spread over all bits. */
const hash32 = (text: string, seed: number, prime: number): number => {
  let hash = seed;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), prime);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};

const hex = (value: number): string => value.toString(16).padStart(8, "0");

/**
 * 16 hex digits over what a request asks; the order of keys and absent fields do not matter. It tells changes apart and
 * is no proof against a forger: a runtime that wants to deceive could show the person anything.
 */
export const subjectHash = (request: RuntimePayloads["request.opened"]): string => {
  const text = canonical(Object.fromEntries(asked.map((key) => [key, request[key]])));
  return hex(hash32(text, 0x811c9dc5, 0x01000193)) + hex(hash32(text, 0x9747b28c, 0x5bd1e995));
};
