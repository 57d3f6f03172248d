import { describe, expect, it } from "vitest";
import { CursorInvalid, decodeCursor, encodeCursor } from "../src/cursor.ts";

describe("cursors", () => {
  it("carry a sequence", () => {
    for (const sequence of [0, 1, 9_007_199_254_740_991]) expect(decodeCursor(encodeCursor(sequence))).toBe(sequence);
  });

  it.each(["", "e:", "e:-1", "e:01", "e:1.5", "e:1 ", "E:1", "1", "e:9007199254740992", "e:99999999999999999999"])(
    "refuses %j",
    (text) => {
      const error = decodeCursor(text);
      expect(error).toBeInstanceOf(CursorInvalid);
      expect(error).toMatchObject({ _tag: "CursorInvalid", cursor: text });
    },
  );

  it("tells a journal's cursor from a broken one, and shows no more than it must", () => {
    expect(decodeCursor("r:4")).toMatchObject({ message: expect.stringContaining("journal") });
    const error = decodeCursor("x".repeat(10_000));
    expect(error instanceof CursorInvalid && error.message.length).toBeLessThan(200);
  });
});
