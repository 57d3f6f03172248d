import { it } from "@effect/vitest";
import { Effect } from "effect";
import { crashAndCheck } from "./support/crash.ts";
import { temporaryFolder } from "./support/layers.ts";

/** A small generator, so that a failure can be run again: xorshift32. */
const randoms = (seed: number) => () => {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) / 2 ** 32;
};

const seed = Number(process.env["TRIBUTARY_SEED"] ?? 20_260_101);

it.live(
  `thirty kills at random moments (TRIBUTARY_SEED=${seed})`,
  () => {
    const random = randoms(seed);
    const kills = Array.from({ length: 30 }, () => 1 + Math.floor(random() * 4_000));
    return Effect.flatMap(temporaryFolder, (dir) => crashAndCheck(dir, kills)).pipe(Effect.scoped);
  },
  300_000,
);
