/** How long the newest page of a long thread takes, from a database file (design section 12). */
import { noExtras } from "../src/queries/shells.ts";
import { threadPage } from "../src/queries/thread-page.ts";
import { makeHarness } from "../test/harness.ts";
import { longThread } from "./sample.ts";

export interface NewestPageResult {
  readonly events: number;
  readonly pages: number;
  readonly rows: number;
  readonly bytes: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Events per second from log to rows, in groups of 256. */
  readonly projected: number;
}

/** Fills a new database at `path` with a thread of `events` events, then reads its newest page `pages` times. */
export const benchNewestPage = (options: {
  readonly path: string;
  readonly events: number;
  readonly pages: number;
}): NewestPageResult => {
  const harness = makeHarness(options.path);
  harness.database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  const events = longThread("T", options.events);
  const begun = performance.now();
  for (let from = 0; from < events.length; from += 256) harness.apply(events.slice(from, from + 256));
  const projected = (events.length / (performance.now() - begun)) * 1000;

  const read = () => threadPage(harness.reader, { threadId: "T" }, noExtras);
  const page = read();
  const times: Array<number> = [];
  for (let n = 0; n < options.pages; n++) {
    const start = performance.now();
    read();
    times.push(performance.now() - start);
  }
  harness.database.close();
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    events: events.length,
    pages: options.pages,
    rows: page?.rows.length ?? 0,
    bytes: Buffer.byteLength(JSON.stringify(page)),
    p50: at(0.5),
    p99: at(0.99),
    projected,
  };
};
