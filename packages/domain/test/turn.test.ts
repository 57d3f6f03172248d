import { event } from "@tributary/contracts";
import type { DomainEvent, InternalCommandOf, RefusalReason } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import {
  acting,
  answered,
  answering,
  asked,
  began,
  closedText,
  created,
  done,
  ended,
  exited,
  expired,
  failure,
  handedOver,
  held,
  idOf,
  interrupting,
  open,
  opening,
  queued,
  ready,
  running,
  said,
  stopped,
  tasking,
  taskStopped,
  thought,
  turn,
  unconfirmed,
} from "./facts.ts";
import { given } from "./given.ts";

type Start = InternalCommandOf<"turn.start">;
const start = (turnId = "t1", over: Partial<Start> = {}): Start => ({
  type: "turn.start",
  turnId,
  generation: 1,
  ...over,
});
type End = InternalCommandOf<"turn.end">;
const end = (turnId: string | undefined = "t1", over: Partial<End> = {}): End => ({
  type: "turn.end",
  ...(turnId === undefined ? {} : { turnId }),
  generation: 1,
  outcome: "completed",
  ...over,
});
/** `turn.end` that names no turn. */
const endUnnamed: End = { type: "turn.end", generation: 1, outcome: "completed" };
const inFlight = [...open, queued("i1"), handedOver("i1")];

describe("turn.start", () => {
  it("runs the prompt that waits", () => {
    given(...inFlight)
      .told(start("t1", { model: "m", effort: "high" }))
      .thenEvents(turn("t1", ["i1"], { model: "m", effort: "high" }), began("i1", "t1"));
  });

  it("runs the inputs that the runtime names", () => {
    given(...inFlight)
      .told(start("t1", { inputIds: ["i1"] }))
      .thenEvents(turn("t1", ["i1"]), began("i1", "t1"));
    given(...inFlight)
      .told(start("t1", { inputIds: ["foreign"] }))
      .thenEvents(turn("t1"));
    given(...inFlight)
      .told(start("t1", { inputIds: [] }))
      .thenEvents(turn("t1", ["i1"]), began("i1", "t1"));
  });

  it("runs an input that was given up, when the runtime names it", () => {
    given(...inFlight, unconfirmed("i1", "timeout"))
      .told(start("t1", { inputIds: ["i1"] }))
      .thenEvents(turn("t1", ["i1"]), began("i1", "t1"));
    given(...inFlight, unconfirmed("i1", "timeout"))
      .told(start())
      .thenEvents(turn("t1"));
  });

  it("takes over an input that began before its turn was seen", () => {
    given(...inFlight, began("i1"))
      .told(start())
      .thenEvents(turn("t1", ["i1"]));
    given(...inFlight, began("i1", "t1"))
      .told(start())
      .thenEvents(turn("t1", ["i1"]));
    given(...inFlight, began("i1", "t2"))
      .told(start())
      .thenEvents(turn("t1"));
    expect(given(...inFlight, began("i1"), turn("t1", ["i1"])).state?.inputs).toStrictEqual([
      { inputId: "i1", state: "started", mode: "prompt", generation: 1, turnId: "t1" },
    ]);
  });

  it("of the runtime's own takes no input", () => {
    given(...open)
      .told(start())
      .thenEvents(turn("t1"));
    given(...inFlight)
      .told(start("t1", { origin: "runtime" }))
      .thenEvents(turn("t1"));
  });

  it("again is nothing new", () => {
    given(...open, turn("t1"))
      .told(start())
      .thenNothing();
  });

  it("of another turn supersedes the active one only when a prompt waits", () => {
    given(...open, turn("t0"), acting("a", { turnId: "t0" }), queued("q", "queue"))
      .told(start())
      .thenRefused("turn_active");
    given(...inFlight, turn("t0"), acting("a", { turnId: "t0" }), queued("q", "queue"))
      .told(start())
      .thenEvents(
        stopped("t0//a"),
        ended("t0", "superseded", { settledBy: "system" }),
        turn("t1", ["i1"]),
        began("i1", "t1"),
      );
  });

  it.each<[string, RefusalReason, ReadonlyArray<DomainEvent>, Start]>([
    ["no session", "no_session", [created()], start()],
    ["another generation", "other_generation", open, start("t1", { generation: 2 })],
    ["a session over", "session_over", [...open, exited()], start()],
    ["a turn that is over", "turn_over", [...open, turn("t1"), ended("t1")], start()],
    [
      "a turn of an earlier session",
      "turn_over",
      [...open, turn("t1"), ended("t1", "lost"), exited(), opening(2), ready(2)],
      start("t1", { generation: 2 }),
    ],
  ])("is refused with %s", (_, reason, history, command) => {
    given(...history)
      .told(command)
      .thenRefused(reason);
  });
});

describe("turn.end", () => {
  const history = [...open, ...running()];

  it("keeps what the runtime said of it", () => {
    const told = { stopReason: "max_tokens", usage: { inputTokens: 3 }, costUsd: 0.5, costBasis: "billed" } as const;
    given(...history)
      .told(end("t1", told))
      .thenEvents(ended("t1", "completed", told), done("i1", "t1"));
    given(...history)
      .told(end("t1", { outcome: "failed", error: failure() }))
      .thenEvents(ended("t1", "failed", { error: failure() }), done("i1", "t1"));
  });

  it("settles its texts, items, requests and sub-agents in that order; background tasks live on", () => {
    given(
      ...history,
      tasking("sub", "subagent"),
      tasking("bg", "background"),
      asked("r"),
      acting("a"),
      thought("hm", "t1"),
      said("Hello", { turnId: "t1" }),
    )
      .told(end())
      .thenEvents(
        event("reasoning.completed", { reasoningId: "t1//r#r0", length: 2, settledBy: "system" }),
        closedText(idOf({ turnId: "t1" }), 5, "system"),
        stopped("t1//a"),
        expired("r", "turn_ended"),
        taskStopped("sub"),
        ended("t1"),
        done("i1", "t1"),
      );
  });

  it("leaves alone background work that is no agent", () => {
    given(...history, tasking("sh", "background", { childPath: [] }), acting("a", { turnId: "t1" }))
      .told(end())
      .thenEvents(stopped("t1//a"), ended("t1"), done("i1", "t1"));
  });

  it("leaves alone what a background agent does", () => {
    const inside = { turnId: "t1", agentPath: ["bg", "child"] };
    const background = [
      ...history,
      tasking("bg", "background"),
      acting("a", inside),
      asked("r", inside),
      tasking("sub", "subagent", { agentPath: ["bg"], childPath: ["bg", "child"] }),
    ];
    given(...background)
      .told(end())
      .thenEvents(ended("t1"), done("i1", "t1"));
    // The end of the task settles what only it kept alive.
    given(...background, ended("t1"), done("i1", "t1"))
      .told({ type: "task.end", taskId: "bg", status: "completed" })
      .thenEvents(
        stopped("t1/bg.child/a"),
        expired("r", "task_ended"),
        taskStopped("sub"),
        event("task.ended", { taskId: "bg", status: "completed" }),
      );
    // In its own turn a task's end settles nothing else.
    given(...background)
      .told({ type: "task.end", taskId: "bg", status: "completed" })
      .thenEvents(event("task.ended", { taskId: "bg", status: "completed" }));
  });

  it.each([
    ["completed", expired("r", "turn_ended"), answered("r2", { delivery: "unconfirmed" }), undefined],
    ["failed", expired("r", "turn_ended"), answered("r2", { delivery: "unconfirmed" }), held("failed", "t1")],
    [
      "interrupted",
      event("request.withdrawn", { requestId: "r", reason: "turn_interrupted" }),
      event("request.withdrawn", { requestId: "r2", reason: "turn_interrupted" }),
      held("interrupted", "t1"),
    ],
  ] as const)("%s: its requests and the queue", (outcome, first, second, holds) => {
    given(...history, asked("r"), asked("r2"), answering("r2"), queued("q", "queue"))
      .told(end("t1", { outcome }))
      .thenEvents(first, second, ended("t1", outcome), done("i1", "t1"), ...(holds === undefined ? [] : [holds]));
  });

  it("holds a queue once, and no empty one", () => {
    given(...history)
      .told(end("t1", { outcome: "failed" }))
      .thenEvents(ended("t1", "failed"), done("i1", "t1"));
    given(...history, queued("q", "queue"), held("lost"))
      .told(end("t1", { outcome: "failed" }))
      .thenEvents(ended("t1", "failed"), done("i1", "t1"));
  });

  it("ends the interrupt that named it, whatever it says", () => {
    for (const outcome of ["completed", "interrupted", "failed"] as const) {
      given(...history, interrupting({ turnId: "t1" }))
        .told(end("t1", { outcome }))
        .thenEvents(ended("t1", outcome), done("i1", "t1"));
      expect(given(...history, interrupting({ turnId: "t1" }), ended("t1", outcome)).state).not.toHaveProperty(
        "interrupt",
      );
    }
  });

  it("of a turn that is over finalises what still stands under it, and nothing else (I6)", () => {
    const leftover = [
      ...history,
      acting("a"),
      ended("t1"),
      done("i1", "t1"),
      turn("t2"),
      acting("b", { turnId: "t2" }),
    ];
    given(...leftover)
      .told(end("t1"))
      .thenEvents(stopped("t1//a"));
  });

  it.each<[string, RefusalReason, ReadonlyArray<DomainEvent>, End]>([
    ["no session", "no_session", [created()], end()],
    ["another generation", "other_generation", history, end("t1", { generation: 2 })],
    ["a session over", "session_over", [...open, exited()], end()],
    ["another turn active", "not_active_turn", history, end("t9")],
    ["no turn named while one is active", "not_active_turn", history, endUnnamed],
    ["no turn named and none active", "no_active_turn", open, endUnnamed],
    ["a turn never seen", "turn_unknown", open, end()],
    ["a turn that is over", "turn_over", [...history, ended("t1"), done("i1", "t1")], end()],
    [
      "an older turn over while another runs",
      "turn_over",
      [...history, ended("t1"), done("i1", "t1"), turn("t2")],
      end(),
    ],
  ])("is refused with %s", (_, reason, events, command) => {
    given(...events)
      .told(command)
      .thenRefused(reason);
  });
});

describe("plan and diff of a turn", () => {
  const plan = { type: "turn.plan", generation: 1, turnId: "t1", agentPath: [], steps: [] } as const;
  const diff = { type: "turn.diff", generation: 1, turnId: "t1", unifiedDiff: "+a", size: 2 } as const;
  const history = [...open, turn("t1")];

  it("are kept as given", () => {
    given(...history)
      .told(plan)
      .thenEvents(event("turn.plan_updated", { turnId: "t1", agentPath: [], steps: [] }));
    given(...history)
      .told(diff)
      .thenEvents(event("turn.diff_updated", { turnId: "t1", unifiedDiff: "+a", size: 2 }));
  });

  it("a last diff may follow the end, a plan may not", () => {
    given(...history, ended("t1"))
      .told(diff)
      .thenEvents(event("turn.diff_updated", { turnId: "t1", unifiedDiff: "+a", size: 2 }));
    given(...history, ended("t1"))
      .told(plan)
      .thenRefused("turn_over");
  });

  it.each([plan, diff])("$type: of nothing known are refused", (command) => {
    given(created()).told(command).thenRefused("no_session");
    given(...open)
      .told(command)
      .thenRefused("turn_unknown");
    given(...history)
      .told({ ...command, generation: 2 })
      .thenRefused("other_generation");
    given(...history, ended("t1"), exited())
      .told(command)
      .thenRefused("session_over");
    given(...history, ended("t1"), exited(), opening(2), ready(2))
      .told({ ...command, generation: 2 })
      .thenRefused("other_generation");
  });
});
