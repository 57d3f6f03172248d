/** A store for one test. */
import { onTestFinished } from "vitest";
import { openHarness, type Harness } from "./store.ts";

export type { Harness };

/** As `openHarness` in memory, closed with the test. */
export const makeHarness = async (): Promise<Harness> => {
  const harness = await openHarness();
  onTestFinished(harness.close);
  return harness;
};
