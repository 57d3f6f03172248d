import { decodeRuntimeEvent, isUndecodable } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { claudeTranslator } from "../../src/claude/translate.ts";
import type { NativeFrame } from "../../src/translator.ts";
import { forSeeds, pick } from "../process/random.ts";
import { framesOf, recordingNames } from "./recordings.ts";

type Random = () => number;

const below = (limit: number, random: Random): number => Math.floor(random() * limit);

const oddTexts = ["", "\u0000", "\ud800", "x".repeat(600)];
const odd: ReadonlyArray<unknown> = [null, true, 0, -1, 1.5, 1e300, [], [null], {}, { type: "text" }, ...oddTexts];

/** A value with one field, somewhere in it, replaced by something odd, or gone. */
const spoil = (value: unknown, random: Random): unknown => {
  if (typeof value !== "object" || value === null || random() < 0.2) return pick(odd, random);
  if (Array.isArray(value)) {
    const at = below(value.length, random);
    return value.map((each: unknown, index) => (index === at ? spoil(each, random) : each));
  }
  const entries = Object.entries(value);
  const at = below(entries.length, random);
  const isGone = random() < 0.3;
  return Object.fromEntries(
    entries.flatMap(([name, each], index) =>
      index !== at ? [[name, each]] : isGone ? [] : [[name, spoil(each, random)]],
    ),
  );
};

const change = (frames: ReadonlyArray<NativeFrame>, random: Random): ReadonlyArray<NativeFrame> =>
  frames.flatMap((frame): ReadonlyArray<NativeFrame> => {
    switch (below(10, random)) {
      case 0:
        return [];
      case 1:
        return [frame, frame];
      case 2:
        return [pick(frames, random)];
      case 3:
      case 4:
        return [{ dir: frame.dir, msg: spoil(frame.msg, random) }];
      case 5:
        return [{ dir: random() < 0.5 ? "in" : "out", msg: frame.msg }];
      default:
        return [frame];
    }
  });

describe.each(recordingNames)("%s", (name) => {
  it("never throws and never says what does not fit, whatever becomes of the frames", () => {
    const recorded = framesOf(name);
    forSeeds(5, (random) => {
      const translate = claudeTranslator.start({ generation: 1 });
      for (const frame of change(recorded, random)) {
        const records = translate(frame);
        expect(records).toHaveLength(1);
        const checked = records.flatMap(({ events }) => events.map(decodeRuntimeEvent)).filter(isUndecodable);
        expect(checked).toEqual([]);
      }
    });
  });
});
