/**
 * The last bytes of a stream as valid text: what a crashed runtime said on stderr.
 */

/** What an exit carries at most, in bytes of UTF-8. */
export const STDERR_TAIL_BYTES = 4096;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Keeps the end of a byte stream in bounded memory, and reads it as text of at most `maxBytes` bytes of UTF-8. */
export class TextTail {
  readonly #maxBytes: number;
  #bytes = new Uint8Array(0);

  constructor(maxBytes: number = STDERR_TAIL_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Takes the next chunk; it is not retained. */
  push(chunk: Uint8Array): void {
    const fromBefore = this.#bytes.subarray(
      Math.max(0, this.#bytes.length - Math.max(0, this.#maxBytes - chunk.length)),
    );
    const fromChunk = chunk.subarray(Math.max(0, chunk.length - this.#maxBytes));
    const joined = new Uint8Array(fromBefore.length + fromChunk.length);
    joined.set(fromBefore);
    joined.set(fromChunk, fromBefore.length);
    this.#bytes = joined;
  }

  /**
   * The tail as text. A character that the cut or the end of the stream so far left incomplete is left out; other
   * invalid bytes read as U+FFFD.
   */
  text(): string {
    const whole = this.#bytes.subarray(this.#bytes.length < this.#maxBytes ? 0 : characterStart(this.#bytes, 0));
    const text = decoder.decode(whole.subarray(0, whole.length - incompleteSuffix(whole)));
    const encoded = encoder.encode(text);
    // A replacement character takes three bytes, so a tail of garbage can be longer than what it was read from.
    if (encoded.length <= this.#maxBytes) return text;
    return decoder.decode(encoded.subarray(characterStart(encoded, encoded.length - this.#maxBytes)));
  }
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The first index at or after `from` where a character begins; at most three continuation bytes belong to one. */
const characterStart = (bytes: Uint8Array, from: number): number => {
  let start = from;
  while (start < from + 3 && isContinuation(bytes[start])) start += 1;
  return start;
};

/** How many bytes at the end are the beginning of a character whose rest is missing. */
const incompleteSuffix = (bytes: Uint8Array): number => {
  for (let length = 1; length <= 3 && length <= bytes.length; length += 1) {
    const byte = bytes[bytes.length - length] ?? 0;
    if (isContinuation(byte)) continue;
    const expected = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length < expected ? length : 0;
  }
  return 0;
};
