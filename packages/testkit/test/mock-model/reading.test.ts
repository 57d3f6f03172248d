import { describe, expect, it } from "vitest";
import {
  isAskedAgain,
  resultEntries,
  roundsSinceLastUser,
  userEntries,
  userMessages,
  type Conversation,
  type Entry,
} from "../../src/mock-model/conversation.ts";
import { markerOf } from "../../src/mock-model/marker.ts";
import { hugeText, pieces, slowText, unicodeText } from "../../src/mock-model/texts.ts";

const conversation = (...entries: ReadonlyArray<Entry>): Conversation => ({
  key: "",
  model: "",
  stream: true,
  tools: [],
  deferred: [],
  entries,
});
const user = (text: string): Entry => ({ kind: "user", text });
const said = (text: string): Entry => ({ kind: "assistant", text });
const notice = (text: string): Entry => ({ kind: "notice", text });
const called = (id: string): Entry => ({ kind: "call", id, tool: "t" });
const result = (id: string): Entry => ({ kind: "result", id, text: "r" });

describe("markers", () => {
  it.each([
    ["[[text]]", { name: "text", arg: "" }],
    ["please [[huge:200000]] now", { name: "huge", arg: "200000" }],
    ["[[text]] or rather [[echo]]", { name: "echo", arg: "" }],
    ["[[shell:if [[ -f a ]]; then echo yes; fi]]", { name: "shell", arg: "if [[ -f a ]]; then echo yes; fi" }],
    ["[[subagent:[[shell:echo [[x]]]]]]", { name: "subagent", arg: "[[shell:echo [[x]]]]" }],
    ["[[shell:printf 'a\nb']]", { name: "shell", arg: "printf 'a\nb'" }],
  ])("reads %s", (text, marker) => {
    expect(markerOf(text)).toEqual(marker);
  });

  it.each(["no marker", "[[unclosed", "[[Upper]]", "a[[0]]", "[[text !]]"])("sees none in %s", (text) => {
    expect(markerOf(text)).toBeUndefined();
  });
});

describe("what counts as said by the person", () => {
  it("leaves out what the runtime slips in", () => {
    const reminder = "<system-reminder>\nUse [[text]]\n</system-reminder>";
    expect(userEntries(`${reminder}\nhello`)).toEqual([notice(reminder), user("hello")]);
    expect(userEntries("<environment_context>\n <cwd>/x</cwd>\n</environment_context>")).toEqual([
      notice("<environment_context>\n <cwd>/x</cwd>\n</environment_context>"),
    ]);
    expect(userEntries("[Request interrupted by user for tool use]")[0]?.kind).toBe("notice");
    expect(userEntries("Tool loaded.")[0]?.kind).toBe("notice");
    expect(userEntries(" \n")).toEqual([]);
  });

  it("finds a message that was folded into a tool result", () => {
    const folded =
      "done\n\n<system-reminder>\nThe user sent a new message while you were working:\nsecond [[echo]]\n\n" +
      "This is how Claude Code surfaces messages the user sends mid-turn.\n</system-reminder>";
    expect(resultEntries("c1", folded)).toEqual([{ kind: "result", id: "c1", text: "done" }, user("second [[echo]]")]);
  });
});

describe("where a conversation stands", () => {
  it("counts rounds of results after the last user message; parallel calls are one round", () => {
    const before = [user("old"), called("a"), result("a"), said("done")];
    expect(roundsSinceLastUser(conversation(...before, user("new")))).toBe(0);
    const parallel = [user("new"), called("b"), called("c"), result("b"), notice("n"), result("c")];
    expect(roundsSinceLastUser(conversation(...before, ...parallel))).toBe(1);
    expect(roundsSinceLastUser(conversation(...before, ...parallel, called("d"), result("d")))).toBe(2);
  });

  it("does not count the lookup of a deferred tool", () => {
    const lookup = [user("x"), called("call_find_1"), result("call_find_1")];
    expect(roundsSinceLastUser(conversation(...lookup))).toBe(0);
    expect(roundsSinceLastUser(conversation(...lookup, called("b"), result("b")))).toBe(1);
  });

  it("knows when the runtime asks again on its own", () => {
    expect(isAskedAgain(conversation(user("x"), said("done"), notice("a task ended")))).toBe(true);
    expect(isAskedAgain(conversation(user("x"), notice("reminder")))).toBe(false);
    expect(isAskedAgain(conversation(user("x"), called("a"), result("a"), notice("reminder")))).toBe(false);
    expect(userMessages(conversation(user("x"), notice("n"), user("y")))).toEqual(["x", "y"]);
  });
});

/** A small seeded generator (mulberry32): the seed is in each test's name. */
const random = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

describe("texts", () => {
  it.each([0, 1, 61, 62, 63, 5000, 200_000])("a huge text of %i is exactly that long", (length) => {
    expect(hugeText(length)).toHaveLength(length);
    expect(hugeText(200_000).startsWith(hugeText(length))).toBe(true);
  });

  it("slow text has one word a piece", () => {
    expect(pieces(slowText(12), 8)).toHaveLength(12);
  });

  it.each([1, 2, 3, 4, 5])("pieces lose nothing and split no surrogate pair (seed %i)", (seed) => {
    const next = random(seed);
    const texts = [unicodeText, "😀".repeat(40), ""];
    const text = Array.from({ length: 20 }, () => texts[Math.floor(next() * texts.length)]).join("");
    const cut = pieces(text, 1 + Math.floor(next() * 9));
    expect(cut.join("")).toBe(text);
    expect(cut.every((piece) => piece.isWellFormed())).toBe(true);
  });
});
