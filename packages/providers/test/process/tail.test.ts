import { describe, expect, it } from "@effect/vitest";

import { STDERR_TAIL_BYTES, TextTail } from "../../src/process/tail.ts";
import { cutRandomly, forSeeds, pick } from "./random.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("TextTail", () => {
  it("keeps all of a short text", () => {
    const tail = new TextTail();
    tail.push(bytesOf("one "));
    tail.push(bytesOf("twø"));
    expect(tail.text()).toBe("one twø");
  });

  it("leaves out the character that the cut went through", () => {
    const tail = new TextTail(8);
    tail.push(bytesOf("aaa€€€"));
    // Eight bytes hold two whole characters of three and two bytes of a third.
    expect(tail.text()).toBe("€€");
  });

  it("leaves out a character whose end has not come yet", () => {
    const tail = new TextTail();
    tail.push(bytesOf("a€").subarray(0, 3));
    expect(tail.text()).toBe("a");
    tail.push(bytesOf("€").subarray(2));
    expect(tail.text()).toBe("a€");
  });

  it("stays within its size when everything is garbage", () => {
    const tail = new TextTail(100);
    tail.push(new Uint8Array(1000).fill(0xff));
    expect(new TextEncoder().encode(tail.text()).length).toBeLessThanOrEqual(100);
  });

  it("is the end of the text, valid and within 4 KiB, however it was cut (seeded)", () => {
    forSeeds(100, (random) => {
      const text = Array.from({ length: Math.floor(random() * 6000) }, () =>
        pick(["a", "é", "€", "😀", "\n"], random),
      ).join("");
      const bytes = bytesOf(text);
      const tail = new TextTail();
      for (const chunk of cutRandomly(bytes, 1 + Math.floor(random() * 6000), random)) tail.push(chunk);
      const kept = tail.text();
      expect(text.endsWith(kept)).toBe(true);
      expect(kept.includes("\uFFFD")).toBe(false);
      const size = bytesOf(kept).length;
      expect(size).toBeLessThanOrEqual(STDERR_TAIL_BYTES);
      expect(size).toBeGreaterThanOrEqual(Math.min(bytes.length, STDERR_TAIL_BYTES - 3));
    });
  });
});
