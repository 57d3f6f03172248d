import type { TimelineRow } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { inputs } from "../src/queries/inputs.ts";
import { itemOutput, message, plan, reasoning } from "../src/queries/items.ts";
import { newest, readPage } from "../src/queries/page.ts";
import { project, projects } from "../src/queries/projects.ts";
import { requests } from "../src/queries/requests.ts";
import { sessions } from "../src/queries/sessions.ts";
import { turn, turnDiff } from "../src/queries/turns.ts";
import { makeHarness, type Harness } from "./harness.ts";
import { beginTurn, capabilities, endTurn, makeHistory, root, say, startActivity, type History } from "./history.ts";

const after = async (build: (history: History) => void): Promise<Harness> => {
  const history = makeHistory();
  history.thread("T");
  build(history);
  const harness = await makeHarness();
  await harness.apply(history.events);
  return harness;
};

const rows = (harness: Harness): ReadonlyArray<TimelineRow> =>
  readPage(harness.reader, "T", newest, { maxBytes: 1e9, maxTurns: 1e9 }).rows;

const said = { text: "hello", delivery: "auto", mode: "prompt", origin: { kind: "user" } } as const;

describe("inputs", () => {
  it("wait in the queue until they are handed over, and are messages from then on", async () => {
    const queued = await after((history) => history.add("T", "input.queued", { inputId: "a", ...said }));
    expect(rows(queued)).toEqual([]);
    expect(inputs(queued.reader, "T")).toEqual([
      {
        id: "a",
        state: "queued",
        mode: "prompt",
        delivery: "auto",
        origin: { kind: "user" },
        text: "hello",
        position: 2,
      },
    ]);

    const done = await after((history) => {
      history.add("T", "input.queued", { inputId: "a", ...said, attachments: [{ id: "f", name: "x.png" }] });
      history.add("T", "input.edited", { inputId: "a", text: "hello there" });
      history.add("T", "input.handed_over", { inputId: "a", generation: 1, mode: "prompt" });
      history.add("T", "turn.started", { turnId: "t1", generation: 1, inputIds: ["a"], origin: "input" });
      history.add("T", "input.started", { inputId: "a", turnId: "t1", how: "started" });
      endTurn(history, "T", "a", "t1");
    });
    expect(inputs(done.reader, "T")).toEqual([]);
    expect(rows(done)).toEqual([
      {
        kind: "message",
        rowId: "a",
        position: 4,
        turnId: "t1",
        agentPath: [],
        at: "2026-01-01T00:00:04.000Z",
        role: "user",
        text: "hello there",
        length: 11,
        streaming: false,
        attachments: [{ id: "f", name: "x.png" }],
        inputState: "done",
      },
    ]);
    expect(message(done.reader, "T", "a")?.text).toBe("hello there");
  });

  it("keep their place when they are resubmitted, and forget why they had failed", async () => {
    const error = { class: "validation", message: "no", retryable: false } as const;
    const harness = await after((history) => {
      history.add("T", "input.queued", { inputId: "a", ...said });
      history.add("T", "input.handed_over", { inputId: "a", generation: 1, mode: "prompt" });
      history.add("T", "input.failed", { inputId: "a", error });
      history.add("T", "notice.recorded", { noticeId: "n", level: "info", code: "c", message: "m" });
      history.add("T", "input.queued", { inputId: "a", ...said, text: "again", again: true });
      history.add("T", "input.handed_over", { inputId: "a", generation: 2, mode: "prompt" });
    });
    expect(rows(harness).map(({ rowId, position }) => [rowId, position])).toEqual([
      ["a", 3],
      ["n", 5],
    ]);
    const [view] = inputs(harness.reader, "T");
    expect(view).toMatchObject({ state: "handed_over", position: 2, text: "again" });
    expect(view).not.toHaveProperty("error");
  });

  it("that the runtime gave back are no messages; discarded ones that it may have read stay", async () => {
    const harness = await after((history) => {
      for (const inputId of ["a", "b"]) {
        history.add("T", "input.queued", { inputId, ...said });
        history.add("T", "input.handed_over", { inputId, generation: 1, mode: "prompt" });
      }
      history.add("T", "input.withdrawn", { inputId: "a", reason: "asked" });
      history.add("T", "input.unconfirmed", { inputId: "b", reason: "host_restart" });
      history.add("T", "input.discarded", { inputId: "b" });
    });
    expect(rows(harness)).toMatchObject([{ rowId: "b", inputState: "discarded" }]);
    expect(inputs(harness.reader, "T")).toEqual([]);
    expect(message(harness.reader, "T", "a")).toBeUndefined();
  });
});

describe("messages", () => {
  it("are the concatenation of their pieces, joined when they end (I4)", async () => {
    const pieces = ["one ", "two \ud83d", "\ude42", " three"];
    const harness = await after((history) => say(history, "T", "t1", "i1", pieces));
    expect(message(harness.reader, "T", "t1//i1#0")).toMatchObject({
      text: pieces.join(""),
      streaming: false,
      length: 16,
    });
    expect(harness.dump()["message_chunks"]).toHaveLength(1);
  });

  it("stay in pieces of bounded size when they are huge", async () => {
    const piece = "x".repeat(24_000);
    const harness = await after((history) =>
      say(
        history,
        "T",
        "t1",
        "i1",
        Array.from({ length: 50 }, () => piece),
      ),
    );
    const chunks = harness.dump()["message_chunks"] ?? [];
    expect(chunks).toHaveLength(25);
    expect(chunks.map((row) => row["offset"])).toEqual(Array.from({ length: 25 }, (_, n) => n * 48_000));
    expect(message(harness.reader, "T", "t1//i1#0")?.text).toBe(piece.repeat(50));
  });

  it("are replaced whole, go on after it, and take late text without reopening", async () => {
    const harness = await after((history) => {
      const messageId = say(history, "T", "t1", "i1", ["wrong ", "text"], false);
      const text = "🙂".repeat(50_000);
      history.add("T", "message.replaced", { messageId, text });
      history.add("T", "message.appended", { messageId, offset: text.length, text: "!" });
      history.add("T", "message.completed", { messageId, length: text.length + 1, settledBy: "system" });
      history.add("T", "message.appended", { messageId, offset: text.length + 1, text: "?" });
    });
    expect(message(harness.reader, "T", "t1//i1#0")).toMatchObject({
      text: `${"🙂".repeat(50_000)}!?`,
      length: 100_002,
      streaming: false,
    });
  });

  it("that were retracted leave nothing", async () => {
    const harness = await after((history) => {
      const messageId = say(history, "T", "t1", "i1", ["draft"], false);
      history.add("T", "message.retracted", { messageId, reason: "retried" });
    });
    const { messages, message_chunks, timeline } = harness.dump();
    expect([messages, message_chunks, timeline]).toEqual([[], [], []]);
  });

  it("have reasoning beside them, marked as such", async () => {
    const harness = await after((history) => {
      const start = { turnId: "t1", agentPath: ["a"], itemId: "i", segment: 0, generation: 1 };
      history.add("T", "reasoning.appended", { reasoningId: "r", kind: "summary", offset: 0, text: "I ", start });
      history.add("T", "reasoning.appended", { reasoningId: "r", kind: "summary", offset: 2, text: "think" });
      history.add("T", "reasoning.completed", { reasoningId: "r", length: 7 });
    });
    expect(reasoning(harness.reader, "T", "r")).toMatchObject({
      kind: "reasoning",
      reasoning: "summary",
      text: "I think",
      length: 7,
      streaming: false,
      agentPath: ["a"],
    });
    expect(message(harness.reader, "T", "r")).toBeUndefined();
  });
});

describe("activities and tasks", () => {
  it("replace fields, append command output, and end once", async () => {
    const harness = await after((history) => {
      const activityId = startActivity(history, "T", "t1", "i1", { title: "make", input: { command: "make" } });
      history.add("T", "activity.updated", { activityId, detail: "compiling", commandOutput: { append: "a\n" } });
      history.add("T", "activity.updated", { activityId, detail: "linking", commandOutput: { append: "b\n" } });
      history.add("T", "activity.ended", {
        activityId,
        status: "failed",
        exitCode: 2,
        output: "lone \ud83d",
        commandOutput: { tail: "z\n", omitted: 40, size: 46 },
        cut: [{ field: "output", size: 9, record: { threadId: "T", generation: 1, seq: 4 } }],
      });
    });
    const expected = {
      kind: "activity",
      rowId: "t1//i1",
      position: 2,
      turnId: "t1",
      agentPath: [],
      at: "2026-01-01T00:00:02.000Z",
      itemId: "i1",
      type: "command",
      status: "failed",
      title: "make",
      detail: "linking",
      input: { command: "make" },
      output: "lone \ud83d",
      exitCode: 2,
      commandOutput: { head: "a\nb\n", omitted: 40, tail: "z\n", size: 46 },
      cut: [{ field: "output", size: 9, record: { threadId: "T", generation: 1, seq: 4 } }],
      endedAt: "2026-01-01T00:00:05.000Z",
    };
    expect(rows(harness)).toEqual([expected]);
    expect(itemOutput(harness.reader, "T", "i1")).toEqual({ activity: expected, generation: 1 });
    expect(itemOutput(harness.reader, "T", "t1//i1")).toEqual({ activity: expected, generation: 1 });
    expect(itemOutput(harness.reader, "T", "i2")).toBeUndefined();
    expect(harness.dump()["activity_output"]).toHaveLength(1);
  });

  it("are told apart by turn and agent: the same item id names the newest", async () => {
    const harness = await after((history) => {
      startActivity(history, "T", "t1", "i", { title: "old" });
      startActivity(history, "T", "t2", "i", { title: "new" });
    });
    expect(itemOutput(harness.reader, "T", "i")?.activity.title).toBe("new");
    expect(itemOutput(harness.reader, "T", "t1//i")?.activity.title).toBe("old");
  });

  it("say who settled them", async () => {
    const harness = await after((history) => {
      const activityId = startActivity(history, "T", undefined, "i");
      history.add("T", "task.started", {
        taskId: "k",
        kind: "subagent",
        agentPath: root,
        childPath: ["k"],
        itemId: "i",
        generation: 1,
        title: "explore",
      });
      history.add("T", "task.updated", { taskId: "k", summary: "half", usage: { inputTokens: 1 } });
      history.add("T", "activity.ended", { activityId, status: "interrupted", settledBy: "system" });
      history.add("T", "task.ended", { taskId: "k", status: "interrupted", settledBy: "system" });
    });
    const [activity, task] = rows(harness);
    expect(activity).toMatchObject({ status: "interrupted", settledBy: "system" });
    expect(activity).not.toHaveProperty("turnId");
    expect(task).toMatchObject({
      taskId: "k",
      taskKind: "subagent",
      childPath: ["k"],
      itemId: "i",
      status: "interrupted",
      title: "explore",
      summary: "half",
      usage: { inputTokens: 1 },
      settledBy: "system",
    });
  });
});

describe("requests", () => {
  const open = (history: History, threadId: string, requestId: string, more: { readonly blocking?: boolean } = {}) =>
    history.add(threadId, "request.opened", {
      requestId,
      turnId: "t1",
      agentPath: ["a"],
      itemId: "i",
      generation: 1,
      subjectHash: "h",
      kind: "approval",
      action: "command",
      title: "Run it?",
      subject: { command: "ls" },
      options: [{ id: "yes", label: "Yes", effect: "allow", scope: "once" }],
      ...more,
    });
  const by = { kind: "client", id: "phone" } as const;
  const answer = { optionId: "yes" } as const;

  it("go from pending over answering to answered", async () => {
    const harness = await after((history) => {
      open(history, "T", "q");
      history.add("T", "request.answering", { requestId: "q", answer, by });
      history.add("T", "request.answered", { requestId: "q", delivery: "confirmed" });
    });
    expect(rows(harness)).toEqual([
      {
        kind: "request",
        rowId: "q",
        position: 2,
        turnId: "t1",
        agentPath: ["a"],
        at: "2026-01-01T00:00:02.000Z",
        requestId: "q",
        threadId: "T",
        request: {
          kind: "approval",
          action: "command",
          title: "Run it?",
          subject: { command: "ls" },
          options: [{ id: "yes", label: "Yes", effect: "allow", scope: "once" }],
        },
        state: "answered",
        subjectHash: "h",
        answer,
        by,
        delivery: "confirmed",
      },
    ]);
  });

  it("are pending again, with the failure, when nothing was written", async () => {
    const error = { class: "transport", message: "pipe", retryable: true } as const;
    const harness = await after((history) => {
      open(history, "T", "q");
      history.add("T", "request.answering", { requestId: "q", answer, by });
      history.add("T", "request.delivery_failed", { requestId: "q", error });
    });
    const [row] = rows(harness);
    expect(row).toMatchObject({ state: "pending", error });
    expect(row).not.toHaveProperty("answer");
    expect(row).not.toHaveProperty("by");
  });

  it("are listed by state across threads, paged, without those of deleted threads", async () => {
    const harness = await after((history) => {
      history.thread("U");
      history.thread("D");
      for (let n = 0; n < 5; n++) {
        open(history, "T", `a${n}`);
        open(history, "U", `b${n}`, { blocking: false });
        open(history, "D", `c${n}`);
      }
      history.add("T", "request.withdrawn", { requestId: "a0", reason: "turn_interrupted" });
      history.add("U", "request.expired", { requestId: "b0", reason: "session_over" });
      history.add("D", "thread.deleted", {});
    });
    const seen: Array<string> = [];
    let cursor: number | undefined;
    do {
      const page = requests(harness.reader, {
        state: "pending",
        limit: 4,
        ...(cursor === undefined ? {} : { after: cursor }),
      });
      expect(page.requests.length).toBeLessThanOrEqual(4);
      seen.push(...page.requests.map((each) => each.requestId));
      cursor = page.after;
    } while (cursor !== undefined);
    expect(seen).toEqual(["a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4"]);
    expect(requests(harness.reader, { state: "pending", threadId: "U", limit: 9 }).requests).toHaveLength(4);
    expect(requests(harness.reader, { state: "expired", limit: 9 }).requests).toMatchObject([
      { requestId: "b0", threadId: "U", reason: "session_over" },
    ]);
    expect(requests(harness.reader, { state: "pending", threadId: "D", limit: 9 }).requests).toEqual([]);
  });
});

describe("turns, plans, notices, sessions, projects", () => {
  it("keep a turn's end and its diff, whole or as a blob", async () => {
    const harness = await after((history) => {
      beginTurn(history, "T", "in1", "t1");
      history.add("T", "turn.diff_updated", { turnId: "t1", unifiedDiff: "+a\ud83d", size: 3 });
      beginTurn(history, "T", "in2", "t2");
      history.add("T", "turn.diff_updated", { turnId: "t2", blob: "hash", size: 99_999 });
      endTurn(history, "T", "in1", "t1", { stopReason: "end", usage: { outputTokens: 2 }, costUsd: 0.25 });
    });
    expect(turn(harness.reader, "T", "t1")).toEqual({
      id: "t1",
      state: "completed",
      stopReason: "end",
      usage: { outputTokens: 2 },
      costUsd: 0.25,
      startedAt: "2026-01-01T00:00:04.000Z",
      endedAt: "2026-01-01T00:00:12.000Z",
      hasDiff: true,
    });
    expect(turn(harness.reader, "T", "none")).toBeUndefined();
    expect(turnDiff(harness.reader, "T", "t1")).toEqual({ unifiedDiff: "+a\ud83d", size: 3 });
    expect(turnDiff(harness.reader, "T", "t2")).toEqual({ blob: "hash", size: 99_999 });
    expect(turnDiff(harness.reader, "T", "none")).toBeUndefined();
  });

  it("show the root agent's steps, proposed plans and notices", async () => {
    const harness = await after((history) => {
      const steps = [{ text: "look", status: "in_progress" as const }];
      history.add("T", "turn.plan_updated", { turnId: "t1", agentPath: root, steps, explanation: "why" });
      history.add("T", "turn.plan_updated", { turnId: "t1", agentPath: ["a"], steps: [] });
      history.add("T", "plan.proposed", { planId: "p", turnId: "t1", agentPath: root, markdown: "# Plan" });
      history.add("T", "plan.resolved", { planId: "p", outcome: "accepted" });
      history.add("T", "notice.recorded", {
        noticeId: "n",
        turnId: "t1",
        level: "warning",
        code: "silent",
        message: "m",
        detail: "d",
      });
    });
    expect(plan(harness.reader, "T")).toEqual({
      turnId: "t1",
      steps: [{ text: "look", status: "in_progress" }],
      explanation: "why",
    });
    expect(rows(harness)).toMatchObject([
      { kind: "plan", planId: "p", markdown: "# Plan", state: "accepted", position: 4 },
      { kind: "notice", level: "warning", code: "silent", message: "m", detail: "d", turnId: "t1", agentPath: [] },
    ]);
  });

  it("keep every incarnation of the runtime", async () => {
    const harness = await after((history) => {
      history.add("T", "session.opening", { generation: 1 });
      history.add("T", "session.started", {
        generation: 1,
        nativeSessionId: "n1",
        resumed: false,
        model: "m",
        capabilities,
      });
      history.add("T", "session.configured", { generation: 1, serviceTier: "fast" });
      history.add("T", "session.exited", {
        generation: 1,
        kind: "crash",
        signal: "SIGSEGV",
        recoverable: true,
        settledBy: "system",
      });
      history.add("T", "session.opening", { generation: 2, resume: "n1" });
      history.add("T", "session.failed", {
        generation: 2,
        error: { class: "auth", message: "log in", retryable: false },
      });
    });
    expect(sessions(harness.reader, "T", 9)).toEqual([
      {
        generation: 2,
        state: "failed",
        nativeSessionId: "n1",
        error: { class: "auth", message: "log in", retryable: false },
        openedAt: "2026-01-01T00:00:06.000Z",
        endedAt: "2026-01-01T00:00:07.000Z",
      },
      {
        generation: 1,
        state: "exited",
        nativeSessionId: "n1",
        resumed: false,
        model: "m",
        serviceTier: "fast",
        capabilities,
        exit: { kind: "crash", signal: "SIGSEGV", recoverable: true, settledBy: "system" },
        openedAt: "2026-01-01T00:00:02.000Z",
        startedAt: "2026-01-01T00:00:03.000Z",
        endedAt: "2026-01-01T00:00:05.000Z",
      },
    ]);
  });

  it("list projects in the order of creation, without the deleted", async () => {
    const harness = await after((history) => {
      history.add("P", "project.created", { root: "/p", title: "one" });
      history.add("Q", "project.created", { root: "/q", title: "two" });
      history.add("P", "project.updated", { title: "uno" });
      history.add("Q", "project.deleted", {});
    });
    expect(projects(harness.reader)).toEqual([
      {
        projectId: "P",
        root: "/p",
        title: "uno",
        createdAt: "2026-01-01T00:00:02.000Z",
        updatedAt: "2026-01-01T00:00:04.000Z",
      },
    ]);
    expect(project(harness.reader, "P")?.title).toBe("uno");
    expect(project(harness.reader, "Q")).toBeUndefined();
  });
});
