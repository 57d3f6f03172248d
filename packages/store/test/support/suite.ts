/** What every store has to do, over files and in memory. */
import { describe } from "@effect/vitest";
import { costSuite } from "../suite/cost.ts";
import { faultSuite } from "../suite/faults.ts";
import { journalSuite } from "../suite/journal.ts";
import { logSuite } from "../suite/log.ts";
import { projectionSuite } from "../suite/projection.ts";
import { receiptSuite } from "../suite/receipts.ts";
import { writerSuite } from "../suite/writer.ts";
import type { StoreLayer } from "./layers.ts";

export const storeSuite = (name: string, layer: StoreLayer): void => {
  describe(`store ${name}`, () => {
    receiptSuite(layer);
    writerSuite(layer);
    faultSuite(layer);
    logSuite(layer);
    projectionSuite(layer);
    journalSuite(layer);
    costSuite(layer);
  });
};
