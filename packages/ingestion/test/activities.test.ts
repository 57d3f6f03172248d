/** Items that are no text, tasks, command output and coalescing (4.4, 4.9, 4.11). */
import type { DomainEvent, DomainEventType, DomainPayloads, RuntimeEvent } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { outputHeadUnits, outputTailUnits } from "../src/limits.ts";
import { delta, exited, itemCompleted, itemStarted, itemUpdated, turnCompleted, turnStarted } from "./events.ts";
import { cutAnywhere, forSeeds, scrap } from "./random.ts";
import { World } from "./world.ts";

const running = (): World => {
  const world = new World();
  world.feed(turnStarted());
  return world;
};

const of = <T extends DomainEventType>(world: World, type: T): ReadonlyArray<DomainPayloads[T]> =>
  world.log.flatMap((event: DomainEvent) => (event.type === type ? [event.payload as DomainPayloads[T]] : []));

const output = (text: string, itemId = "ls"): RuntimeEvent => delta(text, { itemId, stream: "command_output" });

describe("items", () => {
  it("start, change and end as activities", () => {
    const world = running();
    world.feed(itemStarted("ls", "command", { title: "ls", input: { command: "ls" } }));
    world.feed(itemUpdated("ls", "command", { detail: "running" }));
    world.feed(itemCompleted("ls", "command", { status: "failed", exitCode: 2 }));
    expect(world.types().slice(1)).toEqual(["activity.started", "activity.updated", "activity.ended"]);
    expect(of(world, "activity.started")[0]).toMatchObject({
      activityId: "t1//ls",
      itemId: "ls",
      itemType: "command",
      turnId: "t1",
      agentPath: [],
      generation: 1,
      title: "ls",
      input: { command: "ls" },
    });
    expect(of(world, "activity.ended")[0]).toEqual({ activityId: "t1//ls", status: "failed", exitCode: 2 });
  });

  it("without a start are created, whole", () => {
    const world = running();
    world.feed(itemCompleted("a", "tool", { title: "t" }));
    expect(world.types().slice(1)).toEqual(["activity.started", "activity.ended"]);
    expect(of(world, "activity.ended")[0]).toEqual({ activityId: "t1//a", status: "completed" });
  });

  it("started again, go on", () => {
    const world = running();
    world.feed(itemStarted("a", "tool"));
    world.feed(itemStarted("a", "tool", { title: "later" }));
    world.drain();
    expect(world.types().slice(1)).toEqual(["activity.started", "activity.updated"]);
  });

  it("late, without a start: come closed", () => {
    const world = running();
    world.feed(turnCompleted());
    world.feed(itemCompleted("a", "tool", { title: "t", status: "failed" }));
    expect(world.state?.activities).toEqual([]);
    expect(of(world, "activity.ended")).toEqual([{ activityId: "t1//a", status: "failed" }]);
  });

  it("late, settled with their turn: refused", () => {
    const world = running();
    world.feed(itemStarted("a", "tool"));
    world.feed(turnCompleted());
    world.feed(itemCompleted("a", "tool"));
    expect(world.refusals).toMatchObject([{ type: "item.completed", reason: "item_over" }]);
  });

  it("of text are never activities, and tool data never enters a message", () => {
    const world = running();
    world.feed(itemStarted("m", "assistant_message", { title: "ignored" }));
    world.feed(itemUpdated("m", "assistant_message", { output: "ignored" }));
    world.feed(itemStarted("r", "reasoning"));
    world.feed(output("out"));
    world.feed(turnCompleted());
    expect(of(world, "activity.started").map(({ itemType }) => itemType)).toEqual(["command"]);
    expect([...world.texts()]).toEqual([]);
  });
});

describe("coalescing", () => {
  it("merges updates of a row by field for 200 ms", () => {
    const world = running();
    world.feed(itemStarted("a", "tool"));
    for (let n = 0; n < 50; n += 1)
      world.feed(itemUpdated("a", "tool", { title: `${n}`, ...(n === 3 ? { detail: "kept" } : {}) }));
    world.advance(199);
    expect(of(world, "activity.updated")).toEqual([]);
    world.advance(1);
    expect(of(world, "activity.updated")).toEqual([{ activityId: "t1//a", title: "49", detail: "kept" }]);
  });

  it("keeps order: an event about to enter the log flushes what was before it", () => {
    const world = running();
    world.feed(itemStarted("a", "tool"));
    world.feed(itemUpdated("a", "tool", { title: "x" }));
    world.feed({ type: "usage.updated", turnId: "t1", payload: { basis: "turn", inputTokens: 5 } });
    world.feed({ type: "notice", payload: { level: "info", code: "c", message: "m" } });
    expect(world.types().slice(2)).toEqual(["activity.updated", "usage.recorded", "notice.recorded"]);
  });

  it("merges usage for a second, per turn, agent, basis and model", () => {
    const world = running();
    world.feed({ type: "usage.updated", turnId: "t1", payload: { basis: "turn", inputTokens: 5, outputTokens: 1 } });
    world.feed({ type: "usage.updated", turnId: "t1", payload: { basis: "turn", outputTokens: 9 } });
    world.feed({ type: "usage.updated", payload: { basis: "session", contextTokens: 100 } });
    world.advance(999);
    expect(of(world, "usage.recorded")).toEqual([]);
    world.advance(1);
    expect(of(world, "usage.recorded")).toEqual([
      { turnId: "t1", agentPath: [], basis: "turn", inputTokens: 5, outputTokens: 9 },
      { agentPath: [], basis: "session", contextTokens: 100 },
    ]);
  });

  it("keeps the last of a turn's cumulative diffs", () => {
    const world = running();
    for (let n = 1; n <= 30; n += 1)
      world.feed({ type: "turn.diff", turnId: "t1", payload: { unifiedDiff: "+".repeat(n) } });
    world.feed(turnCompleted());
    expect(of(world, "turn.diff_updated")).toEqual([{ turnId: "t1", unifiedDiff: "+".repeat(30), size: 30 }]);
  });

  it("costs a flood of progress a handful of events", () => {
    const world = running();
    world.feed({ type: "task.started", turnId: "t1", payload: { taskId: "k", kind: "subagent" } });
    for (let n = 0; n < 5_000; n += 1) {
      world.feed({ type: "task.updated", turnId: "t1", payload: { taskId: "k", kind: "subagent", summary: `${n}` } });
      world.advance(1);
    }
    expect(of(world, "task.updated").length).toBeLessThanOrEqual(26);
  });
});

describe("tasks", () => {
  it("start, change and end", () => {
    const world = running();
    const payload = { taskId: "k", kind: "subagent", agentPath: ["k"], itemId: "call", title: "Look" } as const;
    world.feed({ type: "task.started", turnId: "t1", payload });
    world.feed({ type: "task.completed", turnId: "t1", payload: { ...payload, status: "failed", summary: "no" } });
    expect(of(world, "task.started")[0]).toEqual({
      taskId: "k",
      kind: "subagent",
      turnId: "t1",
      agentPath: [],
      childPath: ["k"],
      itemId: "call",
      generation: 1,
      title: "Look",
    });
    expect(of(world, "task.ended")[0]).toMatchObject({ taskId: "k", status: "failed", summary: "no" });
  });
  it("that were not announced are created", () => {
    const world = running();
    world.feed({ type: "task.completed", turnId: "t1", payload: { taskId: "k", kind: "background" } });
    expect(world.types().slice(1)).toEqual(["task.started", "task.ended"]);
  });
});

describe("command output", () => {
  /** What the log shows of one command's output. */
  const shown = (world: World) => {
    const updates = [...of(world, "activity.updated"), ...of(world, "activity.ended")];
    const windows = updates.flatMap(({ commandOutput }) => (commandOutput === undefined ? [] : [commandOutput]));
    const closing = windows.find(({ size }) => size !== undefined);
    return { head: windows.map(({ append }) => append ?? "").join(""), ...closing };
  };

  it("a short one is whole, and enters the log by age", () => {
    const world = running();
    world.feed(itemStarted("ls", "command"));
    world.feed(output("file1\n"));
    world.feed(output("file2\n"));
    world.advance(999);
    expect(shown(world).head).toBe("");
    world.advance(1);
    expect(shown(world).head).toBe("file1\nfile2\n");
    world.feed(itemCompleted("ls", "command", { exitCode: 0 }));
    expect(shown(world)).toEqual({ head: "file1\nfile2\n", size: 12 });
  });

  it("a long one keeps head and tail; what lies between is in the journal", () => {
    const world = running();
    world.feed(itemStarted("build", "command"));
    const whole = Array.from({ length: 40_000 }, (_, n) => `line ${n}\n`).join("");
    for (let at = 0; at < whole.length; at += 777) world.feed(output(whole.slice(at, at + 777), "build"));
    world.feed(itemCompleted("build", "command"));
    const { head, tail = "", omitted = 0, size } = shown(world);
    expect(head).toBe(whole.slice(0, outputHeadUnits));
    expect(tail).toBe(whole.slice(-outputTailUnits));
    expect(size).toBe(whole.length);
    expect(omitted).toBe(whole.length - head.length - tail.length);
  });

  it("ends with its turn, or its session: the tail is not lost", () => {
    for (const end of [turnCompleted(), exited]) {
      const world = running();
      world.feed(output("x".repeat(outputHeadUnits)));
      world.feed(output("the end"));
      world.feed(end);
      expect(shown(world)).toMatchObject({ tail: "the end", omitted: 0, size: outputHeadUnits + 7 });
      expect(world.state?.activities).toEqual([]);
    }
  });

  it("of an activity that is over is refused, and never becomes text", () => {
    const world = running();
    world.feed(itemCompleted("ls", "command"));
    world.feed(output("late"));
    world.feed(turnCompleted());
    world.feed(output("later"));
    expect(world.refusals.map(({ reason }) => reason)).toEqual(["item_over", "item_over"]);
    expect([...world.texts()]).toEqual([]);
  });

  it("however it is cut and whatever crashes, head, gap and tail make the whole", () => {
    forSeeds(20, (random) => {
      const world = running();
      const whole = Array.from({ length: random.below(4_000) }, () => scrap(random, 20))
        .join("")
        .slice(0, random.below(150_000));
      for (const piece of cutAnywhere(whole, random, random.pick([50, 5_000, 60_000]))) {
        world.feed(output(piece));
        if (random.chance(0.02)) world.crash();
        if (random.chance(0.02)) world.advance(1_000);
      }
      world.crash();
      world.feed(itemCompleted("ls", "command"));
      const { head, tail = "", omitted = 0, size = 0 } = shown(world);
      expect(size).toBe(whole.length);
      expect(head.length + omitted + tail.length).toBe(whole.length);
      expect(whole.startsWith(head)).toBe(true);
      expect(whole.endsWith(tail)).toBe(true);
      expect(head.length).toBeGreaterThanOrEqual(Math.min(whole.length, outputHeadUnits) - 1);
      expect(tail.length).toBeLessThanOrEqual(outputTailUnits);
      if (omitted > 0) expect(tail.length).toBeGreaterThanOrEqual(outputTailUnits - 1);
    });
  });
});
