/** The translator never throws, whatever comes, and whatever it says fits the contracts (I18). */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { decodeRuntimeEvent, isUndecodable } from "@tributary/contracts";
import { describe, it } from "vitest";
import { initialState, translate } from "../../src/codex/index.ts";
import { askedMethods } from "../../src/codex/requests.ts";
import type { NativeFrame } from "../../src/translator.ts";
import { pick, randomFrom } from "../process/random.ts";

const folder = fileURLToPath(new URL("fixtures", import.meta.url));
const recordings = readdirSync(folder).filter((name) => name.endsWith(".ndjson"));
const framesOf = (name: string): ReadonlyArray<NativeFrame> =>
  readFileSync(`${folder}/${name}`, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as NativeFrame)
    .filter(({ dir }) => dir === "in" || dir === "out");

const strange: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1.5,
  Number.MAX_VALUE,
  "",
  "x",
  "a\u0000b",
  "\ud800",
  "y".repeat(600),
  [],
  [null],
  {},
  { type: "constructor" },
  { __proto__: null, toString: 1 },
  "constructor",
  "toString",
  "__proto__",
];

type Random = () => number;
const below = (random: Random, count: number): number => Math.floor(random() * count);

/** Replaces, removes or repeats something somewhere in a value. */
const mutate = (random: Random, value: unknown): unknown => {
  if (below(random, 12) === 0) return pick(strange, random);
  if (Array.isArray(value)) {
    if (value.length === 0 || below(random, 4) === 0) return [...value, pick(strange, random)];
    const at = below(random, value.length);
    return value.map((one, index) => (index === at ? mutate(random, one) : one));
  }
  if (typeof value !== "object" || value === null) return pick(strange, random);
  const entries = Object.entries(value);
  if (entries.length === 0) return { [JSON.stringify(pick(strange, random))]: pick(strange, random) };
  const at = below(random, entries.length);
  if (below(random, 5) === 0) return Object.fromEntries(entries.filter((_, index) => index !== at));
  return Object.fromEntries(
    entries.map(([name, inner], index) => [name, index === at ? mutate(random, inner) : inner]),
  );
};

/** Frames of one recording, some of them broken, dropped, repeated or in another order. */
const disturbed = (random: Random, frames: ReadonlyArray<NativeFrame>): ReadonlyArray<NativeFrame> =>
  frames.flatMap((frame, index) => {
    const what = below(random, 10);
    if (what === 0) return [];
    if (what === 1) return [frame, frame];
    if (what === 2) return [frames[below(random, frames.length)] ?? frame, frame];
    if (what === 3) return [{ dir: frame.dir === "in" ? "out" : "in", msg: frame.msg }];
    return what < 7 ? [{ ...frame, msg: mutate(random, frame.msg) }] : [frames[index] ?? frame];
  });

/** Plain comparisons: there are too many for an assertion each. */
const check = (frames: ReadonlyArray<NativeFrame>, about: string): void => {
  let state = initialState({ generation: 1 });
  for (const frame of frames) {
    const before = JSON.stringify(frame);
    const wrong = (why: string, cause?: unknown): Error => new Error(`${about}: ${why} of ${before}`, { cause });
    let step: ReturnType<typeof translate>;
    try {
      step = translate(state, frame);
    } catch (error) {
      throw wrong("thrown out", error);
    }
    state = step.state;
    if (step.records.length !== 1) throw wrong(`${step.records.length} records`);
    for (const event of step.records.flatMap(({ events }) => events)) {
      const decoded = decodeRuntimeEvent(event);
      if (isUndecodable(decoded)) throw wrong(decoded.problem);
    }
    if (JSON.stringify(frame) !== before) throw wrong("the frame was changed: no more the one");
  }
};

describe("a disturbed recording", () => {
  it.each(recordings)("%s", (name) => {
    const frames = framesOf(name);
    for (let seed = 1; seed <= 20; seed += 1) check(disturbed(randomFrom(seed), frames), `${name}, seed ${seed}`);
  });
});

it("known methods with anything at all in them", () => {
  const methods = new Set([...askedMethods, "constructor", "__proto__"]);
  for (const name of recordings)
    for (const { msg } of framesOf(name)) {
      const method = (msg as { readonly method?: unknown }).method;
      if (typeof method === "string") methods.add(method);
    }
  for (const method of methods)
    for (const params of strange)
      for (const id of [undefined, 0, "a", null, {}])
        check(
          (["in", "out"] as const).map((dir) => ({
            dir,
            msg: { method, params, ...(id === undefined ? {} : { id }) },
          })),
          `${method} ${JSON.stringify(params)}`,
        );
});
