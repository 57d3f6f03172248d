/** Text as JavaScript has it: UTF-16 code units, lone surrogates included. */

export const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
export const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Whether the last code unit waits for its other half. */
export const endsInHigh = (text: string): boolean => text.length > 0 && isHigh(text.charCodeAt(text.length - 1));

/**
 * The largest position ≤ `at` where `text` can be cut without parting a surrogate pair. A high surrogate that ends the
 * text is not yet known to be alone: the cut is before it.
 */
export const cutBefore = (text: string, at: number): number => {
  if (at <= 0 || at > text.length) return Math.max(0, Math.min(at, text.length));
  if (!isHigh(text.charCodeAt(at - 1))) return at;
  return at === text.length || isLow(text.charCodeAt(at)) ? at - 1 : at;
};

/** The smallest position ≥ `at` where `text` can be cut without parting a surrogate pair. */
export const cutAfter = (text: string, at: number): number =>
  at > 0 && at < text.length && isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at)) ? at + 1 : at;

const ink = /\S/;

/** Whether there is nothing but whitespace. */
export const isBlank = (text: string): boolean => !ink.test(text);

/** UTF-8 bytes. A lone surrogate counts three. */
export const utf8Bytes = (text: string): number => Buffer.byteLength(text, "utf8");

/** A copy that keeps no larger string alive, as a slice would. Lone surrogates survive. */
export const detached = (text: string): string => Buffer.from(text, "utf16le").toString("utf16le");
