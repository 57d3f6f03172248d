/** The table of design 4.3, row by row. */
import type { RuntimeEvent } from "@tributary/contracts";
import type { Closed, Lookups, ThreadState } from "@tributary/domain";
import { describe, expect, it } from "vitest";
import { guard } from "../src/guard/guard.ts";
import {
  completed,
  delta,
  exited,
  itemCompleted,
  itemStarted,
  itemUpdated,
  looseDelta,
  requestOpened,
  retracted,
  turnCompleted,
  turnCompletedUnnamed,
  turnStarted,
} from "./events.ts";
import { capabilities, World } from "./world.ts";

/** Turn t1 ended, turn t2 runs. */
const afterOneTurn = (): World => {
  const world = new World();
  world.feed(turnStarted("t1"));
  world.feed(turnCompleted("t1"));
  world.feed(turnStarted("t2"));
  return world;
};

const idle = (): World => {
  const world = new World();
  world.feed(turnStarted("t1"));
  world.feed(turnCompleted("t1"));
  return world;
};

const over = (): World => {
  const world = afterOneTurn();
  world.feed(exited);
  return world;
};

interface Around {
  readonly generation?: number;
  readonly state?: ThreadState | undefined;
}

const ask = (world: World, event: RuntimeEvent, around: Around = {}) => {
  const state = "state" in around ? around.state : world.state;
  const verdict = guard(event, { generation: around.generation ?? 1, state, look: world.look });
  return "reason" in verdict ? `${verdict.verdict}: ${verdict.reason}` : verdict.verdict;
};

const of = <T extends RuntimeEvent["type"]>(type: T, payload: Extract<RuntimeEvent, { type: T }>["payload"]) =>
  ({ type, payload }) as RuntimeEvent;

const usage = of("usage.updated", { basis: "session", inputTokens: 1 });
const notice = of("notice", { level: "info", code: "c", message: "m" });
const resolved = (requestId: string): RuntimeEvent => ({
  type: "request.resolved",
  requestId,
  payload: { outcome: "answered" },
});
const inputState = (inputId: string): RuntimeEvent => of("input.state", { inputId, state: "started" });
const task = (type: "task.started" | "task.updated" | "task.completed", turnId: string, taskId = "k"): RuntimeEvent =>
  ({ type, turnId, payload: { taskId, kind: "background", agentPath: ["bg"] } }) as RuntimeEvent;

const everything: ReadonlyArray<RuntimeEvent> = [
  of("session.started", { nativeSessionId: "n", resumed: false, cwd: "/p", capabilities }),
  of("session.configured", { model: "m" }),
  of("session.state", { state: "error" }),
  exited,
  of("session.title", { title: "t" }),
  turnStarted("t9"),
  turnCompleted("t2"),
  of("turn.plan", { steps: [] }),
  { type: "turn.diff", turnId: "t2", payload: { unifiedDiff: "" } },
  of("proposed_plan.delta", { planId: "p", text: "x" }),
  of("proposed_plan.completed", { planId: "p", markdown: "x" }),
  itemStarted("i", "command", {}, { turnId: "t2" }),
  itemUpdated("i", "command", {}, { turnId: "t2" }),
  itemCompleted("i", "command", {}, { turnId: "t2" }),
  delta("x", { turnId: "t2" }),
  { ...retracted(), turnId: "t2" },
  inputState("i"),
  requestOpened("r", { turnId: "t2" }),
  resolved("r"),
  task("task.started", "t2"),
  task("task.updated", "t2"),
  task("task.completed", "t2"),
  usage,
  of("context.compacted", { state: "started" }),
  of("retry.scheduled", { attempt: 1, reason: "r" }),
  of("model.rerouted", { from: "a", to: "b" }),
  of("account.limits", { windows: [] }),
  of("mcp.status", { servers: [] }),
  of("commands.available", { commands: [] }),
  notice,
  of("runtime.error", { class: "unknown", message: "m", retryable: false, fatal: true }),
  of("unknown", { kind: "k" }),
];

describe("any event", () => {
  it("of an unknown or deleted thread is refused", () => {
    const world = afterOneTurn();
    for (const event of everything) {
      expect(ask(world, event, { state: undefined })).toBe("refuse: thread_unknown");
      expect(ask(world, event, { state: { ...world.state!, deleted: true } })).toBe("refuse: thread_deleted");
    }
  });

  it("of an archived thread is handled as usual", () => {
    const world = afterOneTurn();
    world.apply({ type: "thread.archived", payload: {} });
    expect(ask(world, delta("x", { turnId: "t2" }))).toBe("apply");
  });

  it("of another generation than the current one is refused, an old incarnation's exit included", () => {
    const world = afterOneTurn();
    for (const event of everything) {
      expect(ask(world, event, { generation: 2 })).toBe("refuse: other_generation");
      expect(ask(world, event, { generation: 7 })).toBe("refuse: other_generation");
    }
  });

  it("before there is a session is refused", () => {
    const { session: _, ...state } = new World().state!;
    for (const event of everything) expect(ask(new World(), event, { state })).toBe("refuse: no_session");
  });
});

describe("after this generation's end", () => {
  it("text and item ends finalise their own turn; the rest is refused", () => {
    const world = over();
    for (const event of everything) {
      const finalises = event.type === "content.delta" || event.type === "item.completed";
      expect(ask(world, event)).toBe(finalises ? "late" : "refuse: session_over");
    }
  });

  it("text of no turn, or of a turn that never was, is refused", () => {
    expect(ask(over(), looseDelta("x"))).toBe("refuse: session_over");
    expect(ask(over(), delta("x", { turnId: "t9" }))).toBe("refuse: session_over");
  });

  it("a released or failed session is as over as one that exited", () => {
    const world = afterOneTurn();
    const session = world.state!.session!;
    for (const state of ["released", "failed"] as const)
      expect(ask(world, notice, { state: { ...world.state!, session: { ...session, state } } })).toBe(
        "refuse: session_over",
      );
  });
});

describe("session.started again, session.state", () => {
  const started = (facts: { readonly model?: string; readonly effort?: string; readonly nativeSessionId?: string }) =>
    of("session.started", { nativeSessionId: "n1", resumed: true, cwd: "/p", capabilities, ...facts });

  it("never reset a turn: new facts apply, known ones are folded", () => {
    expect(ask(afterOneTurn(), started({}))).toBe("fold: nothing new");
    expect(ask(afterOneTurn(), started({ model: "other" }))).toBe("apply");
    expect(ask(afterOneTurn(), started({ nativeSessionId: "cleared" }))).toBe("apply");
  });

  it("while opening, the opening says the facts", () => {
    const world = afterOneTurn();
    const session = { ...world.state!.session!, state: "opening" } as const;
    expect(ask(world, started({ model: "x" }), { state: { ...world.state!, session } })).toBe(
      "fold: its opening says it",
    );
  });

  it("states are derived, not said; an error is told", () => {
    for (const state of ["starting", "ready"] as const)
      expect(ask(afterOneTurn(), of("session.state", { state }))).toBe("fold: derived, not said");
    expect(ask(afterOneTurn(), of("session.state", { state: "error" }))).toBe("apply");
  });
});

describe("turn.started", () => {
  it("applies when no other turn is active", () => expect(ask(idle(), turnStarted("t2"))).toBe("apply"));
  it("of the active turn again is ignored", () =>
    expect(ask(afterOneTurn(), turnStarted("t2"))).toBe("fold: already active"));
  it("of a turn that ended is refused", () => {
    expect(ask(afterOneTurn(), turnStarted("t1"))).toBe("refuse: turn_over");
    expect(ask(idle(), turnStarted("t1"))).toBe("refuse: turn_over");
  });
  it("while another is active is refused", () =>
    expect(ask(afterOneTurn(), turnStarted("t3"))).toBe("refuse: turn_active"));
  it("without a name is refused", () => expect(ask(idle(), of("turn.started", {}))).toBe("refuse: invalid"));

  const withInput = (mode: "prompt" | "steer"): ThreadState => ({
    ...afterOneTurn().state!,
    inputs: [{ inputId: "i", state: "handed_over", mode, generation: 1 }],
  });
  it("while another is active and a handed-over prompt waits for its start is accepted", () =>
    expect(ask(afterOneTurn(), turnStarted("t3"), { state: withInput("prompt") })).toBe("apply"));
  it("a handed-over steer waits for no start", () =>
    expect(ask(afterOneTurn(), turnStarted("t3"), { state: withInput("steer") })).toBe("refuse: turn_active"));
});

describe("turn.completed", () => {
  it("of the active turn applies", () => expect(ask(afterOneTurn(), turnCompleted("t2"))).toBe("apply"));
  it("of another turn is refused", () => {
    expect(ask(afterOneTurn(), turnCompleted("t1"))).toBe("refuse: turn_over");
    expect(ask(afterOneTurn(), turnCompleted("t9"))).toBe("refuse: not_active_turn");
    expect(ask(idle(), turnCompleted("t1"))).toBe("refuse: turn_over");
    expect(ask(idle(), turnCompleted("t9"))).toBe("refuse: turn_unknown");
  });
  it("without a name is refused: a late end must not end the next turn", () => {
    expect(ask(afterOneTurn(), turnCompletedUnnamed)).toBe("refuse: not_active_turn");
    expect(ask(idle(), turnCompletedUnnamed)).toBe("refuse: no_active_turn");
  });
});

describe("content.delta", () => {
  it("of the active turn applies", () => expect(ask(afterOneTurn(), delta("x", { turnId: "t2" }))).toBe("apply"));
  it("of a turn that ended is late: its own message, never another turn's", () =>
    expect(ask(afterOneTurn(), delta("x", { turnId: "t1" }))).toBe("late"));
  it("of a turn that never began is refused", () =>
    expect(ask(afterOneTurn(), delta("x", { turnId: "t9" }))).toBe("refuse: turn_unknown"));
  it("of no turn applies, whatever turn is active", () => {
    expect(ask(afterOneTurn(), looseDelta("x"))).toBe("apply");
    expect(ask(idle(), looseDelta("x"))).toBe("apply");
  });
  it("of an earlier generation's turn is refused", () => {
    const world = idle();
    world.open(2);
    expect(ask(world, delta("x", { turnId: "t1" }), { generation: 2 })).toBe("refuse: other_generation");
  });
});

describe("items", () => {
  it("without a start apply: the activity is created", () => {
    expect(ask(afterOneTurn(), itemUpdated("i", "command", {}, { turnId: "t2" }))).toBe("apply");
    expect(ask(afterOneTurn(), itemCompleted("i", "command", {}, { turnId: "t2" }))).toBe("apply");
  });
  it("of an ended turn: only an end finalises", () => {
    expect(ask(afterOneTurn(), itemStarted("i", "command", {}, { turnId: "t1" }))).toBe("refuse: turn_over");
    expect(ask(afterOneTurn(), itemUpdated("i", "command", {}, { turnId: "t1" }))).toBe("refuse: turn_over");
    expect(ask(afterOneTurn(), itemCompleted("i", "command", {}, { turnId: "t1" }))).toBe("late");
    expect(ask(afterOneTurn(), retracted())).toBe("refuse: turn_over");
  });
  it("that are over are refused", () => {
    const world = afterOneTurn();
    world.feed(itemCompleted("i", "command", {}, { turnId: "t2" }));
    for (const make of [itemStarted, itemUpdated, itemCompleted])
      expect(ask(world, make("i", "command", {}, { turnId: "t2" }))).toBe("refuse: item_over");
  });
  it("without an id are refused", () => {
    const { itemId: _, ...event } = itemStarted("i", "command", {}, { turnId: "t2" });
    expect(ask(afterOneTurn(), event as RuntimeEvent)).toBe("refuse: invalid");
    const { itemId: _itemId, ...nothing } = retracted() as RuntimeEvent & { itemId: string };
    expect(ask(afterOneTurn(), { ...nothing, turnId: "t2" } as RuntimeEvent)).toBe("refuse: invalid");
  });
  it("that echo what a person said are folded", () =>
    expect(ask(afterOneTurn(), itemCompleted("u", "user_message", {}, { turnId: "t2" }))).toBe(
      "fold: what a person said is known by its input",
    ));
  it("a completed message may come again", () => {
    const world = afterOneTurn();
    world.feed(completed("x", "m", { turnId: "t2" }));
    expect(ask(world, completed("x", "m", { turnId: "t2" }))).toBe("apply");
  });
});

describe("requests", () => {
  it("open once", () => {
    const world = afterOneTurn();
    expect(ask(world, requestOpened("r", { turnId: "t2" }))).toBe("apply");
    world.feed(requestOpened("r", { turnId: "t2" }));
    expect(ask(world, requestOpened("r", { turnId: "t2" }))).toBe("refuse: request_exists");
    expect(ask(world, resolved("r"))).toBe("apply");
    world.feed(resolved("r"));
    expect(ask(world, requestOpened("r", { turnId: "t2" }))).toBe("refuse: request_over");
  });
  it("resolved again: the same end is no news, another one is refused", () => {
    const world = afterOneTurn();
    world.feed(requestOpened("r", { turnId: "t2" }));
    world.feed(resolved("r"));
    expect(ask(world, resolved("r"))).toBe("fold: the request ended so already");
    const withdrawn = { ...resolved("r"), payload: { outcome: "withdrawn" } } as RuntimeEvent;
    expect(ask(world, withdrawn)).toBe("refuse: request_over");
  });
  it("resolved without being open are refused", () =>
    expect(ask(afterOneTurn(), resolved("r"))).toBe("refuse: request_unknown"));
  it("of an ended turn are refused", () =>
    expect(ask(afterOneTurn(), requestOpened("r", { turnId: "t1" }))).toBe("refuse: turn_over"));
  it("without an id are refused", () => {
    expect(ask(afterOneTurn(), of("request.opened", { kind: "approval" }))).toBe("refuse: invalid");
    expect(ask(afterOneTurn(), of("request.resolved", { outcome: "answered" }))).toBe("refuse: invalid");
  });
});

describe("tasks and what works in them", () => {
  it("background tasks live on after their turn, and so do their agents' items", () => {
    const world = new World();
    world.feed(turnStarted("t1"));
    world.feed(task("task.started", "t1"));
    world.feed(turnCompleted("t1"));
    world.feed(turnStarted("t2"));
    expect(ask(world, task("task.updated", "t1"))).toBe("apply");
    expect(ask(world, task("task.completed", "t1"))).toBe("apply");
    const inside = { turnId: "t1", agentPath: ["bg", "child"] };
    expect(ask(world, itemStarted("i", "command", {}, inside))).toBe("apply");
    expect(ask(world, delta("x", inside))).toBe("apply");
    expect(ask(world, delta("x", { turnId: "t1", agentPath: ["other"] }))).toBe("late");
    expect(ask(world, { ...turnCompleted("t1"), agentPath: ["bg"] })).toBe("refuse: turn_over");
    world.feed(task("task.completed", "t1"));
    expect(ask(world, task("task.updated", "t1"))).toBe("refuse: task_over");
    expect(ask(world, task("task.started", "t2"))).toBe("refuse: task_over");
    expect(ask(world, itemStarted("i", "command", {}, inside))).toBe("refuse: turn_over");
  });
  it("that were not announced are created, under the rules of their turn", () => {
    expect(ask(afterOneTurn(), task("task.updated", "t2"))).toBe("apply");
    expect(ask(afterOneTurn(), task("task.completed", "t1"))).toBe("refuse: turn_over");
    expect(ask(afterOneTurn(), task("task.completed", "t9"))).toBe("refuse: turn_unknown");
  });
});

describe("evidence about inputs", () => {
  it("is of an input that is open; of one that is over it is folded; of none it is refused", () => {
    const world = afterOneTurn();
    const inputs = [{ inputId: "open", state: "handed_over", mode: "prompt", generation: 1 }] as const;
    const gone: Closed = { kind: "input", id: "gone", state: "done" };
    const look: Lookups = { closed: (kind, id) => (kind === "input" && id === "gone" ? (gone as never) : undefined) };
    const state = { ...world.state!, inputs };
    const verdict = (inputId: string) => guard(inputState(inputId) as never, { generation: 1, state, look });
    expect(verdict("open")).toEqual({ verdict: "apply" });
    expect(verdict("gone")).toEqual({ verdict: "fold", reason: "the input is over" });
    expect(verdict("never")).toEqual({ verdict: "refuse", reason: "input_unknown" });
  });
});

describe("the rest", () => {
  it("reports apply whatever their turn is", () => {
    for (const turnId of ["t1", "t2", "t9"])
      for (const event of [usage, notice, of("model.rerouted", { from: "a", to: "b" })])
        expect(ask(afterOneTurn(), { ...event, turnId } as RuntimeEvent)).toBe("apply");
  });
  it("what only the journal keeps is folded", () => {
    for (const event of [
      of("account.limits", { windows: [] }),
      of("mcp.status", { servers: [] }),
      of("commands.available", { commands: [] }),
    ])
      expect(ask(afterOneTurn(), event)).toBe("fold: kept in the journal");
  });
  it("plans and diffs are of their turn; a last diff may follow it", () => {
    expect(ask(afterOneTurn(), { ...of("turn.plan", { steps: [] }), turnId: "t1" } as RuntimeEvent)).toBe(
      "refuse: turn_over",
    );
    expect(ask(afterOneTurn(), { type: "turn.diff", turnId: "t1", payload: { unifiedDiff: "" } })).toBe("apply");
    expect(ask(afterOneTurn(), of("turn.diff", { unifiedDiff: "" }))).toBe("refuse: turn_unknown");
  });
});
