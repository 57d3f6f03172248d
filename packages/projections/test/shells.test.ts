import type { ThreadShell } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { noExtras, shell, shells } from "../src/queries/shells.ts";
import { makeHarness } from "./harness.ts";
import { beginTurn, endTurn, makeHistory, openSession, root, say, startActivity, type History } from "./history.ts";

/** The shell of thread `T` after these events. */
const shellAfter = async (build: (history: History) => void): Promise<ThreadShell> => {
  const history = makeHistory();
  history.thread("T", { title: "first", model: "m1" });
  build(history);
  const harness = await makeHarness();
  await harness.apply(history.events);
  const found = shell(harness.reader, "T", noExtras);
  if (found === undefined) throw new Error("no shell");
  return found;
};

describe("a shell", () => {
  it("begins with what the thread was created with", async () => {
    expect(await shellAfter(() => {})).toEqual({
      threadId: "T",
      projectId: "P",
      title: "first",
      instance: "stub",
      cwd: "/p",
      model: { value: "m1", asOf: 1 },
      approvalMode: "ask",
      interactionMode: "default",
      textDelivery: "streaming",
      status: { value: "idle", asOf: 1 },
      pendingRequests: [],
      queued: 0,
      unconfirmed: 0,
      runningTasks: 0,
      readTo: 0,
      lastPosition: 0,
      createdAt: "2026-01-01T00:00:01.000Z",
      updatedAt: "2026-01-01T00:00:01.000Z",
    });
  });

  it("folds settings with what they stand on, read back or wished", async () => {
    const found = await shellAfter((history) => {
      history.add("T", "thread.configured", { effort: "high", approvalMode: "full_access", applies: "next_turn" });
      openSession(history, "T");
      history.add("T", "session.configured", { generation: 1, model: "m2", serviceTier: "fast" });
      history.add("T", "model.rerouted", { from: "m2", to: "m3" });
      history.add("T", "thread.renamed", { title: "second", by: "client" });
    });
    expect(found).toMatchObject({
      title: "second",
      effort: { value: "high", asOf: 2 },
      serviceTier: { value: "fast", asOf: 5 },
      model: { value: "m3", asOf: 6 },
      approvalMode: "full_access",
      session: { state: "ready", generation: 1, nativeSessionId: "n1" },
    });
  });

  it("tells a working thread: turn, phase, tasks, preview", async () => {
    const found = await shellAfter((history) => {
      openSession(history, "T");
      beginTurn(history, "T", "in1", "t1", "please");
      say(history, "T", "t1", "i1", ["I will ", "run ls"]);
      history.add("T", "task.started", { taskId: "k", kind: "background", agentPath: root, generation: 1 });
      startActivity(history, "T", "t1", "i2", { title: "ls -la" });
    });
    expect(found).toMatchObject({
      status: { value: "working", asOf: 7 },
      session: { state: "running", activeTurnId: "t1" },
      activeTurnId: "t1",
      lastTurn: { id: "t1", state: "running" },
      phase: { kind: "command", title: "ls -la", since: "2026-01-01T00:00:12.000Z" },
      runningTasks: 1,
      preview: { role: "assistant", text: "I will run ls" },
      lastPosition: 12,
    });
  });

  it.each<[string, (history: History) => void, string]>([
    ["nothing open", () => {}, "working"],
    ["text", (history) => say(history, "T", "t1", "i1", ["x"], false), "writing"],
    [
      "reasoning",
      (history) =>
        history.add("T", "reasoning.appended", {
          reasoningId: "r",
          kind: "full",
          offset: 0,
          text: "hm",
          start: { turnId: "t1", agentPath: root, itemId: "i", segment: 0, generation: 1 },
        }),
      "thinking",
    ],
    [
      "an interrupt",
      (history) => history.add("T", "interrupt.requested", { turnId: "t1", generation: 1 }),
      "interrupting",
    ],
  ])("names the phase of a running turn: %s", async (_, build, kind) => {
    const found = await shellAfter((history) => {
      openSession(history, "T");
      beginTurn(history, "T", "in1", "t1");
      build(history);
    });
    expect(found.phase?.kind).toBe(kind);
  });

  it("does not take a turn for one that is being stopped because an earlier one was", async () => {
    const found = await shellAfter((history) => {
      openSession(history, "T");
      beginTurn(history, "T", "in1", "t1");
      history.add("T", "interrupt.requested", { turnId: "t1", generation: 1 });
      endTurn(history, "T", "in1", "t1", { state: "interrupted" });
      beginTurn(history, "T", "in2", "t2");
    });
    expect(found.phase?.kind).toBe("working");
    const aimed = await shellAfter((history) => {
      openSession(history, "T");
      history.add("T", "interrupt.requested", { inputId: "in1", generation: 1 });
      beginTurn(history, "T", "in1", "t1");
    });
    expect(aimed.phase?.kind).toBe("interrupting");
  });

  it("waits for a person while a blocking request is pending, and no longer than that", async () => {
    const ask = (history: History): void => {
      openSession(history, "T");
      beginTurn(history, "T", "in1", "t1");
      history.add("T", "request.opened", {
        requestId: "q",
        turnId: "t1",
        agentPath: root,
        generation: 1,
        subjectHash: "h",
        kind: "approval",
        title: "Run it?",
      });
    };
    expect(await shellAfter(ask)).toMatchObject({
      status: { value: "needs_you" },
      session: { state: "waiting" },
      phase: { kind: "waiting", title: "Run it?" },
      pendingRequests: [{ id: "q", kind: "approval", title: "Run it?" }],
    });
    const answered = await shellAfter((history) => {
      ask(history);
      history.add("T", "request.answering", {
        requestId: "q",
        answer: { optionId: "yes" },
        by: { kind: "client", id: "phone" },
      });
    });
    expect(answered).toMatchObject({
      status: { value: "working" },
      session: { state: "running" },
      pendingRequests: [],
    });
  });

  it("counts the queue, and shows a failure until something follows it", async () => {
    const error = { class: "provider", message: "overloaded", retryable: true } as const;
    const fail = (history: History): void => {
      openSession(history, "T");
      beginTurn(history, "T", "in1", "t1");
      endTurn(history, "T", "in1", "t1", { state: "failed", error });
    };
    expect(await shellAfter(fail)).toMatchObject({
      status: { value: "error" },
      session: { state: "ready", lastError: error },
      lastTurn: { id: "t1", state: "failed", error },
    });
    const queued = await shellAfter((history) => {
      fail(history);
      const said = { text: "x", delivery: "queue", mode: "queue", origin: { kind: "user" } } as const;
      history.add("T", "input.queued", { inputId: "a", ...said });
      history.add("T", "input.queued", { inputId: "b", ...said });
      history.add("T", "input.unconfirmed", { inputId: "b", reason: "host_restart" });
      history.add("T", "queue.held", { reason: "lost" });
    });
    expect(queued).toMatchObject({ status: { value: "error" }, queued: 1, unconfirmed: 1, queueHeld: "lost" });
    const next = await shellAfter((history) => {
      fail(history);
      beginTurn(history, "T", "in2", "t2");
    });
    expect(next).toMatchObject({ status: { value: "working" }, lastTurn: { id: "t2" } });
    expect(next.session).not.toHaveProperty("lastError");
  });

  it("keeps the error that a turn told when its session then ends", async () => {
    const error = { class: "transport", message: "the process is gone", retryable: true } as const;
    const crash = { generation: 1, kind: "crash", exitCode: 3, recoverable: true } as const;
    const inTurn = await shellAfter((history) => {
      openSession(history, "T");
      beginTurn(history, "T", "in1", "t1");
      endTurn(history, "T", "in1", "t1", { state: "failed", error, settledBy: "system" });
      history.add("T", "session.exited", crash);
    });
    expect(inTurn.session).toEqual({ state: "exited", generation: 1, nativeSessionId: "n1", lastError: error });
    const idle = await shellAfter((history) => {
      openSession(history, "T");
      history.add("T", "session.exited", crash);
    });
    expect(idle.session?.lastError?.message).toContain("exit code 3");
    const unseen = await shellAfter((history) => {
      openSession(history, "T");
      history.add("T", "session.exited", { ...crash, kind: "killed", settledBy: "system" });
    });
    expect(unseen.session).not.toHaveProperty("lastError");
    const reopened = await shellAfter((history) => {
      openSession(history, "T");
      history.add("T", "session.exited", crash);
      history.add("T", "session.opening", { generation: 2, resume: "n1" });
    });
    expect(reopened).toMatchObject({ status: { value: "starting" }, phase: { kind: "opening" } });
    expect(reopened.session).toEqual({ state: "opening", generation: 2, nativeSessionId: "n1" });
  });

  it("cuts the preview to 200 code units and never inside a pair", async () => {
    const preview = async (pieces: ReadonlyArray<string>) =>
      (await shellAfter((history) => say(history, "T", "t1", "i1", pieces))).preview?.text;
    expect(await preview([`${"x".repeat(199)}🙂 and more`])).toBe("x".repeat(199));
    expect(await preview([`${"x".repeat(198)}🙂 and more`])).toBe(`${"x".repeat(198)}🙂`);
    expect(await preview(["🙂".repeat(99), "🙂🙂"])).toBe("🙂".repeat(100));
    expect(await preview([`${"x".repeat(199)}\ud83d`, "\ude42"])).toBe("x".repeat(199));
    expect(await preview(["\u0000".repeat(500)])).toBe("\u0000".repeat(200));
    const input = await shellAfter((history) => beginTurn(history, "T", "in1", "t1", `${"y".repeat(199)}🙂`));
    expect(input.preview).toEqual({ role: "user", text: "y".repeat(199) });
  });

  it("previews the newest message that stands, of the person or the root agent", async () => {
    const found = await shellAfter((history) => {
      beginTurn(history, "T", "in1", "t1", "question");
      const id = say(history, "T", "t1", "i1", ["draft"], false);
      history.add("T", "message.retracted", { messageId: id, reason: "retried" });
      history.add("T", "message.appended", {
        messageId: "deep",
        offset: 0,
        text: "sub-agent",
        start: { turnId: "t1", agentPath: ["a"], itemId: "i", segment: 0, generation: 1 },
      });
    });
    expect(found.preview).toEqual({ role: "user", text: "question" });
  });

  it("counts what the newest turn changed: by its diff, else by its completed file changes", async () => {
    const change = (
      history: History,
      turnId: string,
      itemId: string,
      path: string,
      status: "completed" | "declined",
    ) => {
      const activityId = startActivity(history, "T", turnId, itemId, {
        itemType: "file_change",
        changes: [{ path, kind: "update", diff: "@@ -1 +1,2 @@\n-a\n+b\n+c" }],
      });
      history.add("T", "activity.ended", { activityId, status });
    };
    const first = (history: History): void => {
      beginTurn(history, "T", "in1", "t1");
      change(history, "t1", "i1", "a.ts", "completed");
      change(history, "t1", "i2", "a.ts", "completed");
      change(history, "t1", "i3", "b.ts", "completed");
      change(history, "t1", "i4", "c.ts", "declined");
      endTurn(history, "T", "in1", "t1");
    };
    expect((await shellAfter(first)).changes).toEqual({ files: 2, added: 6, removed: 3 });
    const diff = "--- a\n+++ b\n@@ -0,0 +1 @@\n+x";
    const second = (history: History): void => {
      first(history);
      beginTurn(history, "T", "in2", "t2");
      history.add("T", "turn.diff_updated", { turnId: "t2", unifiedDiff: diff, size: diff.length });
    };
    expect((await shellAfter(second)).changes).toEqual({ files: 1, added: 1, removed: 0 });
    const third = await shellAfter((history) => {
      second(history);
      endTurn(history, "T", "in2", "t2");
      beginTurn(history, "T", "in3", "t3");
      change(history, "t3", "i1", "d.ts", "completed");
    });
    expect(third.changes).toEqual({ files: 1, added: 2, removed: 1 });
    const blob = await shellAfter((history) => {
      first(history);
      history.add("T", "turn.diff_updated", { turnId: "t1", blob: "hash", size: 1_000_000 });
    });
    expect(blob).toMatchObject({ changes: { files: 2, added: 6, removed: 3 }, lastTurn: { hasDiff: true } });
  });

  it("merges usage by field per basis, and shows what was reported last", async () => {
    const found = await shellAfter((history) => {
      const usage = { agentPath: root } as const;
      history.add("T", "usage.recorded", { ...usage, basis: "session", inputTokens: 10, contextWindow: 1000 });
      history.add("T", "usage.recorded", { ...usage, basis: "session", outputTokens: 5, contextTokens: 90 });
      history.add("T", "usage.recorded", { agentPath: ["a"], basis: "session", outputTokens: 999, contextTokens: 7 });
      history.add("T", "context.compacted", { state: "completed", beforeTokens: 90, afterTokens: 20 });
    });
    expect(found.usage).toEqual({
      value: { basis: "session", inputTokens: 10, outputTokens: 5, contextTokens: 90, contextWindow: 1000 },
      asOf: 3,
    });
    expect(found.context).toEqual({ value: { tokens: 20, window: 1000 }, asOf: 5 });
    const turn = await shellAfter((history) => {
      beginTurn(history, "T", "in1", "t1");
      history.add("T", "usage.recorded", { agentPath: root, turnId: "t1", basis: "turn", inputTokens: 3 });
      endTurn(history, "T", "in1", "t1", { usage: { outputTokens: 4 }, costUsd: 0.5, costBasis: "list" });
      beginTurn(history, "T", "in2", "t2");
      history.add("T", "usage.recorded", { agentPath: root, turnId: "t2", basis: "turn", outputTokens: 1 });
    });
    expect(turn.usage?.value).toEqual({ basis: "turn", outputTokens: 1 });
  });

  it("shows what no event holds, when it is told", async () => {
    const history = makeHistory();
    history.thread("T");
    const harness = await makeHarness();
    await harness.apply(history.events);
    const extras = { readTo: () => 7, runtimeOf: (instance: string) => `runtime of ${instance}` };
    expect(shell(harness.reader, "T", extras)).toMatchObject({ readTo: 7, runtime: "runtime of stub" });
  });
});

describe("lists of shells", () => {
  it("go from the most recently changed back, by project and archive, without the deleted", async () => {
    const history = makeHistory();
    for (const [id, projectId] of [
      ["a", "P"],
      ["b", "Q"],
      ["c", "P"],
      ["d", "P"],
      ["e", "Q"],
    ] as const)
      history.thread(id, { projectId });
    history.add("a", "thread.renamed", { title: "newest", by: "client" });
    history.add("c", "thread.archived", {});
    history.add("d", "thread.deleted", {});
    const harness = await makeHarness();
    await harness.apply(history.events);
    const ids = (query: Parameters<typeof shells>[1]) => {
      const { shells: found, before } = shells(harness.reader, query, noExtras);
      return [found.map((each) => each.threadId).join(""), before];
    };
    expect(ids({ limit: 10 })).toEqual(["caeb", undefined]);
    expect(ids({ limit: 10, archived: false })).toEqual(["aeb", undefined]);
    expect(ids({ limit: 10, archived: true })).toEqual(["c", undefined]);
    expect(ids({ limit: 10, projectId: "Q" })).toEqual(["eb", undefined]);
    expect(ids({ limit: 1, projectId: "P", archived: false })).toEqual(["a", undefined]);
    expect(ids({ limit: 3 })).toEqual(["cae", 5]);
    expect(ids({ limit: 3, before: 5 })).toEqual(["b", undefined]);
    expect(shell(harness.reader, "d", noExtras)).toBeUndefined();
    expect(shell(harness.reader, "c", noExtras)?.status.value).toBe("archived");
  });

  it("page through 10,000 threads, each once", async () => {
    const history = makeHistory();
    for (let n = 0; n < 10_000; n++) history.thread(`T${n}`);
    const harness = await makeHarness();
    await harness.apply(history.events);
    const seen = new Set<string>();
    let before: number | undefined;
    let pages = 0;
    let listed = 0;
    do {
      const page = shells(harness.reader, { limit: 200, ...(before === undefined ? {} : { before }) }, noExtras);
      for (const each of page.shells) seen.add(each.threadId);
      listed += page.shells.length;
      // A thread that changes meanwhile comes to the front, where the reader follows it live.
      if (pages === 0) await harness.apply([history.add("T0", "thread.renamed", { title: "moved", by: "client" })]);
      before = page.before;
      pages++;
    } while (before !== undefined);
    expect(pages).toBe(50);
    expect(seen.size).toBe(9999);
    expect(listed).toBe(9999);
    expect(shells(harness.reader, { limit: 1 }, noExtras).shells[0]?.threadId).toBe("T0");
  });
});
