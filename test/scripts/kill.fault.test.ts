import { expect, test } from "vitest";
import { engineFaults } from "../../scripts/fault/engine.ts";
import { killsUnderStream } from "../../scripts/fault/ingestion.ts";

/** Small runs of `npm run fault`; the long ones are for before a release. */
const seed = Number(process.env["TRIBUTARY_FAULT_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

test("kill -9 while agents stream: nothing lost, doubled or left open", { timeout: 600_000 }, async () => {
  const { violations } = await killsUnderStream({ kills: 5, seed });
  expect(violations, `seed ${seed}`).toEqual([]);
});

test("kill -9 under commands, races, and runtimes that hang or die", { timeout: 600_000 }, async () => {
  const { violations } = await engineFaults({ kills: 5, times: 16, crashes: 1, seed });
  expect(violations, `seed ${seed}`).toEqual([]);
});
