/** What items, sub-agents and the rest become. */
import { describe, expect, it } from "vitest";
import {
  after,
  asking,
  call,
  command,
  delta,
  ended,
  incoming,
  item,
  ofType,
  opened,
  result,
  root,
  started,
  through,
  turn,
} from "./frames.ts";

const running = [...opened, ...started()];

describe("sub-agents", () => {
  const child = "thread-child";
  const grandchild = "thread-grandchild";
  const spawn = (id: string, sender: string, receiver: string, turnId: string) =>
    item(
      "completed",
      "collabAgentToolCall",
      id,
      {
        tool: "spawnAgent",
        status: "completed",
        senderThreadId: sender,
        receiverThreadIds: [receiver],
        prompt: `work ${id}`,
      },
      { threadId: sender, turnId },
    );
  const childTurn = (threadId: string, id: string) =>
    incoming("turn/started", { threadId, turn: { id, rootTurnId: turn } });
  const family = [
    ...running,
    spawn("s1", root, child, turn),
    childTurn(child, "ct"),
    spawn("s2", child, grandchild, "ct"),
    childTurn(grandchild, "gt"),
  ];

  it("are tasks inside the turn that spawned them, as deep as they go", () => {
    const { events } = through(family);
    expect(
      ofType(events, "task.started").map(({ turnId, agentPath, payload }) => [
        turnId,
        agentPath,
        payload.agentPath,
        payload.title,
        payload.itemId,
      ]),
    ).toEqual([
      [turn, undefined, [child], "work s1", "s1"],
      [turn, [child], [child, grandchild], "work s2", "s2"],
    ]);
    const [text] = ofType(after(family, delta("m", "deep", { threadId: grandchild, turnId: "gt" })), "content.delta");
    expect(text).toMatchObject({ turnId: turn, agentPath: [child, grandchild], itemId: "m" });
  });

  it("outlive that turn: what they do then is still under it", () => {
    const events = after(
      family,
      ended("completed"),
      asking(0, "item/commandExecution/requestApproval", { threadId: child, turnId: "ct", itemId: "c" }),
      incoming("turn/completed", {
        threadId: child,
        turn: { id: "ct", status: "completed", items: [{ type: "agentMessage", text: "done" }] },
      }),
      item("completed", "commandExecution", "c", command, { threadId: child, turnId: "ct" }),
    );
    expect(ofType(events, "turn.completed")).toHaveLength(1);
    expect(ofType(events, "request.opened")[0]).toMatchObject({ turnId: turn, agentPath: [child] });
    expect(ofType(events, "task.completed")[0]?.payload).toEqual({
      taskId: "ct",
      kind: "background",
      status: "completed",
      summary: "done",
    });
    expect(events.at(-1)).toMatchObject({ type: "item.completed", turnId: turn, agentPath: [child] });
  });

  it("that started before their spawning was told get their name later", () => {
    const events = after(running, childTurn(child, "ct"), spawn("s1", root, child, turn));
    expect(ofType(events, "task.started")[0]?.payload.title).toBe("Agent");
    expect(ofType(events, "task.updated")[0]?.payload).toMatchObject({ taskId: "ct", title: "work s1" });
  });

  it("have a diff of their own that does not stand in for the turn's", () => {
    const theirs = incoming("turn/diff/updated", { threadId: child, turnId: "ct", diff: "theirs" });
    expect(ofType(after(family, theirs), "turn.diff")).toEqual([]);
  });

  it("are not what a fork is: its thread is nobody's here", () => {
    const fork = [...running, call(7, "thread/fork"), result(7, { thread: { id: "fork" } })];
    const events = after(
      fork,
      incoming("thread/started", { thread: { id: "fork", forkedFromId: root } }),
      delta("m", "x", { threadId: "fork" }),
    );
    expect(events).toEqual([]);
  });
});

describe("reasoning", () => {
  const summary = (text: string, summaryIndex: number) =>
    incoming("item/reasoning/summaryTextDelta", { itemId: "rs", delta: text, summaryIndex });
  const full = (text: string) => incoming("item/reasoning/textDelta", { itemId: "rs", delta: text, contentIndex: 0 });
  const begun = [...running, item("started", "reasoning", "rs", { summary: [], content: [] })];

  it("keeps summary and full text apart, and parts as paragraphs", () => {
    const events = after(begun, summary("one", 0), full("all"), summary(" more", 0), summary("two", 1));
    const of = (stream: string) =>
      ofType(events, "content.delta")
        .flatMap(({ payload }) => (payload.stream === stream ? [payload.text] : []))
        .join("");
    expect(of("reasoning_summary")).toBe("one more\n\ntwo");
    expect(of("reasoning")).toBe("all");
  });

  it("that came whole is told once, with ids", () => {
    const whole = item("completed", "reasoning", "rs", { summary: ["one", "two"], content: [] });
    const events = after(begun, whole, whole);
    const deltas = ofType(events, "content.delta");
    expect(deltas[0]).toMatchObject({ payload: { stream: "reasoning_summary", text: "one\n\ntwo" } });
    expect(new Set(deltas.map(({ id }) => id)).size).toBe(1);
    expect(ofType(after(begun, summary("one", 0), whole), "content.delta")).toHaveLength(1);
  });
});

describe("commands", () => {
  const output = (text: string) => incoming("item/commandExecution/outputDelta", { itemId: "call-1", delta: text });
  const over = item("completed", "commandExecution", "call-1", {
    ...command,
    status: "completed",
    exitCode: 0,
    aggregatedOutput: "hi\n",
  });
  const begun = [...running, item("started", "commandExecution", "call-1", command)];

  it("tell their output once: streamed, or whole", () => {
    const streamed = after(begun, output("hi\n"), over);
    expect(ofType(streamed, "content.delta")[0]?.payload).toEqual({ stream: "command_output", text: "hi\n" });
    expect(ofType(streamed, "item.completed")[0]?.payload.output).toBeUndefined();
    expect(ofType(after(begun, over), "item.completed")[0]?.payload).toMatchObject({
      output: "hi\n",
      exitCode: 0,
      title: "echo hi",
    });
  });
});

describe("the rest", () => {
  it("resumes without telling the past", () => {
    const { events } = through([
      call(1, "thread/resume", { threadId: root }),
      incoming("thread/tokenUsage/updated", {
        turnId: "old",
        tokenUsage: { total: { inputTokens: 5 }, last: { totalTokens: 5 } },
      }),
      result(1, {
        thread: { id: root, turns: [{ id: "old", items: [{ type: "agentMessage", id: "x", text: "past" }] }] },
        model: "m",
        cwd: "/p",
      }),
    ]);
    expect(events.map(({ type }) => type)).toEqual(["usage.updated", "session.started"]);
    // That turn was not of this process.
    expect(events[0]?.turnId).toBeUndefined();
    expect(events[1]?.payload).toMatchObject({ resumed: true, nativeSessionId: root });
  });

  it("keeps what it does not know, by its name", () => {
    const events = after(
      running,
      incoming("brand/new"),
      asking(5, "brand/newer"),
      item("started", "hologram", "h1"),
      incoming("turn/completed", { turn: { id: turn, status: "paused" } }),
      { dir: "in", msg: "not json" },
      { dir: "in", msg: [1, 2] },
      { dir: "in", msg: { id: 99 } },
    );
    expect(ofType(events, "unknown").map(({ payload }) => payload.kind)).toEqual([
      "brand/new",
      "brand/newer",
      "item/started: hologram",
      "malformed turn/completed",
      "noise",
      "noise",
      "malformed frame",
    ]);
  });

  it("tells limits, titles, servers, rerouting and warnings", () => {
    const events = after(
      running,
      incoming("account/rateLimits/updated", {
        rateLimits: {
          limitId: "codex",
          primary: { usedPercent: 40, windowDurationMins: 300, resetsAt: 1_796_061_019 },
          secondary: null,
        },
      }),
      incoming("thread/name/updated", { threadName: "A title" }),
      incoming("mcpServer/startupStatus/updated", { name: "a", status: "failed", error: "no" }),
      incoming("mcpServer/startupStatus/updated", { name: "b", status: "ready", error: null }),
      incoming("model/rerouted", { fromModel: "x", toModel: "y", reason: "highRiskCyberActivity" }),
      incoming("warning", { message: "careful" }),
      incoming("deprecationNotice", { summary: "old", details: "use new" }),
      incoming("thread/settings/updated", { threadSettings: { model: "n", effort: "high", serviceTier: null } }),
    );
    expect(events.map(({ type, payload }) => [type, payload])).toEqual([
      [
        "account.limits",
        {
          windows: [{ id: "codex.primary", label: "codex 5 h", usedRatio: 0.4, resetsAt: "2026-11-30T17:50:19.000Z" }],
        },
      ],
      ["session.title", { title: "A title" }],
      ["mcp.status", { servers: [{ name: "a", state: "failed", error: "no" }] }],
      [
        "mcp.status",
        {
          servers: [
            { name: "a", state: "failed", error: "no" },
            { name: "b", state: "ready" },
          ],
        },
      ],
      ["model.rerouted", { from: "x", to: "y", reason: "highRiskCyberActivity" }],
      ["notice", { level: "warning", code: "codex.warning", message: "careful" }],
      ["notice", { level: "info", code: "codex.deprecation", message: "old", detail: "use new" }],
      ["session.configured", { model: "n", effort: "high" }],
    ]);
  });

  it("tells hooks, automatic reviews, compaction and other items", () => {
    const kinds = after(
      running,
      incoming("hook/started", { run: { id: "h1", eventName: "preToolUse", status: "running" } }),
      incoming("hook/completed", {
        run: { id: "h1", eventName: "preToolUse", status: "blocked", statusMessage: "no" },
      }),
      incoming("item/autoApprovalReview/started", {
        reviewId: "r1",
        review: { status: "inProgress" },
        action: { type: "exec" },
      }),
      incoming("item/autoApprovalReview/completed", {
        reviewId: "r1",
        review: { status: "denied", rationale: "risky" },
      }),
      item("started", "contextCompaction", "c1"),
      item("completed", "contextCompaction", "c1"),
      item("completed", "webSearch", "w1", { query: "weather", action: { type: "search" }, results: null }),
      item("completed", "imageView", "i1", { path: "/p/a.png" }),
      item("completed", "mcpToolCall", "m1", {
        server: "s",
        tool: "t",
        arguments: { a: 1 },
        status: "failed",
        error: { message: "broke" },
      }),
      item("completed", "exitedReviewMode", "e1", { review: "fine" }),
    );
    const shown = kinds.map(({ type, payload }) => {
      const fields = payload as {
        readonly itemType?: string;
        readonly status?: string;
        readonly title?: string;
        readonly detail?: string;
        readonly state?: string;
      };
      return [type, fields.itemType ?? fields.state, fields.status, fields.title, fields.detail]
        .filter((part) => part !== undefined)
        .join(" ");
    });
    expect(shown).toEqual([
      "item.started hook in_progress preToolUse",
      "item.completed hook declined preToolUse no",
      "item.started review in_progress Automatic review of an action",
      "item.completed review declined Automatic review of an action risky",
      "context.compacted started",
      "context.compacted completed",
      "item.completed web completed weather",
      "item.completed image completed /p/a.png",
      "item.completed mcp_tool failed s: t broke",
      "item.completed review completed Review fine",
    ]);
  });
});
