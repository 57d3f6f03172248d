import type { DomainEvent, InternalCommandOf, RefusalReason } from "@tributary/contracts";
import { describe, it } from "vitest";
import {
  began,
  created,
  done,
  ended,
  exited,
  failed,
  failure,
  handedOver,
  held,
  interrupting,
  open,
  opening,
  queued,
  ready,
  running,
  turn,
  unconfirmed,
  withdrawn,
} from "./facts.ts";
import { given } from "./given.ts";

const handOver = (inputId = "i1", mode: "prompt" | "steer" = "prompt", generation = 1) =>
  ({ type: "input.hand_over", inputId, mode, generation }) as const;
const evidence = (state: InternalCommandOf<"input.evidence">["state"], turnId?: string) =>
  ({ type: "input.evidence", inputId: "i1", state, ...(turnId === undefined ? {} : { turnId }) }) as const;
const inFlight = [...open, queued("i1"), handedOver("i1")];

describe("input.hand_over", () => {
  it("of a prompt, when the runtime can take it", () => {
    given(...open, queued("i1"))
      .told(handOver())
      .thenEvents(handedOver("i1"));
    given(...open, queued("q", "queue"))
      .told(handOver("q"))
      .thenEvents(handedOver("q"));
  });

  it("of a steer, into the active turn; as a prompt once that turn is over", () => {
    given(...open, ...running(), queued("s", "steer"))
      .told(handOver("s", "steer"))
      .thenEvents(handedOver("s", "steer"));
    given(...open, ...running(), queued("s", "steer"), ended("t1"), done("i1"))
      .told(handOver("s"))
      .thenEvents(handedOver("s"));
  });

  it("of a prompt before what was queued earlier", () => {
    const history = [...open, queued("q", "queue"), queued("i1")];
    given(...history)
      .told(handOver("q"))
      .thenRefused("invalid");
    given(...history)
      .told(handOver())
      .thenEvents(handedOver("i1"));
  });

  it.each<[string, RefusalReason, ReadonlyArray<DomainEvent>, InternalCommandOf<"input.hand_over">]>([
    ["an unknown input", "input_unknown", open, handOver()],
    ["one that is over", "invalid", [...open, queued("i1"), withdrawn("i1")], handOver()],
    ["one handed over before", "invalid", inFlight, handOver()],
    ["no session", "no_session", [created(), queued("i1")], handOver()],
    ["another generation", "other_generation", [...open, queued("i1")], handOver("i1", "prompt", 2)],
    ["a session over", "session_over", [...open, exited(), queued("i1")], handOver()],
    ["a session being opened", "invalid", [created(), opening(), queued("i1")], handOver()],
    ["another in flight", "invalid", [...inFlight, queued("q", "queue")], handOver("q")],
    ["a running turn", "turn_active", [...open, ...running(), queued("q", "queue")], handOver("q")],
    ["a held queue", "invalid", [...open, queued("q", "queue"), held("failed")], handOver("q")],
    [
      "an interrupt in flight",
      "invalid",
      [...open, ...running(), interrupting({ turnId: "t1" }), queued("s", "steer")],
      handOver("s", "steer"),
    ],
    ["a steer without a turn", "no_active_turn", [...open, queued("s", "steer")], handOver("s", "steer")],
    ["a prompt as a steer", "invalid", [...open, ...running(), queued("q", "queue")], handOver("q", "steer")],
    [
      "a steer where there is no steering",
      "invalid",
      [created(), opening(), ready(1, { steer: false }), ...running(), queued("s", "steer")],
      handOver("s", "steer"),
    ],
  ])("is refused with %s", (_, reason, history, command) => {
    given(...history)
      .told(command)
      .thenRefused(reason);
  });
});

describe("input.evidence", () => {
  it("that it was heard is no event", () => {
    given(...inFlight)
      .told(evidence("acknowledged"))
      .thenNothing();
    given(...inFlight)
      .told(evidence("held"))
      .thenNothing();
  });

  it("that it began", () => {
    given(...inFlight)
      .told(evidence("started", "t1"))
      .thenEvents(began("i1", "t1"));
    given(...inFlight)
      .told(evidence("started"))
      .thenEvents(began("i1"));
    given(...inFlight, began("i1"))
      .told(evidence("started", "t1"))
      .thenNothing();
  });

  it("that a steer joined its turn, also when that turn is over", () => {
    const steered = [...open, ...running("i0"), queued("i1", "steer"), handedOver("i1", "steer")];
    given(...steered)
      .told(evidence("folded", "t1"))
      .thenEvents(began("i1", "t1", "folded"));
    given(...steered)
      .told(evidence("folded"))
      .thenEvents(began("i1", "t1", "folded"));
    given(...steered, ended("t1"), done("i0"))
      .told(evidence("folded", "t1"))
      .thenEvents(began("i1", "t1", "folded"), done("i1", "t1"));
  });

  it("that came after it was given up", () => {
    given(...inFlight, unconfirmed("i1", "timeout"))
      .told(evidence("started"))
      .thenEvents(began("i1"));
    given(...inFlight, unconfirmed("i1", "x"), exited(), opening(2), ready(2))
      .told(evidence("started"))
      .thenRefused("invalid");
  });

  it("that the runtime let it go", () => {
    given(...inFlight)
      .told({ ...evidence("withdrawn"), reason: "asked" })
      .thenEvents(withdrawn("i1", "asked"));
    const no = { class: "unknown", message: "too long", retryable: true } as const;
    for (const state of ["refused", "dropped"] as const)
      given(...inFlight, queued("q", "queue"))
        .told({ ...evidence(state), reason: "too long" })
        .thenEvents(failed("i1", no), held("failed"));
  });

  it.each<[string, RefusalReason, ReadonlyArray<DomainEvent>]>([
    ["unknown", "input_unknown", open],
    ["over", "invalid", [...open, queued("i1"), withdrawn("i1")]],
    ["queued", "invalid", [...open, queued("i1")]],
    ["failed", "invalid", [...open, queued("i1"), failed("i1")]],
  ])("of an input that is %s", (_, reason, history) => {
    for (const state of ["started", "folded", "withdrawn", "dropped", "refused"] as const)
      given(...history)
        .told(evidence(state))
        .thenRefused(reason);
  });

  it("of a started input takes nothing back", () => {
    for (const state of ["withdrawn", "dropped", "refused"] as const)
      given(...open, ...running())
        .told(evidence(state))
        .thenRefused("invalid");
  });
});

describe("input.fail and input.lose", () => {
  const fail = { type: "input.fail", inputId: "i1", error: failure() } as const;
  const lose = { type: "input.lose", inputId: "i1", reason: "timeout" } as const;

  it("hold what waits behind it", () => {
    given(...inFlight)
      .told(fail)
      .thenEvents(failed("i1"));
    given(...inFlight, queued("q", "queue"))
      .told(fail)
      .thenEvents(failed("i1"), held("failed"));
    given(...open, queued("i1"))
      .told(fail)
      .thenEvents(failed("i1"));
    given(...inFlight, queued("q", "queue"))
      .told(lose)
      .thenEvents(unconfirmed("i1", "timeout"), held("lost"));
  });

  it("of a steer hold nothing: its turn goes on", () => {
    const steered = [...open, ...running("i0"), queued("i1", "steer"), handedOver("i1", "steer"), queued("q", "queue")];
    given(...steered)
      .told(fail)
      .thenEvents(failed("i1"));
    given(...steered)
      .told(lose)
      .thenEvents(unconfirmed("i1", "timeout"));
  });

  it("of what is not with the runtime are refused", () => {
    given(...open)
      .told(fail)
      .thenRefused("input_unknown");
    given(...open)
      .told(lose)
      .thenRefused("input_unknown");
    given(...open, ...running())
      .told(fail)
      .thenRefused("invalid");
    given(...open, queued("i1"))
      .told(lose)
      .thenRefused("invalid");
    given(...open, queued("i1"), withdrawn("i1"))
      .told(fail)
      .thenRefused("invalid");
  });

  it("end an interrupt that named it", () => {
    const interrupted = [...inFlight, interrupting({ inputId: "i1" })];
    given(...interrupted, failed("i1"))
      .told({ type: "interrupt.escalate", step: "kill" })
      .thenRefused("no_active_turn");
    given(...interrupted, turn("t1", ["i1"]), began("i1", "t1"), ended("t1", "interrupted"))
      .told({ type: "interrupt.escalate", step: "kill" })
      .thenRefused("no_active_turn");
  });
});
