/** What each remaining kind of event becomes, and what it never does. */
import type { DomainEvent, RuntimeEvent } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { delta, requestOpened, turnCompleted, turnStarted } from "./events.ts";
import { World } from "./world.ts";

const running = (): World => {
  const world = new World();
  world.feed(turnStarted());
  return world;
};

/** The events that one canonical event makes. */
const makes = (world: World, event: RuntimeEvent): ReadonlyArray<DomainEvent> => {
  const from = world.log.length;
  world.feed(event);
  return world.log.slice(from);
};

describe("sessions", () => {
  it("a runtime only adds facts: its start again configures, and resets nothing", () => {
    const world = running();
    const { capabilities } = world.state?.session ?? {};
    if (capabilities === undefined) throw new Error("no session");
    const started = { nativeSessionId: "n1", resumed: true, cwd: "/p", model: "m2", capabilities };
    expect(makes(world, { type: "session.started", payload: started })).toEqual([
      { type: "session.configured", payload: { generation: 1, model: "m2" } },
    ]);
    expect(world.state?.turn?.turnId).toBe("t1");
    expect(world.state?.session?.nativeSessionId).toBe("n1");
  });

  it("a context that was cleared goes on under another native session, which is the one to resume", () => {
    const world = running();
    const { capabilities } = world.state?.session ?? {};
    if (capabilities === undefined) throw new Error("no session");
    expect(world.state?.nativeSessionId).toBe("n1");
    const started = { nativeSessionId: "cleared", resumed: false, cwd: "/p", capabilities };
    expect(makes(world, { type: "session.started", payload: started })).toEqual([
      { type: "session.configured", payload: { generation: 1, nativeSessionId: "cleared" } },
    ]);
    expect(makes(world, { type: "session.started", payload: started })).toEqual([]);
    expect(world.state).toMatchObject({ turn: { turnId: "t1" }, nativeSessionId: "cleared" });
    expect(world.state?.session?.nativeSessionId).toBe("cleared");
  });

  it("a title names the thread until a person does", () => {
    const world = running();
    expect(makes(world, { type: "session.title", payload: { title: "A" } })).toEqual([
      { type: "thread.renamed", payload: { title: "A", by: "runtime" } },
    ]);
    world.apply({ type: "thread.renamed", payload: { title: "Mine", by: "client" } });
    expect(makes(world, { type: "session.title", payload: { title: "B" } })).toEqual([]);
  });

  it("an exit is told with what the process said last", () => {
    const world = running();
    const payload = { kind: "killed", signal: "SIGKILL", stderrTail: "bye", recoverable: true } as const;
    expect(makes(world, { type: "session.exited", payload }).at(-1)).toEqual({
      type: "session.exited",
      payload: { generation: 1, ...payload },
    });
  });
});

describe("turns", () => {
  it("begin with what the runtime says of them, and end with how", () => {
    const world = new World();
    expect(
      makes(world, { ...turnStarted(), payload: { model: "m", origin: "runtime" } } as RuntimeEvent),
    ).toMatchObject([
      { type: "turn.started", payload: { turnId: "t1", generation: 1, model: "m", origin: "runtime" } },
    ]);
    const payload = {
      outcome: "failed",
      stopReason: "other",
      usage: { outputTokens: 3 },
      costUsd: 0.1,
      costBasis: "list",
    } as const;
    expect(makes(world, { type: "turn.completed", turnId: "t1", payload })).toEqual([
      {
        type: "turn.ended",
        payload: {
          turnId: "t1",
          state: "failed",
          stopReason: "other",
          usage: { outputTokens: 3 },
          costUsd: 0.1,
          costBasis: "list",
        },
      },
    ]);
  });

  it("a plan replaces the plan", () => {
    const payload = { steps: [{ text: "Look", status: "in_progress" as const }], explanation: "why" };
    expect(makes(running(), { type: "turn.plan", turnId: "t1", agentPath: ["a"], payload })).toEqual([
      { type: "turn.plan_updated", payload: { turnId: "t1", agentPath: ["a"], ...payload } },
    ]);
  });

  it("the end of another turn ends what still stands under that one, and is refused for session and turn", () => {
    const world = running();
    world.feed(turnCompleted());
    world.feed(turnStarted("t2"));
    const { state } = world;
    if (state === undefined) throw new Error("no thread");
    const left = { itemId: "a", itemType: "tool", turnId: "t1", agentPath: [], generation: 1 } as const;
    world.state = { ...state, activities: [{ ...left, activityId: "t1//a" }] };
    expect(makes(world, turnCompleted("t1"))).toEqual([
      { type: "activity.ended", payload: { activityId: "t1//a", status: "interrupted", settledBy: "system" } },
    ]);
    expect(world.refusals).toMatchObject([{ type: "turn.completed", reason: "turn_over" }]);
    expect(world.state.turn?.turnId).toBe("t2");
  });
});

describe("proposed plans", () => {
  const piece = (text: string): RuntimeEvent => ({
    type: "proposed_plan.delta",
    turnId: "t1",
    payload: { planId: "p", text },
  });
  const done = (markdown: string): RuntimeEvent => ({
    type: "proposed_plan.completed",
    turnId: "t1",
    payload: { planId: "p", markdown },
  });
  const proposed = (markdown: string) => [
    { type: "plan.proposed", payload: { planId: "p", turnId: "t1", agentPath: [], markdown } },
  ];

  it("enter the log when they are complete", () => {
    const world = running();
    expect(makes(world, piece("# Pl"))).toEqual([]);
    expect(makes(world, piece("an"))).toEqual([]);
    expect(makes(world, done("# Plan!"))).toEqual(proposed("# Plan!"));
  });
  it("as they were written, where the runtime gives no whole", () => {
    const world = running();
    world.feed(piece("# Pl"));
    world.crash();
    world.feed(piece("an"));
    expect(makes(world, done(""))).toEqual(proposed("# Plan"));
  });
  it("with a turn that was completed; one that was cut off proposes nothing", () => {
    const completedTurn = running();
    completedTurn.feed(piece("# Plan"));
    expect(makes(completedTurn, turnCompleted())[0]).toEqual(proposed("# Plan")[0]);
    const interrupted = running();
    interrupted.feed(piece("# Pl"));
    interrupted.feed(turnCompleted("t1", "interrupted"));
    expect(interrupted.events("plan.proposed")).toEqual([]);
    expect(interrupted.books().accounted).toBe(interrupted.books().journal);
  });
});

describe("requests", () => {
  it("carry what is asked, and where", () => {
    const [opened] = makes(running(), requestOpened("r1", { itemId: "ls", agentPath: ["a"] }));
    expect(opened).toMatchObject({
      type: "request.opened",
      payload: {
        requestId: "r1",
        turnId: "t1",
        itemId: "ls",
        agentPath: ["a"],
        generation: 1,
        kind: "approval",
        title: "Run ls",
      },
    });
  });
  it("that the runtime takes back are withdrawn", () => {
    const world = running();
    world.feed(requestOpened());
    expect(
      makes(world, { type: "request.resolved", requestId: "r1", payload: { outcome: "withdrawn" } }),
    ).toMatchObject([{ type: "request.withdrawn" }]);
  });
});

describe("what people should know", () => {
  it("becomes a notice, with an id that follows from the record", () => {
    const world = running();
    const notice = { level: "warning", code: "low_disk", message: "Low", detail: "1 MB" } as const;
    expect(makes(world, { type: "notice", turnId: "t1", payload: notice })).toEqual([
      { type: "notice.recorded", payload: { noticeId: "n1.2.0", turnId: "t1", ...notice } },
    ]);
  });

  it.each<[string, RuntimeEvent, string, string]>([
    [
      "a retry",
      { type: "retry.scheduled", payload: { attempt: 2, limit: 5, delayMs: 800, reason: "overloaded" } },
      "warning",
      "retry_scheduled",
    ],
    [
      "an error that may pass",
      { type: "runtime.error", payload: { class: "rate_limit", message: "m", retryable: true, fatal: false } },
      "warning",
      "runtime_error.rate_limit",
    ],
    [
      "an error that stays",
      { type: "runtime.error", payload: { class: "auth", message: "m", retryable: false, fatal: true } },
      "error",
      "runtime_error.auth",
    ],
    ["an error state", { type: "session.state", payload: { state: "error", reason: "no" } }, "error", "session_error"],
  ])("so does %s, and it ends nothing", (_, event, level, code) => {
    const world = running();
    expect(makes(world, event)).toMatchObject([{ type: "notice.recorded", payload: { level, code } }]);
    expect(world.state?.turn?.turnId).toBe("t1");
  });
});

describe("reports", () => {
  it("enter the log as they are", () => {
    const world = running();
    expect(
      makes(world, { type: "context.compacted", turnId: "t1", payload: { state: "completed", beforeTokens: 9 } }),
    ).toEqual([{ type: "context.compacted", payload: { turnId: "t1", state: "completed", beforeTokens: 9 } }]);
    expect(makes(world, { type: "model.rerouted", payload: { from: "a", to: "b", reason: "busy" } })).toEqual([
      { type: "model.rerouted", payload: { from: "a", to: "b", reason: "busy" } },
    ]);
  });

  it("evidence about an input reaches the input", () => {
    const world = running();
    world.apply({
      type: "input.queued",
      payload: { inputId: "i", text: "go", delivery: "steer", mode: "steer", origin: { kind: "user" } },
    });
    world.apply({ type: "input.handed_over", payload: { inputId: "i", generation: 1, mode: "steer" } });
    expect(
      makes(world, { type: "input.state", turnId: "t1", payload: { inputId: "i", state: "folded" } }),
    ).toMatchObject([{ type: "input.started", payload: { inputId: "i", turnId: "t1", how: "folded" } }]);
  });
});

describe("what the journal keeps", () => {
  it("limits, servers and commands, with nothing in the log", () => {
    const world = running();
    expect(makes(world, { type: "account.limits", payload: { windows: [] } })).toEqual([]);
    expect(makes(world, { type: "mcp.status", payload: { servers: [] } })).toEqual([]);
    expect(makes(world, { type: "commands.available", payload: { commands: [] } })).toEqual([]);
    expect(world.holder.memory.accounts.folded).toBe(3);
  });

  it("messages that nobody knows: counted by kind, as many kinds as there may be, never fatal (I18)", () => {
    const world = running();
    for (let n = 0; n < 500; n += 1) world.feed({ type: "unknown", payload: { kind: `kind ${n % 100}` } });
    world.feed({ type: "unknown", payload: { kind: "__proto__" } });
    const { unknown } = world.holder.memory.accounts;
    expect(unknown.get("kind 0")).toBe(5);
    expect(unknown.size).toBeLessThanOrEqual(65);
    expect([...unknown.values()].reduce((sum, count) => sum + count, 0)).toBe(501);
    world.feed(delta("still here"));
    world.drain();
    expect(world.textOf("t1//m")).toBe("still here");
  });
});
