export { type DeltaLoad, ingestDeltas, memoryOfDeltas } from "./deltas.ts";
export { type QuietTiming, quietBesideFlood } from "./fairness.ts";
export type { IngestionLoad, Timing } from "./load.ts";
export { rawDeltas } from "./raw.ts";
