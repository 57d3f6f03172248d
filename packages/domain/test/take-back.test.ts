import { event } from "@tributary/contracts";
import type { DomainEvent } from "@tributary/contracts";
import { describe, it } from "vitest";
import {
  began,
  created,
  ended,
  exited,
  failure,
  handedOver,
  interrupting,
  open,
  opening,
  queued,
  ready,
  released,
  running,
  unconfirmed,
  withdrawn,
} from "./facts.ts";
import { given } from "./given.ts";

const gives: ReadonlyArray<DomainEvent> = [
  created(),
  opening(),
  ready(1, { queue: { durable: false, withdraw: true } }),
  ...running(),
];
const steered = [queued("s", "steer"), handedOver("s", "steer")];
const back = { type: "input.withdraw", inputId: "s" } as const;
const asked = event("input.withdraw_requested", { inputId: "s" });
const kept = event("input.withdraw_failed", { inputId: "s", error: failure() });
const fail = { type: "input.withdraw_fail", inputId: "s", error: failure() } as const;

describe("an input that the runtime holds", () => {
  it("is asked back, once at a time, where the runtime says that it gives inputs back", () => {
    given(...gives, ...steered)
      .when(back)
      .thenEvents(asked);
    given(...gives, ...steered, asked)
      .when(back)
      .thenNothing();
    given(...gives, ...steered, asked, kept)
      .when(back)
      .thenEvents(asked);
  });

  it.each<[string, ReadonlyArray<DomainEvent>]>([
    ["the runtime can't", [...open, ...running(), ...steered]],
    ["it was read", [...gives, ...steered, began("s", "t1", "folded")]],
    ["its session is over", [...gives, ...steered, ended("t1"), exited(), unconfirmed("s", "session_exited")]],
  ])("is not, where %s", (_, history) => {
    given(...history)
      .when(back)
      .thenRejected("not_queued", /input s/i);
  });

  it("is gone, or stays and says why; the runtime's own word counts at any time", () => {
    const evidence = (state: "withdrawn" | "folded") => ({ type: "input.evidence", inputId: "s", state }) as const;
    given(...gives, ...steered, asked)
      .told(evidence("withdrawn"))
      .thenEvents(withdrawn("s"));
    given(...gives, ...steered, asked)
      .told(fail)
      .thenEvents(kept);
    given(...gives, ...steered, asked)
      .told(evidence("folded"))
      .thenEvents(began("s", "t1", "folded"));
    given(...gives, ...steered)
      .told(fail)
      .thenRefused("invalid");
    given(...gives, ...steered, asked, began("s", "t1", "folded"))
      .told(fail)
      .thenRefused("invalid");
    given(...gives)
      .told(fail)
      .thenRefused("input_unknown");
  });

  it("is asked back while its turn is being stopped, too", () => {
    given(...gives, ...steered, interrupting({ turnId: "t1" }))
      .when(back)
      .thenEvents(asked);
  });
});

describe("session.forget", () => {
  const forget = { type: "session.forget" } as const;
  const ran = [...open, ...running(), ended("t1"), event("input.done", { inputId: "i1", turnId: "t1" })];
  const forgotten = event("session.forgotten", { nativeSessionId: "native-1" });
  const told = event("notice.recorded", {
    noticeId: "n:forgotten:10",
    level: "info",
    code: "context_forgotten",
    message: "The agent begins anew with the next input: it does not know what was said before",
    detail: "The native session native-1 is not resumed any more",
  });

  it("gives up what the next session would resume, and says so in the thread", () => {
    given(...ran, released())
      .when(forget)
      .thenEvents(forgotten, told);
    given(...ran, released(), forgotten)
      .when(forget)
      .thenNothing();
    given(created()).when(forget).thenNothing();
  });

  it("not while a session is open", () => {
    given(...ran)
      .when(forget)
      .thenRejected("busy", /release/);
    given(...ran, released(), opening(2))
      .when(forget)
      .thenRejected("busy", /release/);
  });
});
