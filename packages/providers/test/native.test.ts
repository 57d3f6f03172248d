import { describe, expect, it } from "vitest";
import { asCount, asId, asInstant, asObject, defined, eventId, rowOf, shorten, titleOf } from "../src/native.ts";

describe("reading what a runtime sent", () => {
  it("takes ids as the contracts do", () => {
    expect([asId("a"), asId(""), asId("a\nb"), asId("x".repeat(512)), asId("x".repeat(513)), asId(3)]).toEqual([
      "a",
      undefined,
      undefined,
      "x".repeat(512),
      undefined,
      undefined,
    ]);
    expect(eventId("a", 1)).toEqual({ id: "a/1" });
    expect(eventId("x".repeat(512), "y")).toEqual({});
  });

  it("takes times and counts, and nothing that only looks like one", () => {
    expect(asInstant(1_796_061_019_000)).toBe("2026-11-30T17:50:19.000Z");
    for (const none of [Number.NaN, 1e300, -1e15, "2026", null]) expect(asInstant(none)).toBeUndefined();
    for (const none of [-1, 1.5, Number.MAX_VALUE, "1"]) expect(asCount(none)).toBeUndefined();
    expect(asObject([])).toBeUndefined();
  });

  it("looks nothing up that every object inherits", () => {
    expect(rowOf<unknown>({ a: 1 }, "a")).toBe(1);
    for (const name of ["constructor", "__proto__", "toString"]) expect(rowOf<unknown>({ a: 1 }, name)).toBeUndefined();
  });

  it("shortens without cutting a pair", () => {
    expect(shorten("abc", 3)).toBe("abc");
    expect(shorten("abcd", 3)).toBe("ab…");
    expect(shorten("a😀b", 3)).toBe("a…");
    expect(titleOf("\n  first \n second")).toBe("first");
    expect(titleOf(" \n ")).toBeUndefined();
    expect(defined({ a: 1, b: undefined })).toEqual({ a: 1 });
  });
});
