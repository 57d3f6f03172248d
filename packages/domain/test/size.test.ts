/** I11, I12: the decider's state follows what is open, never history. */
import { event } from "@tributary/contracts";
import type { DomainEvent } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { evolveThread } from "../src/index.ts";
import type { ThreadState } from "../src/index.ts";
import {
  acting,
  answered,
  answering,
  asked,
  closedText,
  created,
  done,
  ended,
  exited,
  handedOver,
  idOf,
  opening,
  queued,
  ready,
  running,
  said,
  tasking,
  taskStopped,
  threadId,
} from "./facts.ts";

/** A turn as agents make them, from its prompt to its end; every hundredth in a new session. */
const wholeTurn = (index: number): ReadonlyArray<DomainEvent> => {
  const generation = 1 + Math.floor(index / 100);
  const turnId = `turn-${String(index).padStart(6, "0")}`;
  const place = { turnId, generation };
  const [inputId, requestId, taskId] = [`i-${turnId}`, `r-${turnId}`, `k-${turnId}`];
  const opened = index % 100 === 0 ? [opening(generation), ready(generation)] : [];
  const over = index % 100 === 99 ? [exited(generation)] : [];
  const activityId = `${turnId}//a`;
  return [
    ...opened,
    ...running(inputId, turnId),
    said("Hello", place),
    closedText(idOf(place), 5),
    acting("a", place),
    asked(requestId, { turnId, generation }),
    answering(requestId),
    answered(requestId),
    event("activity.ended", { activityId, status: "completed" }),
    tasking(taskId, "subagent", { turnId, generation }),
    taskStopped(taskId),
    event("plan.proposed", { planId: turnId, agentPath: [], markdown: "#" }),
    event("plan.resolved", { planId: turnId, outcome: "superseded" }),
    ended(turnId),
    done(inputId, turnId),
    ...over,
  ];
};

const size = (state: ThreadState): number => JSON.stringify({ ...state, version: 0 }).length;

describe("the state of a thread", () => {
  it("does not grow with 10,000 turns", () => {
    let state = evolveThread(undefined, created(), threadId);
    const sizes: Array<number> = [];
    for (let index = 0; index < 10_000; index++) {
      for (const next of wholeTurn(index)) state = evolveThread(state, next, threadId);
      // At the same place of a session, so that only history could make a difference.
      if (index % 100 === 50) sizes.push(size(state));
    }
    expect(state.version).toBeGreaterThan(170_000);
    // The generation is a number that gains a digit or two.
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(8);
    expect(size(state)).toBeLessThan(1_000);
  });

  it("follows what is open", () => {
    const open = (count: number): number => {
      const inputs = Array.from({ length: count }, (_, index) =>
        queued(`i${index}`, "queue", { text: "x".repeat(10_000) }),
      );
      const history = [created(), opening(), ready(), ...inputs, handedOver("i0")];
      return size(
        history
          .slice(1)
          .reduce((state, next) => evolveThread(state, next, threadId), evolveThread(undefined, created(), threadId)),
      );
    };
    // An open input is its key and where it stands; its text is in the log.
    expect((open(110) - open(10)) / 100).toBeLessThan(80);
  });
});
