/** How long the newest page of a long thread takes, from a store's folder (design section 12). */
import { noExtras } from "../src/queries/shells.ts";
import { threadPage } from "../src/queries/thread-page.ts";
import { openHarness } from "../test/store.ts";
import { longThread } from "./sample.ts";

export interface NewestPageResult {
  readonly events: number;
  readonly pages: number;
  readonly rows: number;
  readonly bytes: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Events per second into the log and rows, 256 a group. */
  readonly written: number;
}

/** Fills a new store in `dir` with a thread of `events` events, then reads its newest page `pages` times. */
export const benchNewestPage = async (options: {
  readonly dir: string;
  readonly events: number;
  readonly pages: number;
}): Promise<NewestPageResult> => {
  const harness = await openHarness(options.dir);
  const events = longThread("T", options.events);
  const begun = performance.now();
  await harness.apply(events);
  const written = (events.length / (performance.now() - begun)) * 1000;

  const read = () => threadPage(harness.reader, { threadId: "T" }, noExtras);
  const page = read();
  const times: Array<number> = [];
  for (let n = 0; n < options.pages; n++) {
    const start = performance.now();
    read();
    times.push(performance.now() - start);
  }
  await harness.close();
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    events: events.length,
    pages: options.pages,
    rows: page?.rows.length ?? 0,
    bytes: Buffer.byteLength(JSON.stringify(page)),
    p50: at(0.5),
    p99: at(0.99),
    written,
  };
};
