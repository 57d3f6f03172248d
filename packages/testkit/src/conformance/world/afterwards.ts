/** What must hold after every case, whatever it was about. */
import { expect } from "vitest";
import type { FoldedText } from "../client/fold.ts";
import type { Thread } from "./thread.ts";

/** Lets a thread's session go and checks what is left: everything ended once, text exact everywhere, no process. */
export const afterwards = async (thread: Thread): Promise<void> => {
  const { feed, client, world } = thread;
  await client.release(thread.id);
  await feed.until("the end of its session", () => (feed.fold.sessions.open.length === 0 ? true : undefined));
  expect(feed.fold.open, "still open after the session is over (I8)").toEqual([]);
  await world.noneLeft(thread.cwd);

  const page = await thread.page();
  const all = await client.events(thread.id);
  const newest = all.at(-1)?.sequence ?? 0;
  await feed.until("the newest event", () => (lastOf(thread) >= newest ? true : undefined));
  expect(all, "pages of events against the live stream (I10)").toEqual(
    feed.events.map((event) => expect.objectContaining({ sequence: event.sequence, type: event.type })),
  );
  expectNothingAtWork(page);
  await expectTexts(thread, page);
  expectLiveTexts(thread);

  const { unknown, undecodable } = await client.diagnostics(thread.id);
  expect({ unknown, undecodable }, "native messages that the adapter does not know").toEqual({
    unknown: {},
    undecodable: 0,
  });
};

type Page = Awaited<ReturnType<Thread["page"]>>;

const lastOf = ({ feed }: Thread): number => feed.events.at(-1)?.sequence ?? 0;

const expectNothingAtWork = ({ thread, rows, turns, inputs }: Page): void => {
  expect(["idle", "error"], "the thread's status").toContain(thread.status.value);
  expect(thread.pendingRequests).toEqual([]);
  expect(thread.runningTasks).toBe(0);
  expect(thread.activeTurnId).toBeUndefined();
  expect(turns.filter(({ state }) => state === "running")).toEqual([]);
  expect(inputs.filter(({ state }) => state === "handed_over" || state === "started")).toEqual([]);
  expect(rows.filter((row) => "status" in row && row.status === "in_progress")).toEqual([]);
  expect(rows.filter((row) => "streaming" in row && row.streaming)).toEqual([]);
  expect(
    rows.filter((row) => row.kind === "request" && (row.state === "pending" || row.state === "answering")),
  ).toEqual([]);
};

/** The texts of the page's rows are those of the events. A row that the page cuts is read whole. */
const expectTexts = async ({ id, feed, client }: Thread, { rows }: Page): Promise<void> => {
  const shown = new Map<string, string>();
  for (const row of rows) {
    if (row.kind !== "reasoning" && (row.kind !== "message" || row.role !== "assistant")) continue;
    const whole = row.length === row.text.length ? row : await client.row(id, row.rowId);
    shown.set(row.rowId, "text" in whole ? whole.text : "");
  }
  const kept = [...feed.fold.texts].filter(([, { retracted }]) => !retracted);
  // Pages hold the newest whole turns: where there are more, the rest is on older pages.
  const expected = kept.filter(([rowId]) => shown.has(rowId)).map(([rowId, { text }]) => [rowId, text] as const);
  expect([...shown].toSorted(byId), "texts of the page against those of the events (I4)").toEqual(
    expected.toSorted(byId),
  );
  if (!rows.some(({ kind }) => kind === "message") && kept.length > 0) throw new Error("the page has no messages");
};

const byId = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);

/** Live text is what the log says later, unless it was taken back. */
const expectLiveTexts = ({ feed }: Thread): void => {
  const newest = new Map<string, number>();
  for (const { rowId, revision } of feed.lives) newest.set(rowId, Math.max(revision, newest.get(rowId) ?? 0));
  for (const { rowId, revision, offset, text } of feed.lives) {
    const known: FoldedText | undefined = feed.fold.texts.get(rowId);
    if (known === undefined || known.retracted || revision !== newest.get(rowId)) continue;
    expect(known.text.slice(offset, offset + text.length), `live text of ${rowId} at ${offset}`).toBe(text);
  }
};
