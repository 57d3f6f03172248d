import { describe, expect, it } from "@effect/vitest";

import { isOversize, type Line, LineSplitter, OversizeLine } from "../../src/process/lines.ts";
import { cutRandomly, forSeeds, pick } from "./random.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const split = (chunks: ReadonlyArray<Uint8Array>, options?: { readonly maxLineBytes?: number }): Array<Line> => {
  const splitter = new LineSplitter(options);
  const lines = chunks.flatMap((chunk) => splitter.push(chunk));
  return [...lines, ...splitter.flush()];
};

/** The same by brute force: the whole at once. */
const expected = (bytes: Uint8Array, maxLineBytes: number): Array<Line> => {
  const lines: Array<Line> = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let start = 0;
  while (start < bytes.length) {
    const lf = bytes.indexOf(0x0a, start);
    const end = lf === -1 ? bytes.length : lf;
    const textEnd = lf !== -1 && end > start && bytes[end - 1] === 0x0d ? end - 1 : end;
    const line = bytes.subarray(start, textEnd);
    lines.push(
      line.length > maxLineBytes
        ? new OversizeLine(line.length, decoder.decode(line.subarray(0, 1024)))
        : decoder.decode(line),
    );
    start = end + 1;
  }
  return lines;
};

describe("LineSplitter", () => {
  it("ends lines at LF only, and takes one CR with it", () => {
    expect(split([bytesOf("a\nb\r\n\nc\u2028d\u2029e\u0085f\rg\r\r\nlast")])).toEqual([
      "a",
      "b",
      "",
      "c\u2028d\u2029e\u0085f\rg\r",
      "last",
    ]);
  });

  it("has no final line after a line end, and keeps the CR of an unfinished one", () => {
    expect(split([bytesOf("a\n")])).toEqual(["a"]);
    expect(split([bytesOf("a\n"), bytesOf("b\r")])).toEqual(["a", "b\r"]);
    expect(split([])).toEqual([]);
  });

  it("joins a CR and its LF from two chunks", () => {
    expect(split([bytesOf("a\r"), bytesOf("\nb")])).toEqual(["a", "b"]);
  });

  it("decodes characters that were cut at every byte", () => {
    const text = "é€😀\u2028\n\uFEFFkept";
    expect(split(Array.from(bytesOf(text), (byte) => Uint8Array.of(byte)))).toEqual(["é€😀\u2028", "\uFEFFkept"]);
  });

  it("replaces invalid bytes and goes on", () => {
    expect(split([Uint8Array.of(0xff, 0x61, 0xe2, 0x82, 0x0a, 0x62, 0x0a)])).toEqual(["\uFFFDa\uFFFD", "b"]);
  });

  it("does not keep the chunk it was given", () => {
    const splitter = new LineSplitter();
    const chunk = bytesOf("half");
    splitter.push(chunk);
    chunk.fill(0);
    expect(splitter.push(bytesOf(" line\n"))).toEqual(["half line"]);
  });

  it("reports a line above the cap, keeps its head, and goes on with the next", () => {
    const long = "x".repeat(5000);
    const lines = split([bytesOf(`ok\n${long}`), bytesOf(`${long}\r\nok again\n`), bytesOf(long)], {
      maxLineBytes: 100,
    });
    expect(lines).toEqual([
      "ok",
      new OversizeLine(10_000, "x".repeat(1024)),
      "ok again",
      new OversizeLine(5000, "x".repeat(1024)),
    ]);
  });

  it("keeps a line of exactly the cap, with LF and with CR LF", () => {
    const lines = split([bytesOf("12345\n1234"), bytesOf("5\r\n123456\n12345")], { maxLineBytes: 5 });
    expect(lines.map((line) => (isOversize(line) ? line.bytes : line))).toEqual(["12345", "12345", 6, "12345"]);
  });

  it("gives the same lines however the bytes were cut (seeded)", () => {
    const pieces = [
      "\n",
      "\r\n",
      "\r",
      "\u2028",
      "\u2029",
      "\u0085",
      "é",
      "€",
      "😀",
      "{}",
      "abc",
      "\uFEFF",
      "\0",
      "x".repeat(700),
    ];
    forSeeds(400, (random) => {
      const parts = Array.from({ length: Math.floor(random() * 60) }, () =>
        random() < 0.1 ? Uint8Array.of(Math.floor(random() * 256)) : bytesOf(pick(pieces, random)),
      );
      const bytes = new Uint8Array(Buffer.concat(parts));
      const maxLineBytes = random() < 0.5 ? 1 + Math.floor(random() * 12) : 1 << 20;
      const chunks = cutRandomly(bytes, 1 + Math.floor(random() * 20), random);
      expect(normalised(split(chunks, { maxLineBytes }))).toEqual(normalised(expected(bytes, maxLineBytes)));
    });
  });

  it("copies a 1 MB line in 4 KB chunks a bounded number of times", () => {
    const line = new Uint8Array(1024 * 1024).fill(0x61);
    const copied = countingCopies(() => {
      const splitter = new LineSplitter();
      for (let start = 0; start < line.length; start += 4096) splitter.push(line.subarray(start, start + 4096));
      expect(splitter.push(Uint8Array.of(0x0a))).toEqual(["a".repeat(line.length)]);
    });
    // Joining anew with every chunk would copy 128 MB.
    expect(copied).toBeLessThan(4 * line.length);
  });
});

/** An oversize head may end inside a character; where exactly does not matter. */
const normalised = (lines: ReadonlyArray<Line>): ReadonlyArray<string> =>
  lines.map((line) => (isOversize(line) ? `oversize ${line.bytes}` : line));

/** How many bytes were moved with `Uint8Array.prototype.set` meanwhile. */
const countingCopies = (run: () => void): number => {
  const original = Uint8Array.prototype.set;
  let copied = 0;
  Uint8Array.prototype.set = function (this: Uint8Array, source: ArrayLike<number>, offset?: number) {
    copied += source.length;
    original.call(this, source, offset);
  };
  try {
    run();
  } finally {
    Uint8Array.prototype.set = original;
  }
  return copied;
};
