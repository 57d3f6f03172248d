/** Design 4.5 and 4.6: the runtime's whole text against what it streamed; retraction. */
import { describe, expect, it } from "vitest";
import { segmentUnits } from "../src/limits.ts";
import { compareWhole } from "../src/text/whole-text.ts";
import type { StreamedPiece } from "../src/text/whole-text.ts";
import { hashText } from "../src/text/text-hash.ts";
import { completed, delta, itemCompleted, requestOpened, retracted, turnCompleted, turnStarted } from "./events.ts";
import { forSeeds, scrap } from "./random.ts";
import { World } from "./world.ts";
import type { RuntimeEvent } from "@tributary/contracts";

const logged = (text: string, held = ""): StreamedPiece => ({
  committed: text.length,
  hash: hashText(text),
  held,
  dropped: false,
});
const dropped = (text: string): StreamedPiece => ({ ...logged(text), dropped: true });

describe("compareWhole", () => {
  const outcome = (pieces: ReadonlyArray<StreamedPiece>, whole: string) => compareWhole(pieces, whole).outcome;

  it("none seen: the whole is the rest", () => expect(outcome([], "Hello")).toEqual({ kind: "longer", rest: "Hello" }));
  it("equal: nothing, dropped whitespace included", () => {
    expect(outcome([logged("Hello"), dropped("\n"), logged("wor", "ld")], "Hello\nworld")).toEqual({ kind: "same" });
  });
  it("longer: the rest follows", () =>
    expect(outcome([logged("Hello"), logged("", " wor")], "Hello world")).toEqual({ kind: "longer", rest: "ld" }));
  it("different: the first that differs, with all that is left", () => {
    expect(outcome([logged("Hello"), logged(" warld"), logged("!")], "Hello world!")).toEqual({
      kind: "differs",
      index: 1,
      rest: " world!",
    });
    expect(outcome([logged("Hel", "xo")], "Hello")).toEqual({ kind: "differs", index: 0, rest: "Hello" });
  });
  it("shorter: what goes beyond it differs", () => {
    expect(outcome([logged("Hello"), logged(" world")], "Hello")).toEqual({ kind: "differs", index: 1, rest: "" });
    expect(outcome([logged("Hello")], "Hell")).toEqual({ kind: "differs", index: 0, rest: "Hell" });
  });
  it("whitespace that the whole does not have is forgotten, and the comparison goes on behind it", () => {
    expect(compareWhole([logged("a"), dropped("\n\n"), logged("b")], "ab")).toEqual({
      forgotten: [1],
      outcome: { kind: "same" },
    });
  });
  it("unknown where a piece is known only from the log", () =>
    expect(outcome([{ ...logged("a"), hash: undefined }], "a")).toEqual({ kind: "unknown" }));
  it("finds the first difference of any two texts", () => {
    forSeeds(300, (random) => {
      const pieces = Array.from({ length: random.below(5) }, () => scrap(random));
      const streamed = pieces.join("");
      const at = random.below(streamed.length + 1);
      const whole = streamed.slice(0, at) + scrap(random);
      const { outcome: found } = compareWhole(
        pieces.map((text) => logged(text.slice(0, 2), text.slice(2))),
        whole,
      );
      if (found.kind === "same") expect(whole).toBe(streamed);
      else if (found.kind === "longer") expect(streamed + found.rest).toBe(whole);
      else if (found.kind === "differs") expect(pieces.slice(0, found.index).join("") + found.rest).toBe(whole);
    });
  });
});

const running = (): World => {
  const world = new World();
  world.feed(turnStarted());
  return world;
};

/** Three segments: "one" and "two" in the log and ended by a question, "three" still open. */
const threeSegments = (): World => {
  const world = running();
  for (const [index, text] of ["one ", "two "].entries()) {
    world.feed(delta(text));
    world.feed(requestOpened(`r${index}`));
  }
  world.feed(delta("three"));
  return world;
};

const texts = (world: World): Record<string, string> => Object.fromEntries(world.texts());
const messageTypes = (world: World, from: number): ReadonlyArray<string> =>
  world.log.slice(from).flatMap(({ type }) => (type.startsWith("message.") ? [type] : []));

describe("a completed item's whole text", () => {
  it("equal: nothing but the end enters the log", () => {
    const world = threeSegments();
    const from = world.log.length;
    world.feed(completed("one two three"));
    expect(messageTypes(world, from)).toEqual(["message.appended", "message.completed"]);
    expect(texts(world)).toEqual({ "t1//m#0": "one ", "t1//m#1": "two ", "t1//m#2": "three" });
  });

  it("longer: the rest goes to the open segment", () => {
    const world = threeSegments();
    world.feed(completed("one two three four"));
    expect(texts(world)["t1//m#2"]).toBe("three four");
  });

  it("longer: the rest goes to a new segment where none is open", () => {
    const world = threeSegments();
    world.feed(requestOpened("r9"));
    world.feed(completed("one two three four"));
    expect(texts(world)).toMatchObject({ "t1//m#2": "three", "t1//m#3": " four" });
  });

  it("different: the first segment that differs is replaced, later ones are retracted", () => {
    const world = threeSegments();
    world.drain();
    const from = world.log.length;
    world.feed(completed("one TWO"));
    expect(texts(world)).toEqual({ "t1//m#0": "one ", "t1//m#1": "TWO" });
    expect(messageTypes(world, from)).toEqual(["message.retracted", "message.replaced"]);
    expect(world.state?.texts).toEqual([]);
  });

  it("different in what is only held: nothing wrong enters the log", () => {
    const world = running();
    world.feed(delta("wrong"));
    const from = world.log.length;
    world.feed(completed("right"));
    expect(messageTypes(world, from)).toEqual(["message.appended", "message.completed"]);
    expect(texts(world)).toEqual({ "t1//m#0": "right" });
  });

  it("none seen: it is the text", () => {
    const world = running();
    world.feed(completed("All at once"));
    expect(texts(world)).toEqual({ "t1//m#0": "All at once" });
  });

  it("none seen and nothing but whitespace: no message", () => {
    const world = running();
    world.feed(completed("\n"));
    expect(texts(world)).toEqual({});
  });

  it("an empty whole text says nothing about what was streamed", () => {
    const world = running();
    world.feed(delta("Hello"));
    world.feed(completed(""));
    expect(texts(world)).toEqual({ "t1//m#0": "Hello" });
  });

  it("a replacement longer than an event is appended to the same message", () => {
    const world = threeSegments();
    world.drain();
    const whole = `other ${"x".repeat(3 * segmentUnits)}`;
    world.feed(completed(whole));
    expect(texts(world)).toEqual({ "t1//m#0": whole });
    for (const { payload } of world.log)
      if ("text" in payload) expect(payload.text.length).toBeLessThanOrEqual(segmentUnits);
  });

  it("twice is once; a longer one later still counts", () => {
    const world = running();
    world.feed(delta("Hello"));
    world.feed(completed("Hello"));
    const from = world.log.length;
    world.feed(completed("Hello"));
    expect(world.log.length).toBe(from);
    world.feed(completed("Hello world"));
    expect(world.textOf("t1//m")).toBe("Hello world");
  });

  it("late, of a turn that is over: it still finalises its message", () => {
    const world = running();
    world.feed(delta("Hel"));
    world.feed(turnCompleted("t1", "interrupted"));
    world.feed(completed("Hello"));
    expect(texts(world)).toEqual({ "t1//m#0": "Hello" });
    world.feed(completed("Bye"));
    expect(texts(world)).toEqual({ "t1//m#0": "Bye" });
    expect(world.state?.texts).toEqual([]);
  });

  it("late, of an item that nobody remembers, is refused: its text is in the log", () => {
    const world = running();
    world.feed(delta("Hel"));
    world.feed(turnCompleted("t1", "interrupted"));
    world.holder.memory.items.clear();
    world.holder.memory.last = undefined;
    world.feed(completed("Hello"));
    expect(world.refusals.at(-1)).toMatchObject({ type: "item.completed", reason: "item_over" });
    expect(texts(world)).toEqual({ "t1//m#0": "Hel" });
  });

  it("of reasoning: what is missing is added, what differs stays as it was streamed", () => {
    const world = running();
    world.feed(delta("I thi", { stream: "reasoning", itemId: "r" }));
    world.feed(itemCompleted("r", "reasoning", { text: "I think" }));
    expect(texts(world)).toEqual({ "t1//r#r0": "I think" });
    world.feed(delta("So", { stream: "reasoning", itemId: "q" }));
    world.feed(itemCompleted("q", "reasoning", { text: "Thus" }));
    expect(texts(world)).toMatchObject({ "t1//q#r0": "So" });
    world.feed(itemCompleted("s", "reasoning", { text: "Only at the end" }));
    expect(texts(world)).toMatchObject({ "t1//s#r0": "Only at the end" });
  });
});

describe("retraction", () => {
  it("of what is only held: nothing of it was ever said", () => {
    const world = running();
    world.feed(delta("cut"));
    world.feed(retracted());
    world.feed(delta("retried"));
    world.feed(completed("retried"));
    expect(texts(world)).toEqual({ "t1//m#0": "retried" });
    expect(world.events("message.retracted")).toEqual([]);
  });

  it("of what is in the log: the message disappears, the retry is another one", () => {
    const world = running();
    world.feed(delta("cut"));
    world.drain();
    world.feed(delta(" off"));
    world.feed(retracted());
    world.feed(delta("retried"));
    world.feed(completed("retried"));
    expect(texts(world)).toEqual({ "t1//m#1": "retried" });
  });

  it("leaves the segments before the last completed one", () => {
    const world = running();
    world.feed(delta("before"));
    world.feed(requestOpened());
    world.feed(delta("cut"));
    world.drain();
    world.feed(retracted());
    world.feed(completed("before and after"));
    expect(texts(world)).toEqual({ "t1//m#0": "before", "t1//m#2": " and after" });
  });

  it("of a completed item takes nothing back, and is refused with a reason", () => {
    const world = running();
    world.feed(delta("said"));
    world.feed(completed("said"));
    const from = world.log.length;
    world.feed(retracted());
    expect(world.log.length).toBe(from);
    expect(world.refusals).toMatchObject([{ seq: 4, type: "content.retracted", reason: "item_over" }]);
    world.feed(delta(" more"));
    world.drain();
    world.feed(retracted());
    expect(texts(world)).toEqual({ "t1//m#0": "said" });
    expect(world.refusals.length).toBe(1);
  });

  it("of a completed item that nobody remembers is refused too", () => {
    const world = running();
    world.feed(delta("said"), completed("said"));
    for (let n = 0; n < 80; n += 1) world.feed(delta("x", { itemId: `i${n}` }), completed("x", `i${n}`));
    world.feed(retracted());
    expect(world.refusals).toMatchObject([{ type: "content.retracted", reason: "item_over" }]);
    expect(texts(world)["t1//m#0"]).toBe("said");
  });

  it("of the item as a whole takes back what was completed, remembered or not", () => {
    for (const others of [0, 80]) {
      const world = running();
      world.feed(delta("before"), requestOpened(), delta("after"), completed("beforeafter"));
      for (let n = 0; n < others; n += 1) world.feed(delta("x", { itemId: `i${n}` }), completed("x", `i${n}`));
      world.feed({ ...retracted(), payload: { reason: "refused", whole: true } } as RuntimeEvent);
      expect(Object.keys(texts(world)).filter((id) => id.startsWith("t1//m#"))).toEqual([]);
      expect(world.refusals).toEqual([]);
      world.feed(delta("another answer", { itemId: "n" }), completed("another answer", "n"));
      expect(texts(world)["t1//n#0"]).toBe("another answer");
    }
  });

  it("of nothing changes nothing", () => {
    const world = running();
    const from = world.log.length;
    world.feed(retracted());
    expect(world.log.length).toBe(from);
  });

  it("leaves reasoning that stands in the log: nobody takes it for an answer", () => {
    const world = running();
    world.feed(delta("thought", { stream: "reasoning" }));
    world.drain();
    world.feed(delta(" more", { stream: "reasoning" }));
    world.feed(retracted());
    expect(texts(world)).toEqual({ "t1//m#r0": "thought" });
    expect(world.state?.texts).toEqual([]);
  });
});
