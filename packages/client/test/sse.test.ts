import { assert, describe, it } from "vitest";
import { SseParser, type SseMessage } from "../src/sse.ts";
import { below, random } from "./support.ts";

const encoder = new TextEncoder();
const parse = (...chunks: ReadonlyArray<string | Uint8Array>): ReadonlyArray<SseMessage> => {
  const parser = new SseParser();
  return chunks.flatMap((chunk) => parser.push(typeof chunk === "string" ? encoder.encode(chunk) : chunk));
};

describe("server-sent events", () => {
  it("end at an empty line; a comment, a message without data and an unfinished one are none", () => {
    assert.deepStrictEqual(parse(": hello\n\nid: 1\nevent: a\ndata: x\n\nevent: b\n\ndata: unfinished"), [
      { event: "a", data: "x", id: "1" },
    ]);
  });

  it("have data of several lines, one space after the colon taken away, and a name by default", () => {
    assert.deepStrictEqual(parse("data:a\ndata:  b\ndata\n\n"), [{ event: "message", data: "a\n b\n", id: undefined }]);
  });

  it("keep the newest id", () => {
    assert.deepStrictEqual(
      parse("id: 1\ndata: a\n\ndata: b\n\nid: 2\n\ndata: c\n\n").map(({ id }) => id),
      ["1", "1", "2"],
    );
  });

  it("may end lines with CR, LF or CRLF, also when a chunk ends in between", () => {
    const expected = [{ event: "a", data: "x\ny", id: undefined }];
    for (const end of ["\n", "\r", "\r\n"])
      assert.deepStrictEqual(
        parse(["event: a", "data: x", "data: y", "", ""].join(end)),
        expected,
        JSON.stringify(end),
      );
    assert.deepStrictEqual(parse("event: a\r", "\ndata: x\r", "\n", "data: y\r\n\r", "\n"), expected);
  });

  it("are the same however their bytes are cut, inside a character too (pain 19)", () => {
    const text = Array.from(
      { length: 12 },
      (_, n) => `id: ${n}\r\nevent: e${n}\ndata: "ä€😀 ${n}"\rdata: ${n}\n\n`,
    ).join("");
    const bytes = encoder.encode(text);
    const whole = parse(bytes);
    assert.lengthOf(whole, 12);
    for (let seed = 1; seed <= 200; seed += 1) {
      const next = random(seed);
      const chunks: Array<Uint8Array> = [];
      for (let at = 0; at < bytes.length;) {
        const length = 1 + below(next, seed % 2 === 0 ? 3 : 40);
        chunks.push(bytes.slice(at, at + length));
        at += length;
      }
      assert.deepStrictEqual(parse(...chunks), whole, `seed ${seed}`);
    }
  });
});
