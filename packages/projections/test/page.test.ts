import { messageId, type TimelineRow } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { sizeOf } from "../src/queries/fit.ts";
import { readPage, type PageFrom, type PageLimits, newest, defaultPageLimits } from "../src/queries/page.ts";
import { threadPage } from "../src/queries/thread-page.ts";
import { noExtras } from "../src/queries/shells.ts";
import { message } from "../src/queries/items.ts";
import { makeHarness, type Harness } from "./harness.ts";
import { beginTurn, endTurn, makeHistory, openSession, root, say, startActivity } from "./history.ts";
import { randomTurn, seeded } from "./random-history.ts";

const limits = (maxBytes: number, maxTurns = 1000): PageLimits => ({ maxBytes, maxTurns });

/** Reads on until there is no more; `between` happens between two pages. */
const walk = async (
  harness: Harness,
  threadId: string,
  direction: "before" | "after",
  of: PageLimits,
  between: () => Promise<void> = async () => {},
): Promise<ReadonlyArray<TimelineRow>> => {
  const rows: Array<TimelineRow> = [];
  let from: PageFrom | undefined = direction === "before" ? newest : { after: 0 };
  while (from !== undefined) {
    const page = readPage(harness.reader, threadId, from, of);
    if (direction === "before") rows.unshift(...page.rows);
    else rows.push(...page.rows);
    const next: number | undefined = direction === "before" ? page.before : page.after;
    if (next !== undefined) await between();
    from = next === undefined ? undefined : direction === "before" ? { before: next } : { after: next };
  }
  return rows;
};

const positions = (rows: ReadonlyArray<TimelineRow>): ReadonlyArray<number> => rows.map((row) => row.position);

describe("pages of a thread", () => {
  it("show each row once in order, in both directions and at any size, while the thread grows", async () => {
    for (let seed = 1; seed <= 2; seed++) {
      const random = seeded(seed);
      const history = makeHistory();
      history.thread("T");
      openSession(history, "T");
      for (let turn = 0; turn < 12; turn++) randomTurn(history, random, "T", `t${turn}`);
      const harness = await makeHarness();
      await harness.apply(history.events);
      const known = positions(readPage(harness.reader, "T", newest, limits(1e9)).rows);
      expect(known.length).toBeGreaterThan(20);
      expect(known).toEqual([...new Set(known)].toSorted((a, b) => a - b));

      const expected = (): ReadonlyArray<number> =>
        harness.reader
          .all("SELECT position FROM {timeline} WHERE position IS NOT NULL ORDER BY position")
          .map((row) => Number(row["position"]));
      let more = 0;
      let stop = 0;
      const grow = async (): Promise<void> => {
        if (more >= stop) return;
        const from = history.events.length;
        randomTurn(history, random, "T", `more${more++}`);
        await harness.apply(history.events.slice(from));
      };
      for (const of of [limits(200), limits(1500), limits(20_000), limits(1e9, 1), limits(1e9, 3)]) {
        stop = more + 3;
        const before = expected();
        expect(positions(await walk(harness, "T", "before", of, grow)), `seed ${seed}, back`).toEqual(before);
        stop = more + 3;
        expect(positions(await walk(harness, "T", "after", of, grow)), `seed ${seed}, on`).toEqual(expected());
      }
    }
  });

  it("consist of whole turns, and page inside a turn only when it alone is too large", async () => {
    const history = makeHistory();
    history.thread("T");
    openSession(history, "T");
    for (const turn of ["t1", "t2", "t3"]) {
      beginTurn(history, "T", `in-${turn}`, turn);
      for (let item = 0; item < (turn === "t2" ? 60 : 5); item++)
        say(history, "T", turn, `i${item}`, ["x".repeat(300)]);
      endTurn(history, "T", `in-${turn}`, turn);
    }
    const harness = await makeHarness();
    await harness.apply(history.events);

    const pages: Array<ReadonlyArray<TimelineRow>> = [];
    let before: number | undefined = Number.MAX_SAFE_INTEGER;
    while (before !== undefined) {
      const page = readPage(harness.reader, "T", pages.length === 0 ? newest : { before }, limits(8000));
      expect(sizeOf(page.rows)).toBeLessThanOrEqual(8000 + 2 + page.rows.length);
      pages.push(page.rows);
      before = page.before;
    }
    const turnsOf = pages.map((rows) => [...new Set(rows.map((row) => row.turnId))]);
    expect(turnsOf[0]).toEqual(["t3"]);
    expect(pages[0]).toHaveLength(6);
    expect(turnsOf.at(-1)).toEqual(["t1"]);
    expect(pages.at(-1)).toHaveLength(6);
    const middle = turnsOf.slice(1, -1);
    expect(middle.length).toBeGreaterThan(2);
    for (const turns of middle) expect(turns).toEqual(["t2"]);
  });

  it("keep to the number of turns", async () => {
    const history = makeHistory();
    history.thread("T");
    for (let turn = 1; turn <= 5; turn++) {
      beginTurn(history, "T", `in${turn}`, `t${turn}`);
      endTurn(history, "T", `in${turn}`, `t${turn}`);
    }
    const harness = await makeHarness();
    await harness.apply(history.events);
    const page = threadPage(harness.reader, { threadId: "T", maxTurns: 2 }, noExtras);
    expect(page?.turns.map((turn) => turn.id)).toEqual(["t4", "t5"]);
    expect(page?.rows.map((row) => row.turnId)).toEqual(["t4", "t5"]);
    expect(page?.sequence).toBe(history.events.at(-1)?.sequence);
    expect(page?.before).toMatch(/^e:\d+$/);
    expect(page).not.toHaveProperty("after");
  });

  it("cut a message that is larger than a page, between pairs, and still name its length", async () => {
    const history = makeHistory();
    history.thread("T");
    beginTurn(history, "T", "in1", "t1");
    const piece = "🙂".repeat(12_000);
    const id = say(
      history,
      "T",
      "t1",
      "i1",
      Array.from({ length: 40 }, () => piece),
    );
    say(history, "T", "t1", "i2", ["after"]);
    const harness = await makeHarness();
    await harness.apply(history.events);
    const length = piece.length * 40;

    const rows = await walk(harness, "T", "before", defaultPageLimits);
    expect(positions(rows)).toEqual([...positions(rows)].toSorted((a, b) => a - b));
    const row = rows.find(({ rowId }) => rowId === id);
    if (row?.kind !== "message") throw new Error("no message row");
    expect(row.length).toBe(length);
    expect(row.text.length).toBeGreaterThan(50_000);
    expect(row.text.isWellFormed()).toBe(true);
    expect(sizeOf(row)).toBeLessThanOrEqual(defaultPageLimits.maxBytes);
    expect(message(harness.reader, "T", id)?.text).toBe(piece.repeat(40));
  });

  it("cut an input that is larger than a page", async () => {
    const history = makeHistory();
    history.thread("T");
    beginTurn(history, "T", "in1", "t1", "\u0000漢".repeat(200_000));
    const harness = await makeHarness();
    await harness.apply(history.events);
    const [row] = readPage(harness.reader, "T", newest, limits(10_000)).rows;
    if (row?.kind !== "message") throw new Error("no message row");
    expect(row.length).toBe(400_000);
    expect(row.text.length).toBeGreaterThan(1000);
    expect(sizeOf(row)).toBeLessThanOrEqual(10_000);
  });

  it("leave large fields out of an activity that is larger than a page, and name them", async () => {
    const history = makeHistory();
    history.thread("T");
    const activityId = startActivity(history, "T", "t1", "i1", { title: "build", input: { command: "make" } });
    history.add("T", "activity.ended", { activityId, status: "completed", output: "o".repeat(50_000) });
    const harness = await makeHarness();
    await harness.apply(history.events);
    const [row] = readPage(harness.reader, "T", newest, limits(2000)).rows;
    expect(row).toMatchObject({ title: "build", input: { command: "make" }, cut: [{ field: "output", size: 50_002 }] });
    expect(row).not.toHaveProperty("output");
  });

  it("are empty for a thread without rows, and absent for one that is not there", async () => {
    const history = makeHistory();
    history.thread("T");
    const harness = await makeHarness();
    await harness.apply(history.events);
    expect(threadPage(harness.reader, { threadId: "T" }, noExtras)).toMatchObject({ rows: [], turns: [], inputs: [] });
    expect(threadPage(harness.reader, { threadId: "other" }, noExtras)).toBeUndefined();
  });

  it("do not show what was retracted, and keep the agent path", async () => {
    const history = makeHistory();
    history.thread("T");
    const gone = say(history, "T", "t1", "i1", ["draft"], false);
    history.add("T", "message.retracted", { messageId: gone, reason: "retried" });
    const start = { turnId: "t1", agentPath: ["a", "b"], itemId: "i2", segment: 0, generation: 1 };
    const kept = messageId("t1", ["a", "b"], "i2", 0);
    history.add("T", "message.appended", { messageId: kept, offset: 0, text: "deep", start });
    const harness = await makeHarness();
    await harness.apply(history.events);
    expect(readPage(harness.reader, "T", newest, defaultPageLimits).rows).toEqual([
      {
        kind: "message",
        rowId: kept,
        position: 4,
        turnId: "t1",
        agentPath: ["a", "b"],
        at: history.events[3]?.occurredAt,
        role: "assistant",
        text: "deep",
        length: 4,
        streaming: true,
      },
    ]);
    expect(message(harness.reader, "T", gone)).toBeUndefined();
    expect(root).toEqual([]);
  });
});
