import { describe, expect, it } from "vitest";
import { scenarioState } from "../src/scenario-state.ts";
import { makeHarness } from "./harness.ts";
import { makeHistory } from "./history.ts";
import { below, randomHistory, seeded } from "./random-history.ts";

describe("rebuilding", () => {
  it("gives what was there, however events were grouped when they were written (I14)", async () => {
    for (let seed = 1; seed <= 2; seed++) {
      const random = seeded(seed);
      const history = makeHistory();
      const ids = randomHistory(history, random, 3, 40);
      history.add(ids[0] ?? "", "thread.deleted", {});
      const one = await makeHarness();
      await one.apply(history.events, 1);
      const some = await makeHarness();
      await some.apply(history.events, 2 + below(random, 30));
      const all = await makeHarness();
      await all.apply(history.events, history.events.length);

      const rows = one.dump();
      expect(rows["timeline"]?.length, `seed ${seed}`).toBeGreaterThan(40);
      expect(some.dump(), `seed ${seed}`).toEqual(rows);
      expect(all.dump(), `seed ${seed}`).toEqual(rows);
      expect(scenarioState(all.reader), `seed ${seed}`).toEqual(scenarioState(one.reader));
      for (const harness of [one, some, all]) expect(await harness.diff(), `seed ${seed}`).toEqual([]);
    }
  });
});
