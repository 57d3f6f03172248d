/** I4: text in = text out, however it is cut, repeated, delayed, interrupted or brought back after a crash. */
import type { RuntimeEvent } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import {
  completed,
  delta,
  exited,
  itemStarted,
  requestOpened,
  retracted,
  turnCompleted,
  turnStarted,
} from "./events.ts";
import { cutAnywhere, forSeeds, scrap } from "./random.ts";
import type { Random } from "./random.ts";
import { World } from "./world.ts";

const isBlank = (text: string): boolean => text.trim() === "";
const withoutSpace = (text: string): string => text.replaceAll(/\s/g, "");

/** What one item should say in the end. */
class Expected {
  private readonly ended: Array<string> = [];
  private open: string | undefined;
  private goesOn = false;
  droppedWhitespace = false;
  private segments = 0;

  say(text: string): void {
    if (text !== "") this.open = (this.open ?? "") + text;
  }
  endSegment(): void {
    if (this.open === undefined) return;
    this.segments += 1;
    const blank = isBlank(this.open);
    if (blank) this.droppedWhitespace = true;
    else this.ended.push(this.open);
    this.goesOn = !blank;
    this.open = undefined;
  }
  retract(): void {
    if (this.open !== undefined) this.goesOn = false;
    this.open = undefined;
  }
  /** The runtime's final word. */
  finish(whole: string): void {
    const already = this.segments;
    this.endSegment();
    this.segments += 1;
    this.ended.splice(0, this.ended.length, ...(isBlank(whole) ? [] : [whole]));
    // What is left of it after earlier segments may be whitespace, and makes no message of its own.
    this.droppedWhitespace ||= isBlank(whole) || already > 0;
    this.goesOn = !isBlank(whole);
  }
  /** Late text joins the last message, or makes one. */
  late(text: string): void {
    const last = this.ended.at(-1);
    if (this.goesOn && last !== undefined) this.ended[this.ended.length - 1] = last + text;
    else {
      this.say(text);
      // It ends by age, and may be whitespace then.
      if (isBlank(text)) this.droppedWhitespace = true;
      else {
        this.endSegment();
        this.goesOn = true;
      }
    }
  }
  get text(): string {
    return this.ended.join("");
  }
  get streamed(): string {
    return this.ended.join("") + (this.open ?? "");
  }
}

interface Agent {
  readonly path: ReadonlyArray<string>;
  readonly items: ReadonlyMap<string, Expected>;
}

const agents = (): ReadonlyArray<Agent> => [
  {
    path: [],
    items: new Map([
      ["m", new Expected()],
      ["n", new Expected()],
    ]),
  },
  { path: ["a"], items: new Map([["m", new Expected()]]) },
];

const keyOf = ({ path }: Agent, itemId: string): string => `t1/${path.join(".")}/${itemId}`;

type Send = (event: RuntimeEvent) => void;

/** One thing that happens to a running turn. */
const happen = (random: Random, agent: Agent, send: Send, done: Set<Expected>): void => {
  const [itemId, expected] = random.pick([...agent.items]);
  const where = { itemId, agentPath: agent.path };
  switch (random.below(12)) {
    case 0:
      send(itemStarted(`tool${random.below(1e9)}`, "command", {}, { agentPath: agent.path }));
      return;
    case 1:
      send(requestOpened(`r${random.below(1e9)}`, { agentPath: agent.path }));
      for (const other of agent.items.values()) other.endSegment();
      return;
    case 2:
      if (random.chance(0.5)) return;
      send({ ...retracted(itemId), agentPath: agent.path });
      expected.retract();
      return;
    case 3: {
      if (random.chance(0.6)) return;
      const streamed = expected.streamed;
      const whole = random.pick([
        undefined,
        streamed,
        `${streamed}${scrap(random)}`,
        streamed.slice(0, random.below(streamed.length + 1)),
        `${streamed.slice(0, random.below(streamed.length + 1))}${scrap(random)}`,
      ]);
      send(completed(whole, itemId, where));
      if (whole === undefined || whole === "") expected.endSegment();
      else expected.finish(whole);
      done.add(expected);
      return;
    }
    default: {
      const text = random.chance(0.02) ? scrap(random, 3).repeat(20_000) : scrap(random);
      for (const piece of random.chance(0.3) ? cutAnywhere(text, random, 4_000) : [text]) {
        send(delta(piece, where));
        expected.say(piece);
      }
    }
  }
};

const disturb = (random: Random, world: World): void => {
  switch (random.below(8)) {
    case 0:
      world.crash();
      return;
    case 1:
      world.drain();
      return;
    case 2:
      world.advance(random.below(3_000));
      return;
    case 3:
      world.apply({
        type: "thread.configured",
        payload: { textDelivery: random.pick(["streaming", "buffered"]), applies: "now" },
      });
      break;
    default:
  }
};

const check = (world: World, all: ReadonlyArray<Agent>): void => {
  for (const agent of all)
    for (const [itemId, expected] of agent.items) {
      const text = world.textOf(keyOf(agent, itemId));
      if (expected.droppedWhitespace) expect(withoutSpace(text)).toBe(withoutSpace(expected.text));
      else expect(text).toBe(isBlank(expected.text) ? "" : expected.text);
    }
  const { journal, accounted } = world.books();
  expect(accounted).toBe(journal);
};

describe("text in = text out (I4)", () => {
  it("whatever happens to a turn, with any cut, repeat, delay and crash", () => {
    forSeeds(Number(process.env["SEEDS"] ?? 100), (random) => {
      const world = new World({ textDelivery: random.pick(["streaming", "buffered"]) });
      const all = agents();
      const done = new Set<Expected>();
      let sent = 0;
      const earlier: Array<RuntimeEvent> = [];
      const batch: Array<RuntimeEvent> = [];
      const send: Send = (event) => {
        const named = { ...event, id: `e${(sent += 1)}` };
        earlier.push(named);
        batch.push(named);
        if (random.chance(0.2)) batch.push(random.pick(earlier));
        if (random.chance(0.8)) world.feed(...batch.splice(0));
      };
      send(turnStarted());
      for (let step = 0; step < 40; step += 1) {
        happen(random, random.pick(all), send, done);
        disturb(random, world);
      }
      send(turnCompleted());
      world.feed(...batch.splice(0));
      for (const { items } of all) for (const expected of items.values()) expected.endSegment();
      check(world, all);

      for (let step = 0; step < 6; step += 1) {
        const agent = random.pick(all);
        const [itemId, expected] = random.pick([...agent.items]);
        const text = scrap(random);
        send(delta(text, { itemId, agentPath: agent.path }));
        expected.late(text);
        disturb(random, world);
      }
      send(exited);
      world.feed(...batch.splice(0));
      for (const { items } of all) for (const expected of items.values()) expected.endSegment();
      world.crash();
      check(world, all);
      expect(world.state?.texts).toEqual([]);
      expect(world.state?.activities).toEqual([]);
    });
  });
});
