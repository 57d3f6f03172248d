import { describe, expect, it } from "vitest";
import { threadStatus, type StatusFacts } from "../src/status.ts";

const idle: StatusFacts = {
  archived: false,
  asked: false,
  turnRunning: false,
  inputs: [],
  queueHeld: false,
  session: undefined,
  failed: false,
};
const queued = { state: "queued", mode: "queue" } as const;
const handedOver = { state: "handed_over", mode: "prompt" } as const;

describe("status", () => {
  it.each<[string, Partial<StatusFacts>, string]>([
    ["nothing", {}, "idle"],
    ["an idle session", { session: "ready" }, "idle"],
    ["a failure that nothing followed", { failed: true, session: "exited" }, "error"],
    ["an opening session", { session: "opening", failed: true }, "starting"],
    ["a queued input without session", { inputs: [queued] }, "starting"],
    ["a queued input after the session ended", { inputs: [queued], session: "exited" }, "starting"],
    ["a queued input in a held queue", { inputs: [queued], queueHeld: true, failed: true }, "error"],
    ["a prompt beside a held queue", { inputs: [{ state: "queued", mode: "prompt" }], queueHeld: true }, "starting"],
    ["a handed-over input", { inputs: [handedOver], session: "ready" }, "working"],
    ["a running turn", { turnRunning: true, session: "ready" }, "working"],
    ["a question in a running turn", { turnRunning: true, asked: true, session: "ready" }, "needs_you"],
    ["a question in an archived thread", { asked: true, archived: true }, "archived"],
  ])("%s", (_, facts, status) => {
    expect(threadStatus({ ...idle, ...facts })).toBe(status);
  });
});
