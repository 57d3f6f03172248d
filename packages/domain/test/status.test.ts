import { event } from "@tributary/contracts";
import type { DomainEvent } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { closedBy, evolveThread, hasOpenWork, sessionStatus, threadStatus } from "../src/index.ts";
import {
  acting,
  answered,
  answering,
  archived,
  asked,
  began,
  closedText,
  created,
  deleted,
  discarded,
  done,
  ended,
  exited,
  expired,
  failed,
  failure,
  handedOver,
  held,
  idOf,
  interrupting,
  open,
  opening,
  person,
  queued,
  ready,
  released,
  running,
  said,
  saidMore,
  tasking,
  taskStopped,
  thought,
  turn,
  unconfirmed,
  withdrawn,
} from "./facts.ts";
import { stateAfter } from "./given.ts";

describe("derived views", () => {
  const sessionFailed = event("session.failed", { generation: 1, error: failure() });
  it.each<[string, ReadonlyArray<DomainEvent>, string | undefined, string, boolean]>([
    ["a new thread", [created()], undefined, "idle", false],
    ["a prompt queued", [created(), queued("i1")], undefined, "starting", true],
    ["opening", [created(), opening()], "opening", "starting", true],
    ["ready", open, "ready", "idle", true],
    ["a prompt on its way", [...open, queued("i1"), handedOver("i1")], "ready", "working", true],
    ["a prompt begun", [...open, queued("i1"), handedOver("i1"), began("i1")], "ready", "working", true],
    ["running", [...open, ...running()], "running", "working", true],
    ["asked", [...open, ...running(), asked("r")], "waiting", "needs_you", true],
    ["asked, without waiting", [...open, ...running(), asked("r", { blocking: false })], "running", "working", true],
    ["being answered", [...open, ...running(), asked("r"), answering("r")], "running", "working", true],
    ["done", [...open, ...running(), ended("t1"), done("i1")], "ready", "idle", true],
    ["a failed turn", [...open, ...running(), ended("t1", "failed"), done("i1")], "ready", "error", true],
    [
      "a new turn after a failed one",
      [...open, turn("t0"), ended("t0", "failed"), turn("t1")],
      "running",
      "working",
      true,
    ],
    ["an interrupted turn", [...open, ...running(), ended("t1", "interrupted"), done("i1")], "ready", "idle", true],
    ["a lost turn", [...open, ...running(), ended("t1", "lost"), done("i1"), exited()], "exited", "error", false],
    ["exited while idle", [...open, exited()], "exited", "idle", false],
    ["released", [...open, released()], "released", "idle", false],
    ["a failed opening", [created(), opening(), sessionFailed], "failed", "error", false],
    ["a held queue", [...open, exited(), queued("q", "queue"), held("failed")], "exited", "idle", true],
    [
      "unsettled inputs",
      [created(), queued("f"), failed("f"), queued("u"), unconfirmed("u", "x")],
      undefined,
      "idle",
      false,
    ],
    ["archived", [...open, ...running(), archived], "running", "archived", true],
    ["a background task", [...open, tasking("bg", "background")], "ready", "idle", true],
    ["deleted", [created(), deleted], undefined, "idle", false],
  ])("%s", (_, history, session, thread, openWork) => {
    const state = stateAfter(...history);
    expect(sessionStatus(state)).toBe(session);
    expect(threadStatus(state)).toBe(thread);
    expect(hasOpenWork(state)).toBe(openWork);
  });

  it("open work is also what should not be there without a session", () => {
    expect(hasOpenWork(stateAfter(created(), turn("t1")))).toBe(true);
    expect(hasOpenWork(stateAfter(created(), asked("r")))).toBe(true);
    expect(hasOpenWork(stateAfter(created(), tasking("k", "subagent")))).toBe(true);
    expect(hasOpenWork(stateAfter(created(), interrupting({ turnId: "t1" })))).toBe(true);
  });
});

describe("closedBy", () => {
  const active = [...open, ...running()];
  const id = idOf({ turnId: "t1" });
  const hello = said("Hello", { turnId: "t1" });
  const closedHello = [...active, hello, closedText(id, 5)];
  const replaced = event("message.replaced", { messageId: id, text: "Bye" });
  const retracted = event("message.retracted", { messageId: id, reason: "x" });
  const reasoned = event("reasoning.completed", { reasoningId: "t1//r#r0", length: 2 });

  it.each<[string, ReadonlyArray<DomainEvent>, DomainEvent, object | undefined]>([
    ["a turn", active, ended("t1", "failed"), { kind: "turn", id: "t1", state: "failed", generation: 1 }],
    ["an input done", active, done("i1", "t1"), { kind: "input", id: "i1", state: "done", turnId: "t1" }],
    ["an input done, its turn unsaid", active, done("i1"), { kind: "input", id: "i1", state: "done", turnId: "t1" }],
    ["an input withdrawn", [...open, queued("q")], withdrawn("q"), { kind: "input", id: "q", state: "withdrawn" }],
    ["an input discarded", [...open, queued("q")], discarded("q"), { kind: "input", id: "q", state: "discarded" }],
    ["a failed input", [...open, queued("q")], failed("q"), undefined],
    ["an unconfirmed input", [...open, queued("q")], unconfirmed("q", "x"), undefined],
    [
      "an answered request",
      [...active, asked("r"), answering("r")],
      answered("r"),
      { kind: "request", id: "r", state: "answered", by: person, answer: { optionId: "yes" } },
    ],
    ["an expired request", [...active, asked("r")], expired("r", "x"), { kind: "request", id: "r", state: "expired" }],
    [
      "a withdrawn request",
      [...active, asked("r")],
      event("request.withdrawn", { requestId: "r", reason: "x" }),
      { kind: "request", id: "r", state: "withdrawn" },
    ],
    ["a growing message", [...active, hello], saidMore(id, 5, "!"), undefined],
    ["a new message", active, hello, undefined],
    ["a closed message", [...active, hello], closedText(id, 5), { kind: "text", id, length: 5, retracted: false }],
    [
      "a closed message that grows",
      closedHello,
      saidMore(id, 5, "!"),
      { kind: "text", id, length: 6, retracted: false },
    ],
    ["an open message replaced", [...active, hello], replaced, undefined],
    ["a closed message replaced", closedHello, replaced, { kind: "text", id, length: 3, retracted: false }],
    ["a message retracted", [...active, hello], retracted, { kind: "text", id, length: 5, retracted: true }],
    ["a closed message retracted", closedHello, retracted, { kind: "text", id, length: 0, retracted: true }],
    [
      "reasoning",
      [...active, thought("hm", "t1")],
      reasoned,
      { kind: "text", id: "t1//r#r0", length: 2, retracted: false },
    ],
    [
      "closed reasoning that grows",
      [...active, thought("hm", "t1"), reasoned],
      event("reasoning.appended", { reasoningId: "t1//r#r0", kind: "full", offset: 2, text: "m" }),
      { kind: "text", id: "t1//r#r0", length: 3, retracted: false },
    ],
    [
      "an activity",
      [...active, acting("a")],
      event("activity.ended", { activityId: "t1//a", status: "declined" }),
      { kind: "activity", id: "t1//a", status: "declined" },
    ],
    [
      "a task",
      [...active, tasking("k", "subagent")],
      taskStopped("k"),
      { kind: "task", id: "k", status: "interrupted" },
    ],
    ["a session", open, exited(), undefined],
  ])("%s", (_, history, event, closed) => {
    expect(closedBy(stateAfter(...history), event)).toStrictEqual(closed);
  });

  it("of an unknown event is nothing (I18)", () => {
    const unknown = { type: "constructor", payload: {} } as unknown as DomainEvent;
    expect(closedBy(stateAfter(created()), unknown)).toBeUndefined();
  });
});

describe("evolveThread", () => {
  it("counts every event, and skips what it does not know (I18)", () => {
    const before = stateAfter(...open, ...running());
    expect(before.version).toBe(open.length + running().length);
    for (const type of ["thread.starred", "constructor", "__proto__"]) {
      const unknown = { type, payload: { any: 1 } } as unknown as DomainEvent;
      expect(evolveThread(before, unknown, "T")).toStrictEqual({ ...before, version: before.version + 1 });
    }
    expect(evolveThread(before, created(), "T")).toStrictEqual({ ...before, version: before.version + 1 });
  });

  it("needs a stream that begins at its beginning", () => {
    expect(() => evolveThread(undefined, archived, "T")).toThrow(/begins with thread.archived/);
  });

  it("a session that is over leaves nothing to stop", () => {
    const sessionFailed = event("session.failed", { generation: 1, error: failure() });
    for (const over of [exited(), released(), sessionFailed])
      expect(stateAfter(...open, interrupting({ inputId: "i1" }), over)).not.toHaveProperty("interrupt");
  });

  it("a request whose answer did not arrive is as before it", () => {
    const notDelivered = event("request.delivery_failed", { requestId: "r", error: failure() });
    const before = stateAfter(...open, ...running(), asked("r"));
    const after = stateAfter(...open, ...running(), asked("r"), answering("r"), notDelivered);
    expect(after.requests).toStrictEqual(before.requests);
  });

  it("an event of another generation than the newest session's changes nothing (I6)", () => {
    const before = stateAfter(...open, exited(), opening(2), ready(2), ...running(), interrupting({ turnId: "t1" }));
    for (const stale of [exited(1), released(1), event("session.configured", { generation: 1, model: "old" })])
      expect(evolveThread(before, stale, "T")).toStrictEqual({ ...before, version: before.version + 1 });
  });
});
