import { describe, expect, it } from "vitest";
import { encodeMemory } from "../src/checkpoint/interpretive-state.ts";
import { anything } from "./anything.ts";
import { exited } from "./events.ts";
import { forSeeds, random } from "./random.ts";
import type { Random } from "./random.ts";
import { World } from "./world.ts";

const seeds = Number(process.env["SEEDS"] ?? 15);

/** Plays a script that follows from the seed; `disturb` comes after each record. */
const play = (seed: number, disturb: (world: World) => void, length = 120): World => {
  const script = random(seed);
  const world = new World({
    textDelivery: script.pick(["streaming", "buffered"]),
    reasoning: script.pick(["full", "summary", "off"]),
  });
  for (let step = 0; step < length; step += 1) {
    const events = Array.from({ length: 1 + script.below(3) }, () => anything(script));
    if (script.chance(0.01)) world.open((world.state?.session?.generation ?? 0) + 1);
    if (script.chance(0.02)) world.feedAs(1, ...events);
    else world.feed(...events);
    if (script.chance(0.05)) world.drain();
    disturb(world);
  }
  return world;
};

const quietly = (): void => undefined;

describe("whatever a runtime says", () => {
  it("every event is accounted for exactly once (I5)", () => {
    forSeeds(seeds, ({ seed }: Random) => {
      play(seed, (world) => {
        const { journal, accounted } = world.books();
        expect(accounted).toBe(journal);
      });
    });
  });

  it("every refusal is recorded with as many events as the books have (I5)", () => {
    forSeeds(seeds, ({ seed }: Random) => {
      const world = play(seed, quietly);
      // What is held is refused as a whole where somebody else ended the session meanwhile.
      if (seed % 2 === 0) world.apply({ type: "thread.deleted", payload: {} });
      world.settle();
      const recorded: Record<string, number> = {};
      for (const { reason, events = 1 } of world.refusals) recorded[reason] = (recorded[reason] ?? 0) + events;
      expect(recorded).toEqual(world.holder.memory.accounts.refused);
    });
  });

  it("a crash changes nothing: log, refusals and books are what they would have been", () => {
    forSeeds(seeds, ({ seed }: Random) => {
      const calm = play(seed, quietly);
      const crashes = random(seed + 1_000_000);
      const wild = play(seed, (world) => {
        if (crashes.chance(0.2)) world.crash();
      });
      expect(wild.log).toEqual(calm.log);
      expect(wild.refusals).toEqual(calm.refusals);
      expect(JSON.parse(encodeMemory(wild.holder.memory))).toEqual(JSON.parse(encodeMemory(calm.holder.memory)));
    });
  });

  it("the end of the session leaves nothing open and nothing held (I8)", () => {
    forSeeds(seeds, ({ seed }: Random) => {
      const world = play(seed, quietly);
      world.feed(exited);
      // Late text that could not enter the log at once does so by age.
      world.advance(1_000);
      const { state } = world;
      expect(state?.turn).toBeUndefined();
      for (const open of [state?.texts, state?.activities, state?.tasks, state?.requests]) expect(open).toEqual([]);
      const { memory } = world.holder;
      for (const open of [memory.open, memory.outputs, memory.rows, memory.usage, memory.diffs, memory.plans])
        expect(open.size).toBe(0);
      expect(memory.accounts.held).toBe(0);
    });
  });

  it("no event changes a turn that is not its own, or another generation's (I6)", () => {
    forSeeds(seeds, ({ seed }: Random) => {
      const world = play(seed, quietly);
      const before = world.log.length;
      const foreign = random(seed + 2_000_000);
      const generation = world.state?.session?.generation ?? 1;
      for (let step = 0; step < 20; step += 1) world.feedAs(generation + 7, anything(foreign));
      expect(world.log.slice(before)).toEqual([]);
    });
  });
});
