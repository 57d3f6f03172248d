import { describe, expect, it } from "vitest";
import { scenarioState } from "../src/scenario-state.ts";
import { makeHarness } from "./harness.ts";
import { beginTurn, endTurn, makeHistory, openSession, root, say, startActivity } from "./history.ts";

describe("STATE of scenario files", () => {
  it("shows every thread whole, absent fields left out, deleted threads not at all", async () => {
    const history = makeHistory();
    history.thread("gone");
    history.thread("T", { title: "work" });
    history.add("gone", "thread.deleted", {});
    openSession(history, "T");
    beginTurn(history, "T", "in1", "t1", "list files");
    say(history, "T", "t1", "m", ["I'll run ", "ls"]);
    history.add("T", "reasoning.appended", {
      reasoningId: "t1//m#r0",
      kind: "full",
      offset: 0,
      text: "hm",
      start: { turnId: "t1", agentPath: root, itemId: "m", segment: 0, generation: 1 },
    });
    startActivity(history, "T", "t1", "ls", { title: "ls" });
    history.add("T", "activity.ended", { activityId: "t1//ls", status: "interrupted", settledBy: "system" });
    history.add("T", "task.started", { taskId: "k", kind: "subagent", turnId: "t1", agentPath: root, generation: 1 });
    history.add("T", "request.opened", {
      requestId: "q",
      turnId: "t1",
      agentPath: root,
      generation: 1,
      subjectHash: "h",
      kind: "approval",
      title: "Run ls?",
    });
    history.add("T", "turn.plan_updated", {
      turnId: "t1",
      agentPath: root,
      steps: [{ text: "look", status: "pending" }],
    });
    history.add("T", "plan.proposed", { planId: "p", turnId: "t1", agentPath: root, markdown: "# P" });
    history.add("T", "usage.recorded", { turnId: "t1", agentPath: root, basis: "turn", inputTokens: 3 });
    const said = { text: "later", delivery: "queue", mode: "queue", origin: { kind: "user" } } as const;
    history.add("T", "input.queued", { inputId: "in2", ...said });
    const harness = await makeHarness();
    await harness.apply(history.events);

    const { threads } = scenarioState(harness.reader);
    expect(threads).toHaveLength(1);
    expect(threads[0]).toMatchObject({
      id: "T",
      threadId: "T",
      title: "work",
      status: { value: "needs_you" },
      queued: 1,
    });
    expect(threads[0]?.session).toEqual({ state: "waiting", generation: 1, activeTurnId: "t1" });
    expect(threads[0]).toMatchObject({
      messages: [
        { id: "in1", role: "user", turnId: "t1", agentPath: [], text: "list files", streaming: false },
        { id: "t1//m#0", role: "assistant", turnId: "t1", agentPath: [], text: "I'll run ls", streaming: false },
      ],
      reasoning: [{ id: "t1//m#r0", kind: "full", turnId: "t1", agentPath: [], text: "hm", streaming: true }],
      activities: [
        {
          id: "ls",
          type: "command",
          status: "interrupted",
          title: "ls",
          turnId: "t1",
          agentPath: [],
          settledBy: "system",
        },
      ],
      tasks: [{ id: "k", kind: "subagent", status: "in_progress", turnId: "t1", agentPath: [] }],
      requests: [{ id: "q", kind: "approval", state: "pending" }],
      inputs: [
        { id: "in1", state: "started", turnId: "t1", text: "list files" },
        { id: "in2", state: "queued", text: "later" },
      ],
      turns: [{ id: "t1", state: "running" }],
      plan: { turnId: "t1", steps: [{ text: "look", status: "pending" }] },
      proposedPlans: [{ id: "p", markdown: "# P", state: "proposed" }],
      usage: { value: { basis: "turn", inputTokens: 3 } },
    });
    expect(JSON.parse(JSON.stringify(threads))).toEqual(threads);
  });

  it("shows a session that is over, a failed turn, and no fields for what is not there", async () => {
    const history = makeHistory();
    history.thread("T");
    openSession(history, "T");
    beginTurn(history, "T", "in1", "t1");
    const error = { class: "transport", message: "gone", retryable: true } as const;
    endTurn(history, "T", "in1", "t1", { state: "failed", error, settledBy: "system" });
    history.add("T", "session.exited", { generation: 1, kind: "crash", recoverable: true });
    history.thread("U");
    const harness = await makeHarness();
    await harness.apply(history.events);
    const [thread, other] = scenarioState(harness.reader).threads;
    expect(thread?.session).toEqual({ state: "exited", generation: 1, lastError: error });
    expect(thread?.turns).toEqual([{ id: "t1", state: "failed", error }]);
    expect(thread).not.toHaveProperty("activeTurnId");
    expect(Object.keys(other ?? {}).filter((key) => ["session", "plan", "usage", "preview"].includes(key))).toEqual([]);
  });
});
