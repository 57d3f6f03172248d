/** A thread with thousands of events of every kind, and how a client looks at it. */
import { assert } from "@effect/vitest";
import { committed, TributaryError } from "@tributary/client";
import type { Client, FollowedThread, Page, ThreadView, TimelineRow } from "@tributary/client";

const text = (n: string) => `Part ${n}: ä€😀 and some more words, so that it takes a few deltas. `;

/** One round: some twenty events and as many deltas. `{{input}}` is what was said. */
const round = [
  { do: "reasoning", text: "I think about it, in pieces.", chunk: 5 },
  { do: "text", text: text("one"), chunk: 4 },
  {
    do: "tool",
    itemType: "command",
    title: "make",
    input: { command: "make" },
    output: "line\n".repeat(30),
    chunk: 20,
  },
  {
    do: "tool",
    itemType: "file_change",
    title: "edit",
    changes: [{ path: "a.txt", kind: "update", diff: "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n" }],
  },
  {
    do: "agent",
    name: "helper",
    title: "Look",
    summary: "seen",
    steps: [{ do: "text", text: text("child"), chunk: 9 }],
  },
  { do: "text", text: "This is wrong", chunk: 3, end: false, item: "w" },
  { do: "retract", item: "w", reason: "retried" },
  { do: "usage", inputTokens: 10, outputTokens: 3, contextTokens: 100, basis: "turn" },
  { do: "plan", steps: [{ text: "First", status: "completed" }] },
  { do: "notice", code: "note", message: "A note." },
  { do: "text", text: text("two"), chunk: 7, whole: `${text("two")}And its end.` },
] as const;

/** `rounds` rounds a turn; then a sentence that takes its time, so that there is live text to see. */
export const busy = (rounds: number, slowMs: number) => ({
  name: "busy",
  otherwise: [
    { do: "repeat", times: rounds, steps: round },
    { do: "text", text: text("slow").repeat(4), chunk: 6, ...(slowMs === 0 ? {} : { delayMs: slowMs }) },
    { do: "repeat", times: 2, steps: round },
  ],
});

/** Pages until there are no older ones: the whole thread as the server shows it. */
export const wholePage = async (client: Client, threadId: string): Promise<Page> => {
  const newest = await client.threads.get({ params: { threadId }, query: { maxBytes: 1_048_576 } });
  const rows: Array<TimelineRow> = [...newest.rows];
  const turns = new Map(newest.turns.map((turn) => [turn.id, turn]));
  for (let { before } = newest; before !== undefined;) {
    const page = await client.threads.get({ params: { threadId }, query: { maxBytes: 1_048_576, before } });
    assert.strictEqual(page.sequence, newest.sequence, "the thread is still going on");
    rows.unshift(...page.rows);
    for (const turn of page.turns) turns.set(turn.id, turn);
    before = page.before;
  }
  return { ...newest, rows, turns: [...turns.values()].toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1)) };
};

/** What both a view and a page show, for comparing them whole. */
export const shown = (page: Omit<Page, "cursor"> | undefined, rows = page?.rows.length ?? 0): unknown => {
  if (page === undefined) return undefined;
  const { thread, turns, inputs, plan } = page;
  // The server adds these to a shell; no event has them.
  const { readTo: _, runtime: __, ...shell } = thread;
  return JSON.parse(JSON.stringify({ shell, rows: page.rows.slice(-rows), turns: turns.slice(-1), inputs, plan }));
};

export const equals = (view: ThreadView | undefined, page: Page, message?: string): void => {
  assert.isDefined(view);
  const rows = Math.min(page.rows.length, view?.state.timeline.chunks.flat().length ?? 0);
  assert.deepStrictEqual(shown(view === undefined ? undefined : committed(view), rows), shown(page, rows), message);
};

export const isIdle = (view: ThreadView): boolean =>
  view.thread?.status.value === "idle" && view.turns.at(-1)?.state === "completed";

/** Reads views until one is enough; gives that one. */
export const until = async (thread: FollowedThread, enough: (view: ThreadView) => boolean): Promise<ThreadView> => {
  for await (const view of thread) if (enough(view)) return view;
  throw new TributaryError({ code: "ended", detail: "the following ended", userAction: "none" });
};

/** mulberry32: the same seed, the same run. */
export const random = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
};
