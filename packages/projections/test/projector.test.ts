import { domainPayloads, type DomainEventType } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { projector } from "../src/projector.ts";
import { makeHarness } from "./harness.ts";
import { beginTurn, makeHistory, say } from "./history.ts";
import { randomHistory, seeded } from "./random-history.ts";

const specs = new Map(projector.tables.map((spec) => [spec.name, spec]));

const everything = (seed: number) => {
  const history = makeHistory();
  randomHistory(history, seeded(seed), 3, 60);
  return history.events;
};

describe("the projector", () => {
  it("declares tables whose rows are all under their thread or project", async () => {
    expect(specs.size).toBe(projector.tables.length);
    for (const { name, key, columns } of projector.tables) {
      expect(["thread_id", "project_id"], `${name}`).toContain(key[0]);
      expect(
        columns.slice(0, key.length).map(([column]) => column),
        `${name}`,
      ).toEqual(key);
    }
  });

  it("changes only declared columns, by whole keys or their prefixes", async () => {
    for (const event of everything(1))
      for (const change of projector.project(event)) {
        const spec = specs.get(change.table);
        const names = new Set(spec?.columns.map(([column]) => column));
        const cells =
          change.op === "put"
            ? change.row
            : change.op === "patch"
              ? { ...change.key, ...change.set, ...change.add, ...change.setIfNull }
              : change.key;
        const unknown = Object.keys(cells).filter((name) => !names.has(name));
        if (unknown.length > 0) throw new Error(`${change.table} has no ${unknown.join(", ")}`);
        if (change.op === "patch") expect(Object.keys(change.key)).toEqual(spec?.key);
        if (change.op === "merge") expect(Object.keys(change.key)).toEqual(spec?.key.slice(0, -1));
        if (change.op === "delete")
          expect(Object.keys(change.key)).toEqual(spec?.key.slice(0, Object.keys(change.key).length));
      }
  });

  it("is pure, and makes a handful of changes an event however long the thread is (I12)", async () => {
    const events = everything(2);
    const first = events.map((event) => projector.project(event));
    const again = events
      .toReversed()
      .map((event) => projector.project(event))
      .toReversed();
    expect(again).toEqual(first);
    const most = Math.max(...first.map((changes) => changes.length));
    expect(most).toBeLessThanOrEqual(6);
  });

  it("changes nothing but the chunk, its message and its thread for a piece of text", async () => {
    const history = makeHistory();
    history.thread("T");
    say(history, "T", "t1", "i1", ["one", "two"], false);
    const last = history.events.at(-1);
    if (last === undefined) throw new Error("no event");
    expect(projector.project(last).map(({ op, table }) => `${op} ${table}`)).toEqual([
      "patch threads",
      "patch messages",
      "put message_chunks",
    ]);
  });

  it("touches the thread's row with every event of the thread", async () => {
    const types = Object.keys(domainPayloads) as Array<DomainEventType>;
    const seen = new Set<string>();
    const missed: Array<string> = [];
    for (let seed = 1; seed <= 3; seed++)
      for (const event of everything(seed)) {
        seen.add(event.type);
        const changes = projector.project(event).filter(({ table }) => table === "threads");
        if (changes.length !== 1) missed.push(event.type);
      }
    expect(missed).toEqual([]);
    expect(types.filter((type) => seen.has(type)).length).toBeGreaterThan(20);
  });

  it("leaves nothing of a purged thread, and all of the others", async () => {
    const history = makeHistory();
    const random = seeded(3);
    const ids = randomHistory(history, random, 3, 40);
    const harness = await makeHarness();
    await harness.apply(history.events);
    const before = harness.dump();
    const gone = ids[1];
    if (gone === undefined) throw new Error("no thread");
    await harness.apply([history.add(gone, "thread.deleted", {}), history.add(gone, "thread.purged", {})]);
    const after = harness.dump();
    for (const [table, rows] of Object.entries(before)) {
      expect(after[table], `${table}`).toEqual(rows.filter((row) => row["thread_id"] !== gone));
    }
  });

  it("leaves rows that do not exist alone", async () => {
    const history = makeHistory();
    history.thread("T");
    history.add("T", "input.done", { inputId: "none" });
    history.add("T", "activity.ended", { activityId: "none", status: "completed" });
    history.add("T", "message.completed", { messageId: "none", length: 0 });
    history.add("T", "turn.ended", { turnId: "none", state: "completed" });
    beginTurn(history, "other", "in1", "t1");
    const harness = await makeHarness();
    await harness.apply(history.events);
    const { activities, messages, threads } = harness.dump();
    expect([activities, messages]).toEqual([[], []]);
    expect(threads).toHaveLength(1);
  });
});
