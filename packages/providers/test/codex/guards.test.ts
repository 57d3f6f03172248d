/** The facts of docs/runtimes/codex.md that would go wrong in silence, each as frames. */
import { describe, expect, it } from "vitest";
import { initialState } from "../../src/codex/index.ts";
import {
  after,
  answer,
  asking,
  call,
  command,
  delta,
  ended,
  failure,
  incoming,
  item,
  ofType,
  opened,
  result,
  started,
  through,
  turn,
} from "./frames.ts";

const running = [...opened, ...started()];
const approval = (id: number, itemId = "call-1", params = {}) =>
  asking(id, "item/commandExecution/requestApproval", { itemId, availableDecisions: ["accept", "cancel"], ...params });
const resolved = (id: number) => incoming("serverRequest/resolved", { requestId: id });

describe("requests", () => {
  it("have ids of their own, though Codex counts from 0 in every process and beside ours", () => {
    const ids = [1, 2].map((generation) => {
      const { events } = through([...running, approval(0), approval(1, "call-2")], initialState({ generation }));
      return ofType(events, "request.opened").map(({ requestId }) => requestId);
    });
    expect(new Set(ids.flat()).size).toBe(4);
    const next = through([...running, approval(0), resolved(0), ended("completed"), ...started("turn-2", "input-2")]);
    const again = through(
      [asking(0, "item/commandExecution/requestApproval", { turnId: "turn-2", itemId: "c" })],
      next.state,
    );
    expect(ofType(again.events, "request.opened")[0]?.requestId).not.toBe(
      ofType(next.events, "request.opened")[0]?.requestId,
    );
  });

  it("does not take a reply of ours to request 2 for Codex's reply to our call 2", () => {
    const calling = [...opened, call(2, "turn/start", { clientUserMessageId: "input-1" })];
    const { state, events } = through([...calling, approval(2), answer(2, { decision: "accept" })]);
    expect(state.calls.size).toBe(1);
    expect(ofType(events, "input.state")).toEqual([]);
  });

  it("take command, folder and changes from the item that started before", () => {
    const events = after(
      running,
      item("started", "commandExecution", "call-1", command),
      asking(0, "item/commandExecution/requestApproval", { itemId: "call-1", command: null, cwd: null }),
      item("started", "fileChange", "call-2", {
        changes: [{ path: "/p/a", kind: { type: "update", move_path: "/p/b" }, diff: "@@ -1 +1 @@\n-x\n+y\n" }],
      }),
      asking(1, "item/fileChange/requestApproval", { itemId: "call-2", reason: "outside", grantRoot: "/q" }),
    );
    expect(ofType(events, "request.opened").map(({ payload }) => [payload.title, payload.subject])).toEqual([
      ["Run: echo hi", { command: command.command, cwd: "/p" }],
      [
        "Change: b (outside)",
        {
          changes: [{ path: "/p/b", oldPath: "/p/a", kind: "move", diff: "@@ -1 +1 @@\n-x\n+y\n" }],
          paths: ["/p/b", "/q"],
        },
      ],
    ]);
  });

  it("are answered when Codex says so, with the option that was chosen", () => {
    const { events } = through([
      ...running,
      approval(0),
      answer(0, { decision: "acceptForSession" }),
      resolved(0),
      resolved(0),
    ]);
    expect(ofType(events, "request.resolved").map(({ payload }) => payload)).toEqual([
      { outcome: "answered", by: "client", optionId: "acceptForSession" },
    ]);
  });

  it("are withdrawn when Codex resolves them by itself, also after the turn's end", () => {
    const { events } = through([...running, approval(0), ended("interrupted"), resolved(0)]);
    expect(events.map(({ type }) => type).slice(-2)).toEqual(["turn.completed", "request.resolved"]);
    expect(ofType(events, "request.resolved")[0]?.payload).toEqual({ outcome: "withdrawn", by: "runtime" });
  });

  it("that we refused with an error are not answered", () => {
    const refusal = { dir: "out", msg: { id: 0, error: { code: -32601, message: "no" } } } as const;
    const { events } = through([...running, approval(0), refusal, resolved(0)]);
    expect(ofType(events, "request.resolved")[0]?.payload.outcome).toBe("withdrawn");
  });

  it("do not write answers to secret questions", () => {
    const asked = asking("q", "item/tool/requestUserInput", {
      itemId: "call-1",
      questions: [
        { id: "open", header: "", question: "Name?", isOther: false, isSecret: false, options: null },
        { id: "pin", header: "Pin", question: "Pin?", isOther: true, isSecret: true, options: [] },
      ],
    });
    const given = answer("q", { answers: { open: { answers: ["Zoe"] }, pin: { answers: ["1234"] } } });
    const { records } = through([...running, asked, given]);
    expect(records.at(-1)?.native.frame).toEqual({
      id: "q",
      result: { answers: { open: { answers: ["Zoe"] }, pin: { answers: ["•••"] } } },
    });
    expect(
      ofType(
        records.flatMap(({ events }) => events),
        "request.opened",
      )[0]?.payload.questions,
    ).toEqual([
      { id: "open", text: "Name?", options: [], multiple: false, freeText: true },
      { id: "pin", header: "Pin", text: "Pin?", options: [], multiple: false, freeText: true, secret: true },
    ]);
  });
});

describe("turns", () => {
  it("bind their input, also when they start before the reply", () => {
    const early = after(
      opened,
      call(2, "turn/start", { clientUserMessageId: "input-1" }),
      incoming("turn/started", { turn: { id: turn } }),
      result(2, { turn: { id: turn } }),
    );
    expect(ofType(early, "turn.started")[0]?.payload).toEqual({ inputIds: ["input-1"], origin: "input" });
    expect(ofType(early, "input.state").map(({ payload }) => payload.state)).toEqual(["acknowledged"]);
  });

  it("that nobody started began by themselves", () => {
    const events = after(opened, incoming("turn/started", { turn: { id: turn } }));
    expect(ofType(events, "turn.started")[0]?.payload).toEqual({ origin: "runtime" });
  });

  it("are not started again by a turn/start while they run: that steers", () => {
    const said = { content: [{ type: "text", text: "more" }], clientId: "input-2" };
    const events = after(
      running,
      item("started", "userMessage", "u1", { content: [], clientId: "input-1" }),
      call(3, "turn/start", { clientUserMessageId: "input-2" }),
      result(3, { turn: { id: turn } }),
      item("started", "userMessage", "u2", said),
      item("completed", "userMessage", "u2", said),
    );
    expect(ofType(events, "turn.started")).toEqual([]);
    expect(ofType(events, "input.state").map(({ payload }) => payload)).toEqual([
      { inputId: "input-1", state: "started" },
      { inputId: "input-2", state: "acknowledged" },
      { inputId: "input-2", state: "folded" },
    ]);
  });

  it("say which input was refused, and why", () => {
    const events = after(
      opened,
      call(2, "turn/steer", { clientUserMessageId: "input-9" }),
      failure(2, "no active turn"),
    );
    expect(ofType(events, "input.state")[0]?.payload).toEqual({
      inputId: "input-9",
      state: "refused",
      reason: "no active turn",
    });
  });

  it("leave items open that an interrupt cut off, and take what comes late as theirs", () => {
    const events = after(
      running,
      item("started", "commandExecution", "call-1", command),
      delta("msg-1", "half"),
      ended("interrupted"),
      item("completed", "commandExecution", "call-1", { ...command, status: "failed", exitCode: 137 }),
    );
    expect(ofType(events, "task.started")).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      type: "item.completed",
      turnId: turn,
      itemId: "call-1",
      payload: { status: "failed" },
    });
  });

  it("tell a command that runs on after them as a background task, until it ends", () => {
    const events = after(
      running,
      item("started", "commandExecution", "call-1", command),
      ended("completed"),
      ...started("turn-2", "input-2"),
      item("completed", "commandExecution", "call-1", { ...command, status: "completed", exitCode: 0 }),
    );
    expect(ofType(events, "task.started")).toMatchObject([
      { turnId: turn, payload: { taskId: `${turn}/call-1`, kind: "background", itemId: "call-1", title: "echo hi" } },
    ]);
    expect(events.findIndex(({ type }) => type === "task.started")).toBeLessThan(
      events.findIndex(({ type }) => type === "turn.completed"),
    );
    expect(ofType(events, "task.completed")).toMatchObject([
      { turnId: turn, payload: { taskId: `${turn}/call-1`, status: "completed" } },
    ]);
  });

  it("used what the totals grew by, whatever the thread had used before", () => {
    const total = (all: number, last: number) =>
      incoming("thread/tokenUsage/updated", {
        tokenUsage: {
          total: { totalTokens: all, inputTokens: all, cachedInputTokens: 0, outputTokens: 0 },
          last: { totalTokens: last, inputTokens: last, cachedInputTokens: 0, outputTokens: 0 },
          modelContextWindow: 1000,
        },
      });
    const events = after(running, total(110, 10), total(135, 25), ended("completed"));
    expect(
      ofType(events, "usage.updated").map(({ payload }) => [payload.inputTokens, payload.contextTokens, payload.basis]),
    ).toEqual([
      [110, 10, "session"],
      [135, 25, "session"],
    ]);
    expect(ofType(events, "turn.completed")[0]?.payload.usage).toMatchObject({
      inputTokens: 35,
      contextTokens: 25,
      contextWindow: 1000,
    });
  });

  it("do not repeat a diff that stayed the same", () => {
    const diff = (text: string) => incoming("turn/diff/updated", { diff: text });
    expect(
      ofType(after(running, diff("a"), diff("a"), diff("b")), "turn.diff").map(({ payload }) => payload.unifiedDiff),
    ).toEqual(["a", "b"]);
  });
});

describe("a stream that breaks", () => {
  const broken = (message = "Reconnecting... 2/5") =>
    incoming("error", {
      willRetry: true,
      error: {
        message,
        codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: null } },
        additionalDetails: "cut",
      },
    });
  const gaveUp = incoming("error", {
    willRetry: false,
    error: { message: "stream disconnected", codexErrorInfo: "other" },
  });

  it("takes back text and reasoning that were not completed, and nothing else", () => {
    const events = after(
      running,
      item("started", "agentMessage", "msg-0"),
      delta("msg-0", "whole"),
      item("completed", "agentMessage", "msg-0", { text: "whole" }),
      item("started", "reasoning", "rs-1"),
      item("started", "commandExecution", "call-1", command),
      item("started", "agentMessage", "msg-1"),
      delta("msg-1", "half"),
      broken(),
    );
    expect(ofType(events, "content.retracted").map(({ itemId, payload }) => [itemId, payload.reason])).toEqual([
      ["rs-1", "cut"],
      ["msg-1", "cut"],
    ]);
    expect(ofType(events, "retry.scheduled")[0]?.payload).toEqual({ attempt: 2, limit: 5, reason: "cut" });
  });

  it("counts attempts where Codex does not", () => {
    const events = after(running, broken("again"), broken("again"));
    expect(ofType(events, "retry.scheduled").map(({ payload }) => payload.attempt)).toEqual([1, 2]);
  });

  it("fails the turn once, for the reason that broke it", () => {
    const events = after(running, broken(), gaveUp, ended("failed"));
    expect(ofType(events, "runtime.error")).toEqual([]);
    expect(ofType(events, "turn.completed").map(({ payload }) => payload.error)).toMatchObject([
      { class: "transport", code: "other", message: "stream disconnected", retryable: true },
    ]);
  });

  it("outside of a turn is an error of the runtime", () => {
    expect(ofType(after(opened, gaveUp), "runtime.error")[0]?.payload).toMatchObject({
      class: "unknown",
      fatal: false,
    });
  });
});
