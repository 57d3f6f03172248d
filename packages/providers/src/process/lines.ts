/**
 * Bytes in, lines out: the incremental splitter in front of every runtime that speaks lines.
 *
 * Only LF ends a line (one CR before it goes too), so U+2028, U+2029, U+0085 and a lone CR stay text. LF never occurs
 * inside a multi-byte UTF-8 sequence, which is why splitting bytes first and decoding later is safe however the
 * chunks were cut. Time is linear in the bytes received.
 */

/** 64 MiB: far above the largest real line, and below what would hurt the host. */
export const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024;

/** How much of an oversize line is kept for a diagnostic. */
const HEAD_BYTES = 1024;

/** A buffer larger than this is given back once its line is out, so one huge line does not stay resident. */
const RETAINED_BYTES = 1024 * 1024;

const INITIAL_BYTES = 4096;
const LF = 0x0a;
const CR = 0x0d;

/**
 * A line longer than the cap: a value in the sequence of lines, not a failure. Its bytes were dropped; what follows it
 * is unaffected. Tell the person that the runtime sent something too large, and go on.
 */
export class OversizeLine {
  readonly _tag = "OversizeLine";
  /** Length of the whole line in bytes, without its LF. */
  readonly bytes: number;
  /** The first bytes of the line, decoded: at most 1 KiB. */
  readonly head: string;

  constructor(bytes: number, head: string) {
    this.bytes = bytes;
    this.head = head;
  }
}

/** One line as text (without its line end), or the news that one was too long. */
export type Line = string | OversizeLine;

/** True for a line that was too long to keep. */
export const isOversize = (line: Line): line is OversizeLine => typeof line !== "string";

// `ignoreBOM` keeps U+FEFF: text in equals text out. Invalid bytes become U+FFFD.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Splits a byte stream into lines. One instance per stream; not for two streams in turn. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  /** What is kept of the unfinished line. It grows by doubling, so joining many chunks is linear. */
  #kept = new Uint8Array(INITIAL_BYTES);
  #keptBytes = 0;
  /** Length of the unfinished line so far; more than `#keptBytes` once it is oversize. */
  #lineBytes = 0;
  /** Whether its last byte so far is a CR, kept or not. */
  #endsWithCr = false;

  /** `maxLineBytes`: the longest line that is kept, in bytes without its line end; a longer one becomes an `OversizeLine`. */
  constructor(options?: { readonly maxLineBytes?: number }) {
    this.#maxLineBytes = options?.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
  }

  /** Takes the next chunk (it is not retained) and returns the lines that it completed, in order. */
  push(chunk: Uint8Array): Array<Line> {
    const firstLf = chunk.indexOf(LF);
    if (firstLf === -1) {
      this.#keep(chunk);
      return [];
    }
    const lines: Array<Line> = [];
    let start = 0;
    if (this.#lineBytes > 0) {
      this.#keep(chunk.subarray(0, firstLf));
      lines.push(this.#takeLine(true));
      start = firstLf + 1;
    }
    const afterLastLf = chunk.lastIndexOf(LF) + 1;
    if (afterLastLf > start) this.#splitWhole(chunk.subarray(start, afterLastLf), lines);
    if (afterLastLf < chunk.length) this.#keep(chunk.subarray(afterLastLf));
    return lines;
  }

  /** The last line of a stream that ended without LF, if there is one. A CR at its end stays: no LF followed it. */
  flush(): Array<Line> {
    return this.#lineBytes > 0 ? [this.#takeLine(false)] : [];
  }

  /** `bytes` holds complete lines only. The usual case decodes them in one go, which is several times faster. */
  #splitWhole(bytes: Uint8Array, into: Array<Line>): void {
    if (bytes.length - 1 <= this.#maxLineBytes) {
      const texts = decoder.decode(bytes.subarray(0, bytes.length - 1)).split("\n");
      for (const text of texts) into.push(text.endsWith("\r") ? text.slice(0, -1) : text);
      return;
    }
    let start = 0;
    while (start < bytes.length) {
      const end = bytes.indexOf(LF, start);
      this.#keep(bytes.subarray(start, end));
      into.push(this.#takeLine(true));
      start = end + 1;
    }
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#lineBytes += bytes.length;
    this.#endsWithCr = bytes.at(-1) === CR;
    // One byte above the cap is kept too: it may be the CR of the line end.
    const room = this.#lineBytes > this.#maxLineBytes + 1 ? HEAD_BYTES : this.#maxLineBytes + 1;
    const added = bytes.subarray(0, Math.max(0, room - this.#keptBytes));
    const needed = this.#keptBytes + added.length;
    if (needed > this.#kept.length) {
      const grown = new Uint8Array(Math.max(needed, this.#kept.length * 2));
      grown.set(this.#kept.subarray(0, this.#keptBytes));
      this.#kept = grown;
    }
    this.#kept.set(added, this.#keptBytes);
    this.#keptBytes = needed;
  }

  #takeLine(endedByLf: boolean): Line {
    const length = this.#lineBytes - (endedByLf && this.#endsWithCr ? 1 : 0);
    const line =
      length > this.#maxLineBytes
        ? new OversizeLine(length, this.#decode(Math.min(HEAD_BYTES, this.#keptBytes)))
        : this.#decode(length);
    this.#keptBytes = 0;
    this.#lineBytes = 0;
    this.#endsWithCr = false;
    if (this.#kept.length > RETAINED_BYTES) this.#kept = new Uint8Array(INITIAL_BYTES);
    return line;
  }

  #decode(length: number): string {
    return decoder.decode(this.#kept.subarray(0, length));
  }
}
