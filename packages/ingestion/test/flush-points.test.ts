/** Design 4.4: when text enters the log, in what pieces, and which segment it is of. */
import type { DomainEvent } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { flushEverything } from "../src/interpret/settlement.ts";
import { segmentUnits } from "../src/limits.ts";
import {
  completed,
  delta,
  exited,
  itemCompleted,
  itemStarted,
  itemUpdated,
  looseDelta,
  requestOpened,
  turnCompleted,
  turnStarted,
} from "./events.ts";
import { World } from "./world.ts";
import type { WorldOptions } from "./world.ts";

const running = (options: WorldOptions = {}): World => {
  const world = new World(options);
  world.feed(turnStarted());
  return world;
};

const pieces = (world: World): ReadonlyArray<string> =>
  world.log.flatMap((event) => (event.type === "message.appended" ? [event.payload.text] : []));

const texts = (world: World): Record<string, string> => Object.fromEntries(world.texts());

const afterTurnStart = (world: World): ReadonlyArray<string> => world.types().slice(1);

describe("held text enters the log", () => {
  it("not before there is a reason", () => {
    const world = running();
    world.feed(delta("Hello "));
    world.feed(delta("world"));
    expect(afterTurnStart(world)).toEqual([]);
    expect(world.steps).toBe(1);
  });

  it("when its item ends", () => {
    const world = running();
    world.feed(delta("Hello"));
    world.feed(completed());
    expect(afterTurnStart(world)).toEqual(["message.appended", "message.completed"]);
  });

  it.each([
    ["another item starts", itemStarted("ls", "command")],
    ["another item that was not announced is updated", itemUpdated("ls", "command")],
    ["another item that was not announced ends", itemCompleted("ls", "command")],
    ["another item's text starts", itemStarted("n", "assistant_message")],
    ["another item's text comes unannounced", delta("x", { itemId: "n" })],
    ["another item's output comes unannounced", delta("x", { itemId: "ls", stream: "command_output" })],
    ["a task starts", { type: "task.started", turnId: "t1", payload: { taskId: "k", kind: "subagent" } } as const],
  ])("when %s on the same path, and stands before it", (_, event) => {
    const world = running();
    world.feed(delta("I'll run ls"));
    world.feed(event);
    expect(texts(world)).toEqual({ "t1//m#0": "I'll run ls" });
    expect(afterTurnStart(world)[0]).toBe("message.appended");
    // The segment goes on.
    world.feed(delta(": done", { itemId: "m" }));
    world.feed(completed());
    expect(world.textOf("t1//m")).toBe("I'll run ls: done");
    expect([...world.texts().keys()].filter((id) => id.startsWith("t1//m#"))).toEqual(["t1//m#0"]);
  });

  it("not when something starts on another agent's path", () => {
    const world = running();
    world.feed(delta("I think"));
    world.feed(itemStarted("ls", "command", {}, { agentPath: ["child"] }));
    world.feed(delta("so", { agentPath: ["child"], itemId: "n" }));
    expect(texts(world)).toEqual({});
  });

  it("when a request is opened, which also ends the segment", () => {
    const world = running();
    world.feed(delta("May I?"));
    world.feed(requestOpened());
    expect(afterTurnStart(world)).toEqual(["message.appended", "message.completed", "request.opened"]);
    world.feed(delta("Thanks."));
    world.feed(completed("May I?Thanks."));
    expect(texts(world)).toEqual({ "t1//m#0": "May I?", "t1//m#1": "Thanks." });
  });

  it("when the turn ends, before the turn does", () => {
    const world = running();
    world.feed(delta("Done"));
    world.feed(turnCompleted());
    expect(afterTurnStart(world)).toEqual(["message.appended", "message.completed", "turn.ended"]);
  });

  it("when another turn supersedes its own, before that", () => {
    const world = running();
    world.apply({
      type: "input.queued",
      payload: { inputId: "i", text: "go", delivery: "prompt", mode: "prompt", origin: { kind: "user" } },
    });
    world.apply({ type: "input.handed_over", payload: { inputId: "i", generation: 1, mode: "prompt" } });
    world.feed(delta("The first"));
    world.feed(turnStarted("t2"));
    const types = world.types();
    expect(types.indexOf("message.appended")).toBeLessThan(types.indexOf("turn.ended"));
    expect(world.log.find((event) => event.type === "turn.ended")?.payload).toMatchObject({ state: "superseded" });
    expect(texts(world)).toEqual({ "t1//m#0": "The first" });
  });

  it("when the runtime exits, before everything is settled", () => {
    const world = running();
    world.feed(delta("Half a sen"));
    world.feed(looseDelta("no turn"));
    world.feed(itemStarted("ls", "command"));
    world.feed(requestOpened());
    world.feed(delta("more"));
    world.feed(exited);
    expect(texts(world)).toEqual({ "t1//m#0": "Half a sen", "t1//m#1": "more", "-//m#0": "no turn" });
    const types = world.types();
    expect(types.at(-1)).toBe("session.exited");
    expect(types.lastIndexOf("message.appended")).toBeLessThan(types.indexOf("turn.ended"));
    expect(world.state?.requests).toEqual([]);
  });

  it("by age: a second after it came, once a second", () => {
    const world = running();
    world.feed(delta("a"));
    world.advance(999);
    expect(texts(world)).toEqual({});
    world.feed(delta("b"));
    world.advance(1);
    expect(texts(world)).toEqual({ "t1//m#0": "ab" });
    world.feed(delta("c"));
    world.advance(999);
    expect(pieces(world)).toEqual(["ab"]);
    world.advance(1);
    expect(pieces(world)).toEqual(["ab", "c"]);
  });

  it("not by age where delivery is buffered, and by age again once it is switched", () => {
    const world = running({ textDelivery: "buffered" });
    world.feed(delta("a"));
    world.advance(60_000);
    expect(texts(world)).toEqual({});
    world.apply({ type: "thread.configured", payload: { textDelivery: "streaming", applies: "now" } });
    world.advance(0);
    expect(texts(world)).toEqual({ "t1//m#0": "a" });
  });

  it("at a shutdown or an interrupt even where delivery is buffered, and the segment goes on", () => {
    const world = running({ textDelivery: "buffered" });
    world.feed(delta("a"));
    world.act(flushEverything);
    expect(texts(world)).toEqual({ "t1//m#0": "a" });
    world.feed(delta("b"));
    world.feed(completed());
    expect(texts(world)).toEqual({ "t1//m#0": "ab" });
  });

  it("at a drain where delivery is streaming", () => {
    const world = running();
    world.feed(delta("a"));
    world.drain();
    expect(texts(world)).toEqual({ "t1//m#0": "a" });
    const buffered = running({ textDelivery: "buffered" });
    buffered.feed(delta("a"));
    buffered.drain();
    expect(texts(buffered)).toEqual({});
  });
});

describe("the cap", () => {
  const lengths = (world: World): ReadonlyArray<number> => pieces(world).map((text) => text.length);

  it("is flushed at once when it is reached, exactly", () => {
    const world = running({ textDelivery: "buffered" });
    world.feed(delta("x".repeat(segmentUnits - 1)));
    expect(lengths(world)).toEqual([]);
    world.feed(delta("yz"));
    expect(lengths(world)).toEqual([segmentUnits]);
    expect(pieces(world)[0]?.endsWith("xy")).toBe(true);
    world.feed(completed());
    expect(lengths(world)).toEqual([segmentUnits, 1]);
  });

  it("cuts a huge delta into pieces of it", () => {
    const world = running();
    const text = Array.from({ length: 100_000 }, (_, index) => String(index % 10)).join("");
    world.feed(delta(text));
    expect(lengths(world)).toEqual([24_000, 24_000, 24_000, 24_000]);
    world.feed(completed());
    expect(world.textOf("t1//m")).toBe(text);
  });

  it("is never inside a surrogate pair, however the pair comes", () => {
    const whole = running();
    whole.feed(delta(`${"x".repeat(segmentUnits - 1)}😀y`));
    expect(lengths(whole)).toEqual([segmentUnits - 1]);
    whole.feed(completed());
    expect(pieces(whole)[1]).toBe("😀y");

    const split = running();
    split.feed(delta(`${"x".repeat(segmentUnits - 1)}\ud83d`));
    expect(lengths(split)).toEqual([segmentUnits - 1]);
    split.feed(delta("\ude00"));
    split.feed(completed());
    expect(pieces(split)[1]).toBe("😀");
  });

  it("holds for whitespace too, which then is a message", () => {
    const world = running();
    world.feed(delta(" ".repeat(segmentUnits)));
    expect(lengths(world)).toEqual([segmentUnits]);
  });
});

describe("half a surrogate pair at the end", () => {
  it("waits for the other half through every flush but the end", () => {
    const world = running();
    world.feed(delta("a\ud83d"));
    world.advance(1_000);
    world.drain();
    world.feed(itemStarted("ls", "command"));
    expect(pieces(world)).toEqual(["a"]);
    world.feed(delta("\ude00b"));
    world.drain();
    expect(pieces(world)).toEqual(["a", "😀b"]);
  });

  it("goes alone when the segment ends: what came is what stands", () => {
    const world = running();
    world.feed(delta("a\ud83d"));
    world.feed(completed());
    expect(world.textOf("t1//m")).toBe("a\ud83d");
  });

  it("does not keep a timer busy", () => {
    const world = running();
    world.feed(delta("\ud83d"));
    const { steps } = world;
    world.advance(10_000);
    expect(world.steps).toBe(steps);
    world.feed(delta("\ude00"));
    world.advance(999);
    expect(pieces(world)).toEqual([]);
    world.advance(1);
    expect(pieces(world)).toEqual(["😀"]);
  });
});

describe("whitespace", () => {
  it("makes no message when it is all a segment was", () => {
    const world = running();
    world.feed(delta(" \n"));
    world.advance(5_000);
    world.feed(itemStarted("ls", "command"));
    world.feed(requestOpened());
    world.feed(delta("\n\n"));
    world.feed(turnCompleted());
    expect(texts(world)).toEqual({});
    expect(world.books().accounted).toBe(world.books().journal);
  });

  it("is held until something follows, and then stands before it", () => {
    const world = running();
    world.feed(delta("\n"));
    world.advance(5_000);
    world.feed(delta("Hi"));
    world.feed(delta("\n"));
    world.feed(turnCompleted());
    expect(texts(world)).toEqual({ "t1//m#0": "\nHi\n" });
  });

  it("that was dropped counts no segment: only those that make a message are numbered", () => {
    const world = running();
    world.feed(delta("\n"));
    world.feed(requestOpened());
    world.feed(delta("first"));
    world.feed(turnCompleted());
    expect(texts(world)).toEqual({ "t1//m#0": "first" });
  });
});

describe("segments are kept apart", () => {
  it("by turn, agent, item and stream", () => {
    const world = running();
    for (const letter of ["a", "b"]) {
      world.feed(delta(`m${letter} `));
      world.feed(delta(`n${letter} `, { itemId: "n" }));
      world.feed(delta(`child${letter} `, { agentPath: ["c"] }));
      world.feed(delta(`grandchild${letter} `, { agentPath: ["c", "d"] }));
      world.feed(delta(`thought${letter} `, { stream: "reasoning" }));
      world.feed(delta(`summary${letter} `, { stream: "reasoning_summary" }));
      world.feed(looseDelta(`loose${letter} `));
    }
    world.feed(exited);
    expect(texts(world)).toEqual({
      "t1//m#0": "ma mb ",
      "t1//n#0": "na nb ",
      "t1/c/m#0": "childa childb ",
      "t1/c.d/m#0": "grandchilda grandchildb ",
      "t1//m#r0": "thoughta thoughtb ",
      "t1//m#s0": "summarya summaryb ",
      "-//m#0": "loosea looseb ",
    });
  });

  it("reasoning that is not wanted stays in the journal", () => {
    for (const [reasoning, ids] of [
      ["full", ["t1//m#r0", "t1//m#s0"]],
      ["summary", ["t1//m#s0"]],
      ["off", []],
    ] as const) {
      const world = running({ reasoning });
      world.feed(delta("thought", { stream: "reasoning" }));
      world.feed(delta("summary", { stream: "reasoning_summary" }));
      world.feed(itemCompleted("m", "reasoning", { text: "thought" }));
      world.feed(turnCompleted());
      expect([...world.texts().keys()].toSorted()).toEqual(ids);
    }
  });

  it("a text without a turn does not take the number of an earlier generation's", () => {
    const world = new World();
    world.feed(looseDelta("one"));
    world.settle();
    world.open(2);
    world.feed(looseDelta("two"));
    world.feed(exited);
    expect(texts(world)).toEqual({ "-//m#0": "one", "-//m#1": "two" });
  });
});

describe("late text of an ended turn", () => {
  const ended = (): World => {
    const world = running();
    world.feed(delta("Hello"));
    world.feed(turnCompleted());
    return world;
  };

  it("is committed at once to that turn's message, which stays closed and wakes nothing", () => {
    const world = ended();
    world.feed(delta(" world"));
    expect(texts(world)).toEqual({ "t1//m#0": "Hello world" });
    expect(world.state?.texts).toEqual([]);
    expect(world.state?.turn).toBeUndefined();
  });

  it("never goes to another turn's message", () => {
    const world = ended();
    world.feed(turnStarted("t2"));
    world.feed(delta("second", { turnId: "t2" }));
    world.feed(delta(" world"));
    world.feed(turnCompleted("t2"));
    expect(texts(world)).toEqual({ "t1//m#0": "Hello world", "t2//m#0": "second" });
  });

  it("makes a closed message of its own where the item had none", () => {
    const world = ended();
    world.feed(delta("new", { itemId: "n" }));
    expect(texts(world)).toEqual({ "t1//m#0": "Hello", "t1//n#0": "new" });
    expect(world.state?.texts).toEqual([]);
  });

  it("finds its message although nothing is remembered of the item", () => {
    const world = ended();
    world.holder.memory.items.clear();
    world.holder.memory.last = undefined;
    world.feed(delta(" world"));
    expect(texts(world)).toEqual({ "t1//m#0": "Hello world" });
  });

  it("is never parted: half a pair waits for the other half, but not for long", () => {
    const world = ended();
    world.feed(delta("!\ud83d"));
    expect(world.textOf("t1//m")).toBe("Hello!");
    world.feed(delta("\ude00\ud83d"));
    expect(world.textOf("t1//m")).toBe("Hello!😀");
    world.advance(1_000);
    expect(world.textOf("t1//m")).toBe("Hello!😀\ud83d");
  });

  it("after the session's end too", () => {
    const world = ended();
    world.feed(exited);
    world.feed(delta(" world"));
    world.feed(completed("Hello world, friend"));
    expect(texts(world)).toEqual({ "t1//m#0": "Hello world, friend" });
    expect(world.state?.texts).toEqual([]);
  });
});

describe("who never ends an item", () => {
  it("has no more segments open than fit: the oldest ends", () => {
    const world = running();
    for (let item = 0; item < 200; item += 1) world.feed(delta(`text ${item}`, { itemId: `i${item}` }));
    expect(world.holder.memory.open.size).toBeLessThanOrEqual(64);
    expect(world.state?.texts.length).toBeLessThanOrEqual(64);
    world.feed(delta(" again", { itemId: "i0" }));
    world.feed(turnCompleted());
    expect(world.textOf("t1//i0")).toBe("text 0 again");
    expect(world.textOf("t1//i199")).toBe("text 199");
  });
});

describe("the log stays small", () => {
  it("a 10,000-character reply over 30 s costs at most 40 message events (pain 14)", () => {
    const world = running();
    for (let piece = 0; piece < 1_000; piece += 1) {
      world.feed(delta("0123456789"));
      world.advance(30);
    }
    world.feed(completed("0123456789".repeat(1_000)));
    const messages = world.log.filter((event: DomainEvent) => event.type.startsWith("message."));
    expect(messages.length).toBeLessThanOrEqual(40);
    expect(world.textOf("t1//m")).toBe("0123456789".repeat(1_000));
  });
});
