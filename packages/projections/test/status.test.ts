import { describe, expect, it } from "vitest";
import { threadStatus, type StatusFacts } from "../src/status.ts";

const idle: StatusFacts = {
  archived: false,
  asked: false,
  turn: undefined,
  inputs: [],
  queueHeld: false,
  session: undefined,
};
const queued = { state: "queued", mode: "queue" } as const;
const handedOver = { state: "handed_over", mode: "prompt" } as const;

describe("status", () => {
  it.each<[string, Partial<StatusFacts>, string]>([
    ["nothing", {}, "idle"],
    ["an idle session", { session: "ready" }, "idle"],
    ["a failure that nothing followed", { turn: { state: "failed" }, session: "exited" }, "error"],
    ["an opening session", { session: "opening", turn: { state: "lost" } }, "starting"],
    ["a queued input without session", { inputs: [queued] }, "starting"],
    ["a queued input after the session ended", { inputs: [queued], session: "exited" }, "starting"],
    ["a queued input in a held queue", { inputs: [queued], queueHeld: true, turn: { state: "lost" } }, "error"],
    ["a prompt beside a held queue", { inputs: [{ state: "queued", mode: "prompt" }], queueHeld: true }, "starting"],
    ["a handed-over input", { inputs: [handedOver], session: "ready" }, "working"],
    ["an input whose turn has not been seen", { inputs: [{ state: "started", mode: "prompt" }] }, "working"],
    ["a session that failed", { session: "failed" }, "error"],
    ["a turn that was stopped", { turn: { state: "interrupted" }, session: "ready" }, "idle"],
    ["a running turn", { turn: { state: "running" }, session: "ready" }, "working"],
    ["a question in a running turn", { turn: { state: "running" }, asked: true, session: "ready" }, "needs_you"],
    ["a question in an archived thread", { asked: true, archived: true }, "archived"],
  ])("%s", (_, facts, status) => {
    expect(threadStatus({ ...idle, ...facts })).toBe(status);
  });
});
