/** I16 where a secret comes in pieces: text and output are masked as if they came whole, and I4 holds for the masked text. */
import { mask } from "@tributary/domain";
import { describe, expect, it } from "vitest";
import { maskerOf } from "../src/text/masking.ts";
import { shownText } from "../src/text/segments.ts";
import { outputHeadUnits, segmentUnits } from "../src/limits.ts";
import { maskEvent } from "../src/worker/secrets.ts";
import { completed, delta, itemCompleted, itemStarted, requestOpened, turnCompleted, turnStarted } from "./events.ts";
import { cutAnywhere, forSeeds, scrap } from "./random.ts";
import type { Random } from "./random.ts";
import { World } from "./world.ts";

const secrets = ["sk-12345", "12345678", "tok\nen", "\ud83d\ude00pw"];
const masker = maskerOf(secrets)!;

/** Text with secrets, and with beginnings and ends of them. */
const saying = (random: Random, most: number): string =>
  Array.from({ length: 1 + random.below(most) }, () => {
    const secret = random.pick(secrets);
    const part = random.pick([secret, secret.slice(0, 1 + random.below(4)), secret.slice(1), scrap(random)]);
    return random.chance(0.5) ? `${part} ` : part;
  }).join("");

const running = (textDelivery: "streaming" | "buffered" = "streaming"): World => {
  const world = new World({ textDelivery, secrets });
  world.feed(turnStarted());
  return world;
};

/** What people see: the log, then what is shown of what is held. */
const seen = (world: World): string => {
  const [item] = [...world.holder.memory.open];
  const open = item?.open;
  const shown = open === undefined || (open.blank && open.number === undefined) ? "" : shownText(open, world.masker);
  return world.textOf("t1//m") + shown;
};

describe("a masker", () => {
  it("keeps back the longest end that may begin a secret, and nothing that cannot", () => {
    const undecided = (text: string) => text.slice(masker.decided(text));
    expect(undecided("the key is sk-12")).toBe("sk-12");
    expect(undecided("the key is sk-12x")).toBe("");
    expect(undecided("the key is sk-12345")).toBe("");
    expect(undecided("1234567")).toBe("1234567");
    expect(undecided("sk-1234 1234 12")).toBe("12");
    expect(undecided("tok")).toBe("tok");
    expect(undecided("")).toBe("");
    // One that is whole may be the beginning of a longer one.
    expect(maskerOf(["abcdef", "abcd"])!.decided("x abcd")).toBe(2);
  });

  it("masks parts as it masks the whole, wherever they are cut", () => {
    forSeeds(300, (random) => {
      const text = saying(random, 12);
      let held = "";
      let out = "";
      for (const piece of cutAnywhere(text, random, 4)) {
        held += piece;
        const at = masker.decided(held);
        out += masker.masked(held.slice(0, at));
        held = held.slice(at);
        expect(held.length).toBeLessThan(masker.longest);
      }
      expect(out + masker.masked(held)).toBe(masker.masked(text));
    });
  });

  it("is the same one for the same values, and there is none without any", () => {
    expect(maskerOf([...secrets], masker)).toBe(masker);
    expect(maskerOf(["other"], masker)).not.toBe(masker);
    expect(maskerOf([])).toBeUndefined();
  });
});

describe("a secret that comes in pieces", () => {
  it("is masked in the text, and never shown", () => {
    const world = running();
    for (const piece of ["my key is s", "k-1", "23", "45", ", keep it!"]) {
      world.feed(delta(piece));
      world.advance(1_000);
    }
    expect(seen(world)).toBe(`my key is ${mask}, keep it!`);
    world.feed(completed(`my key is ${mask}, keep it!`));
    expect(world.textOf("t1//m")).toBe(`my key is ${mask}, keep it!`);
    expect(world.events("message.replaced")).toEqual([]);
    expect(JSON.stringify(world.log)).not.toContain("k-1");
  });

  it("that turns out to be none is there, at the latest when its segment ends", () => {
    for (const end of [turnCompleted(), completed(), requestOpened()]) {
      const world = running();
      world.feed(delta("see sk-12"));
      world.advance(5_000);
      expect(seen(world)).toBe("see ");
      world.feed(end);
      expect(world.textOf("t1//m")).toBe("see sk-12");
    }
  });

  it("keeps no timer busy while nothing else is held", () => {
    const world = running();
    world.feed(delta("sk-12"));
    const { steps } = world;
    world.advance(60_000);
    expect(world.steps).toBe(steps);
  });

  it("is not cut in two by the cap", () => {
    const world = running();
    const text = "x".repeat(segmentUnits - 4) + secrets[0] + "y".repeat(10);
    world.feed(delta(text.slice(0, segmentUnits - 10)));
    world.feed(delta(text.slice(segmentUnits - 10)));
    world.feed(turnCompleted());
    expect(world.textOf("t1//m")).toBe(masker.masked(text));
  });

  it("is masked in a plan that was written in pieces", () => {
    const world = running();
    for (const text of ["use sk-", "12345"])
      world.feed({ type: "proposed_plan.delta", turnId: "t1", payload: { planId: "p", text } });
    world.feed(turnCompleted());
    expect(world.events("plan.proposed")).toMatchObject([{ payload: { markdown: `use ${mask}` } }]);
  });

  it("however it is cut, delayed or brought back after a crash: the masked text is what was sent (I4, I16)", () => {
    forSeeds(150, (random) => {
      const world = running(random.pick(["streaming", "buffered"]));
      const text = `go:${saying(random, 40)}`;
      // As the boundary gives it: what is whole in one event is masked there already.
      const pieces = cutAnywhere(text, random, random.pick([2, 5, 30])).map((piece) => {
        const event = delta(piece);
        return maskEvent(event, JSON.stringify(event), secrets);
      });
      const expected = masker.masked(pieces.map((piece) => (piece.payload as { text: string }).text).join(""));
      for (const piece of pieces) {
        world.feed(piece);
        if (random.chance(0.2)) world.drain();
        if (random.chance(0.2)) world.crash();
        if (random.chance(0.2)) world.advance(1_000);
        expect(expected.startsWith(seen(world))).toBe(true);
        expect(world.books().accounted).toBe(world.books().journal);
      }
      world.feed(random.pick([turnCompleted(), completed(), completed(expected)]));
      expect(world.textOf("t1//m")).toBe(expected);
      expect(world.events("message.replaced")).toEqual([]);
    });
  });
});

describe("a secret in output", () => {
  const output = (text: string) => delta(text, { itemId: "ls", stream: "command_output" });
  const shown = (world: World) => {
    const windows = [...world.events("activity.updated"), ...world.events("activity.ended")].flatMap(({ payload }) =>
      "commandOutput" in payload && payload.commandOutput !== undefined ? [payload.commandOutput] : [],
    );
    const closing = windows.find(({ size }) => size !== undefined);
    return { head: windows.map(({ append }) => append ?? "").join(""), ...closing };
  };

  it("however it is cut and whatever crashes: head and tail are masked, sizes are those of what came", () => {
    forSeeds(60, (random) => {
      const world = running();
      world.feed(itemStarted("ls", "command"));
      // Some end the head inside a secret.
      const filler = "x".repeat(random.pick([0, outputHeadUnits - 3, outputHeadUnits - 200, 3 * outputHeadUnits]));
      const whole = filler + saying(random, 60);
      const from = Math.max(0, filler.length - 400);
      if (from > 0) world.feed(output(whole.slice(0, from)));
      for (const piece of cutAnywhere(whole.slice(from), random, random.pick([5, 300, 4_000]))) {
        world.feed(output(piece));
        if (random.chance(0.05)) world.crash();
        if (random.chance(0.05)) world.advance(1_000);
      }
      world.crash();
      world.feed(itemCompleted("ls", "command"));
      const { head, tail = "", omitted = 0, size } = shown(world);
      expect(size).toBe(whole.length);
      if (omitted === 0) expect(head + tail).toBe(masker.masked(whole));
      else {
        expect(masker.masked(whole).startsWith(head)).toBe(true);
        expect(masker.masked(whole).endsWith(tail)).toBe(true);
      }
      for (const secret of secrets)
        expect(JSON.stringify(world.log)).not.toContain(JSON.stringify(secret).slice(1, -1));
    });
  });
});
