/**
 * A 64-bit hash of UTF-16 code units that grows with the text: two lanes of multiply-and-mix. What is in the log is
 * compared with a runtime's whole text without reading it back (docs/decisions/005). Not for security.
 */
export interface TextHash {
  readonly a: number;
  readonly b: number;
}

export const emptyHash: TextHash = { a: 0x5bd1_e995, b: 0x1b87_3593 };

/** The hash of what `before` is the hash of, followed by `text` from `start` to `end`. */
export const hashText = (text: string, before: TextHash = emptyHash, start = 0, end = text.length): TextHash => {
  let { a, b } = before;
  for (let at = start; at < end; at += 1) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x9e37_79b1);
    b = Math.imul(b ^ unit, 0x5f35_6495);
    a ^= a >>> 15;
    b ^= b >>> 13;
  }
  return { a: a | 0, b: b | 0 };
};

export const sameHash = (one: TextHash, other: TextHash): boolean => one.a === other.a && one.b === other.b;
