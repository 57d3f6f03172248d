import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { cellText, compact, optText, present, stringOf, textCell } from "../src/cells.ts";
import { headOf } from "../src/text-chunks.ts";
import { randomText, seeded } from "./random-history.ts";

describe("text in cells", () => {
  it("leaves ordinary text as it is", () => {
    for (const text of ["", "plain", "漢字 🙂", "line\nline\ttab"]) expect(textCell(text)).toBe(text);
  });

  it("comes back from SQLite as it went in, and so does what was joined there (I4)", () => {
    const database = new DatabaseSync(":memory:");
    const join = database.prepare("SELECT ? || ? AS text");
    for (let seed = 1; seed <= 300; seed++) {
      const random = seeded(seed);
      const a = randomText(random, 20);
      const b = randomText(random, 20);
      const row = join.get(textCell(a), textCell(b));
      expect(cellText(String(row?.["text"])), `seed ${seed}`).toBe(a + b);
    }
  });

  it("makes a pair whole whose halves came apart", () => {
    expect(cellText(textCell("\ud83d") + textCell("\ude42"))).toBe("🙂");
  });
});

describe("heads of text", () => {
  it("never end inside a surrogate pair", () => {
    expect(headOf("ab🙂cd", 0, 3)).toBe("ab");
    expect(headOf("ab🙂cd", 0, 4)).toBe("ab🙂");
    expect(headOf("ab🙂cd", 2, 2)).toBe("🙂");
    expect(headOf("ab", 0, 9)).toBe("ab");
  });

  it("cut a lone surrogate like any unit", () => {
    expect(headOf("a\ud83db", 0, 2)).toBe("a\ud83d");
  });
});

describe("rows", () => {
  it("leave out what is absent, and keep null", () => {
    expect(present({ a: 1, b: undefined, c: null })).toEqual({ a: 1, c: null });
    expect(Object.keys(compact({ a: 1, b: undefined }))).toEqual(["a"]);
  });

  it("say what to do when a column is not as it was written", () => {
    expect(() => stringOf({ title: 3 }, "title")).toThrow(/column "title" holds number; rebuild/);
    expect(optText({ title: null }, "title")).toBeUndefined();
  });
});
