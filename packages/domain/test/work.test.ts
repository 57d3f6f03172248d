import { event } from "@tributary/contracts";
import type { DomainEvent, InternalCommand, InternalCommandOf, RefusalReason } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { acting, created, ended, exited, open, opening, ready, stopped, tasking, taskStopped, turn } from "./facts.ts";
import { given } from "./given.ts";

const active = [...open, turn("t1")];

describe("activities", () => {
  type Start = InternalCommandOf<"activity.start">;
  const start = (over: Partial<Start> = {}): Start => ({
    type: "activity.start",
    activityId: "t1//a",
    itemId: "a",
    itemType: "command",
    turnId: "t1",
    agentPath: [],
    generation: 1,
    ...over,
  });
  const update = { type: "activity.update", activityId: "t1//a", title: "ls" } as const;
  const end = { type: "activity.end", activityId: "t1//a", status: "completed", exitCode: 0 } as const;
  const endedAs = event("activity.ended", { activityId: "t1//a", status: "completed", exitCode: 0 });

  it("start, move and end once", () => {
    given(...active)
      .told(start())
      .thenEvents(acting("a"));
    given(...active, acting("a"))
      .told(start())
      .thenNothing();
    given(...active, acting("a"))
      .told(update)
      .thenEvents(event("activity.updated", { activityId: "t1//a", title: "ls" }));
    given(...active, acting("a"))
      .told(end)
      .thenEvents(endedAs);
    for (const command of [start(), update, end])
      given(...active, acting("a"), endedAs)
        .told<InternalCommand["type"]>(command)
        .thenRefused("item_over");
    for (const command of [update, end])
      given(...active)
        .told<InternalCommand["type"]>(command)
        .thenRefused("invalid");
  });

  it.each<[string, ReadonlyArray<DomainEvent>, RefusalReason]>([
    ["turn", [ended("t1")], "turn_over"],
    ["session", [ended("t1", "lost"), exited()], "session_over"],
  ])("of a %s that is over come with their end, or not at all", (_, over, reason) => {
    const status = "failed";
    given(...active, ...over)
      .told(start({ status }))
      .thenEvents(
        event("activity.started", {
          activityId: "t1//a",
          itemId: "a",
          itemType: "command",
          turnId: "t1",
          agentPath: [],
          generation: 1,
          status,
        }),
        event("activity.ended", { activityId: "t1//a", status }),
      );
    for (const command of [start(), start({ status: "in_progress" })])
      given(...active, ...over)
        .told(command)
        .thenRefused(reason);
  });

  it("of a background agent go on after its turn", () => {
    const inside = { agentPath: ["bg"], activityId: "t1/bg/a" };
    given(...active, tasking("bg", "background"), ended("t1"))
      .told(start(inside))
      .thenEvents(acting("a", { turnId: "t1", agentPath: ["bg"] }));
    given(...active, tasking("bg", "background"), ended("t1"), taskStopped("bg"))
      .told(start(inside))
      .thenRefused("turn_over");
    // The root agent is no background agent, whatever task there is.
    given(...active, tasking("bg", "background", { childPath: [] }), ended("t1"))
      .told(start())
      .thenRefused("turn_over");
  });

  it.each<[string, RefusalReason, ReadonlyArray<DomainEvent>, Start]>([
    ["no session", "no_session", [created()], start()],
    ["another generation", "other_generation", active, start({ generation: 2 })],
    ["a turn never seen", "turn_unknown", active, start({ turnId: "t9" })],
    [
      "a turn of an earlier session",
      "other_generation",
      [...active, ended("t1"), exited(), opening(2), ready(2)],
      start({ generation: 2 }),
    ],
  ])("of %s are refused", (_, reason, history, command) => {
    given(...history)
      .told(command)
      .thenRefused(reason);
  });
});

describe("tasks", () => {
  type Start = InternalCommandOf<"task.start">;
  const start = (over: Partial<Start> = {}): Start => ({
    type: "task.start",
    taskId: "k",
    kind: "subagent",
    turnId: "t1",
    agentPath: [],
    childPath: ["k"],
    generation: 1,
    ...over,
  });
  const update = { type: "task.update", taskId: "k", title: "look" } as const;
  const end = { type: "task.end", taskId: "k", status: "completed", summary: "found" } as const;
  const endedAs = event("task.ended", { taskId: "k", status: "completed", summary: "found" });

  it("start, move and end once", () => {
    given(...active)
      .told(start())
      .thenEvents(tasking("k", "subagent"));
    given(...active, tasking("k", "subagent"))
      .told(start())
      .thenNothing();
    given(...active, tasking("k", "subagent"))
      .told(update)
      .thenEvents(event("task.updated", { taskId: "k", title: "look" }));
    given(...active, tasking("k", "subagent"))
      .told(end)
      .thenEvents(endedAs);
    for (const command of [start(), update, end])
      given(...active, tasking("k", "subagent"), endedAs)
        .told<InternalCommand["type"]>(command)
        .thenRefused("task_over");
    for (const command of [update, end])
      given(...active)
        .told<InternalCommand["type"]>(command)
        .thenRefused("invalid");
  });

  it("background work may begin after the turn, and live on in it", () => {
    given(...active, ended("t1"))
      .told(start({ kind: "background" }))
      .thenEvents(tasking("k", "background"));
    given(...active, ended("t1"))
      .told(start())
      .thenRefused("turn_over");
    given(...active, tasking("bg", "background"), ended("t1"))
      .told(start({ agentPath: ["bg"], childPath: ["bg", "k"] }))
      .thenEvents(tasking("k", "subagent", { agentPath: ["bg"], childPath: ["bg", "k"] }));
    given(...active, tasking("k", "background"), ended("t1"))
      .told(end)
      .thenEvents(endedAs);
  });

  it("the end of one does not touch what another keeps alive, nor the active turn", () => {
    given(
      ...active,
      tasking("b1", "background"),
      tasking("b2", "background"),
      acting("a1", { turnId: "t1", agentPath: ["b1"] }),
      acting("a2", { turnId: "t1", agentPath: ["b2"] }),
      ended("t1"),
      turn("t2"),
      acting("a3", { turnId: "t2" }),
    )
      .told({ type: "task.end", taskId: "b1", status: "failed" })
      .thenEvents(stopped("t1/b1/a1"), event("task.ended", { taskId: "b1", status: "failed" }));
  });

  it.each<[string, RefusalReason, ReadonlyArray<DomainEvent>, Start]>([
    ["no session", "no_session", [created()], start()],
    ["another generation", "other_generation", active, start({ generation: 2 })],
    ["a session over", "session_over", [...active, ended("t1"), exited()], start({ kind: "background" })],
    ["a turn never seen", "turn_unknown", active, start({ turnId: "t9" })],
  ])("of %s are refused", (_, reason, history, command) => {
    given(...history)
      .told(command)
      .thenRefused(reason);
  });
});

describe("reports", () => {
  it("are kept as given", () => {
    given(created())
      .told({ type: "usage.record", agentPath: [], basis: "turn", inputTokens: 3 })
      .thenEvents(event("usage.recorded", { agentPath: [], basis: "turn", inputTokens: 3 }));
    given(created())
      .told({ type: "context.compact", state: "completed", beforeTokens: 9 })
      .thenEvents(event("context.compacted", { state: "completed", beforeTokens: 9 }));
    given(created())
      .told({ type: "notice.record", noticeId: "n", level: "info", code: "x", message: "m" })
      .thenEvents(event("notice.recorded", { noticeId: "n", level: "info", code: "x", message: "m" }));
    given(created())
      .told({ type: "model.reroute", from: "a", to: "b" })
      .thenEvents(event("model.rerouted", { from: "a", to: "b" }));
  });

  it("one proposed plan is open at a time", () => {
    const proposed = (planId: string) => event("plan.proposed", { planId, agentPath: [], markdown: "#" });
    const propose = (planId: string) => ({ type: "plan.propose", planId, agentPath: [], markdown: "#" }) as const;
    given(created()).told(propose("p1")).thenEvents(proposed("p1"));
    given(created(), proposed("p1")).told(propose("p1")).thenEvents(proposed("p1"));
    given(created(), proposed("p1"))
      .told(propose("p2"))
      .thenEvents(event("plan.resolved", { planId: "p1", outcome: "superseded" }), proposed("p2"));
    expect(given(created(), proposed("p1"), proposed("p1")).state?.plans).toStrictEqual(["p1"]);
  });
});
