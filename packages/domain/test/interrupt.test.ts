import { event } from "@tributary/contracts";
import type { DomainEvent } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import {
  began,
  created,
  done,
  ended,
  failed,
  handedOver,
  interrupting,
  open,
  opening,
  queued,
  running,
  turn,
  unconfirmed,
  withdrawn,
} from "./facts.ts";
import { given } from "./given.ts";

const interrupt = (target: { turnId?: string; inputId?: string } = {}) =>
  ({ type: "turn.interrupt", ...target }) as const;
const inFlight = [...open, queued("i1"), handedOver("i1")];
const steered = [...open, ...running("i0"), queued("s", "steer"), handedOver("s", "steer")];

describe("turn.interrupt", () => {
  it.each<[string, ReadonlyArray<DomainEvent>, { turnId?: string; inputId?: string }, DomainEvent]>([
    ["the active turn", [...open, ...running()], { turnId: "t1" }, interrupting({ turnId: "t1" })],
    ["whatever is active", [...open, ...running()], {}, interrupting({ turnId: "t1" })],
    ["the input that runs", [...open, ...running()], { inputId: "i1" }, interrupting({ turnId: "t1", inputId: "i1" })],
    ["an input waiting for its turn", inFlight, { inputId: "i1" }, interrupting({ inputId: "i1" })],
    ["the prompt on its way", inFlight, {}, interrupting({ inputId: "i1" })],
    ["an input whose turn is not seen", [...inFlight, began("i1")], { inputId: "i1" }, interrupting({ inputId: "i1" })],
    ["a steer, with its turn", steered, { inputId: "s" }, interrupting({ turnId: "t1", inputId: "s" })],
    [
      "the turn of the runtime's own, not the prompt behind it",
      [...inFlight, turn("t0")],
      {},
      interrupting({ turnId: "t0" }),
    ],
    [
      "the prompt behind a turn of the runtime's own",
      [...inFlight, turn("t0")],
      { inputId: "i1" },
      interrupting({ inputId: "i1" }),
    ],
  ])("stops %s", (_, history, target, expected) => {
    given(...history)
      .when(interrupt(target))
      .thenEvents(expected);
  });

  it("withdraws what was not sent", () => {
    given(...open, ...running(), queued("q", "queue"))
      .when(interrupt({ inputId: "q" }))
      .thenEvents(withdrawn("q", "interrupted"));
    given(created(), opening(), queued("i1")).when(interrupt()).thenEvents(withdrawn("i1", "interrupted"));
    given(created(), queued("i1"))
      .when(interrupt({ inputId: "i1" }))
      .thenEvents(withdrawn("i1", "interrupted"));
  });

  it.each<[string, ReadonlyArray<DomainEvent>, { turnId?: string; inputId?: string }]>([
    ["an idle thread", open, {}],
    ["a thread without a session", [created()], {}],
    ["another turn", [...open, ...running()], { turnId: "t9" }],
    ["a turn that is over", [...open, ...running(), ended("t1"), done("i1")], { turnId: "t1" }],
    ["an unknown input", [...open, ...running()], { inputId: "i9" }],
    ["a failed input", [...open, queued("i1"), failed("i1")], { inputId: "i1" }],
    ["an unconfirmed input", [...inFlight, unconfirmed("i1", "x")], { inputId: "i1" }],
    ["a steer whose turn is over", [...steered, ended("t1"), done("i0")], { inputId: "s" }],
    ["a queue, unnamed", [created(), opening(), queued("q", "queue")], {}],
  ])("of %s is no_active_turn", (_, history, target) => {
    given(...history)
      .when(interrupt(target))
      .thenRejected("no_active_turn");
  });

  it("twice is once", () => {
    for (const target of [{}, { turnId: "t1" }, { inputId: "i1" }])
      given(...open, ...running(), interrupting({ turnId: "t1" }))
        .when(interrupt(target))
        .thenNothing();
    given(...inFlight, interrupting({ inputId: "i1" }))
      .when(interrupt())
      .thenNothing();
  });

  it("of something else replaces the one in flight: both stop the same process in the end", () => {
    given(...inFlight, turn("t0"), interrupting({ turnId: "t0" }))
      .when(interrupt({ inputId: "i1" }))
      .thenEvents(interrupting({ inputId: "i1" }));
  });

  it("of a waiting input stops its turn once that begins", () => {
    const history = [...inFlight, interrupting({ inputId: "i1" }), turn("t1", ["i1"]), began("i1", "t1")];
    expect(given(...history).state?.interrupt).toMatchObject({ turnId: "t1", inputId: "i1" });
    given(...history)
      .when(interrupt())
      .thenNothing();
    expect(given(...history, ended("t1", "interrupted")).state).not.toHaveProperty("interrupt");
  });

  it("survives the end of a turn that it did not name", () => {
    const history = [...inFlight, turn("t0"), interrupting({ inputId: "i1" }), ended("t0")];
    expect(given(...history).state?.interrupt).toMatchObject({ inputId: "i1" });
  });
});

describe("interrupt.escalate", () => {
  const escalated = (step: "native" | "terminate" | "kill") =>
    event("interrupt.escalated", { turnId: "t1", generation: 1, step });
  const history = [...open, ...running(), interrupting({ turnId: "t1" })];

  it("goes forward only", () => {
    given(...history)
      .told({ type: "interrupt.escalate", step: "native" })
      .thenEvents(escalated("native"));
    given(...history, escalated("native"))
      .told({ type: "interrupt.escalate", step: "kill" })
      .thenEvents(escalated("kill"));
    for (const step of ["native", "terminate"] as const)
      given(...history, escalated("terminate"))
        .told({ type: "interrupt.escalate", step })
        .thenRefused("invalid");
  });

  it("without an interrupt has nothing to do", () => {
    given(...open, ...running())
      .told({ type: "interrupt.escalate", step: "native" })
      .thenRefused("no_active_turn");
  });
});
