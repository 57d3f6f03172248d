import { assert, describe, it } from "vitest";
import type { ThreadState } from "@tributary/domain";
import { defaultTimings, dueActions, isIdle, mark } from "../src/index.ts";
import type { Due, TimedView } from "../src/index.ts";
import { handedOver, live, queued, ready, request, running } from "./support/states.ts";

const at = (state: ThreadState, view: Partial<TimedView>, now: number): Due =>
  dueActions(state, { ...live, ...view }, now, defaultTimings);
const stopping = (step: "requested" | "native" | "terminate" | "kill"): ThreadState => ({
  ...running,
  interrupt: { turnId: "t1", generation: 2, step },
});

describe("dueActions", () => {
  it("each step of an interrupt waits its grace for the thing to be over", () => {
    const view = { escalatedAt: 1_000 };
    assert.deepStrictEqual(at(stopping("requested"), view, 9_999), { actions: [] });
    assert.deepStrictEqual(at(stopping("native"), view, 5_999), { actions: [], wakeAt: 6_000 });
    assert.deepStrictEqual(at(stopping("native"), view, 6_000).actions, [{ type: "interrupt", step: "terminate" }]);
    assert.deepStrictEqual(at(stopping("terminate"), view, 2_999), { actions: [], wakeAt: 3_000 });
    assert.deepStrictEqual(at(stopping("terminate"), view, 3_000).actions, [{ type: "interrupt", step: "kill" }]);
    assert.deepStrictEqual(at(stopping("kill"), view, 1_999), { actions: [], wakeAt: 2_000 });
    assert.deepStrictEqual(at(stopping("kill"), view, 2_000).actions, [{ type: "settle" }]);
    assert.deepStrictEqual(at(stopping("native"), { ...view, isEscalating: true }, 9_999), { actions: [] });
    assert.deepStrictEqual(at(stopping("native"), { ...view, phase: "ending" }, 9_999), { actions: [] });
  });

  it("an idle session is released after its time, counted from the last word", () => {
    const view = { marks: { idleSince: 1_000 } };
    const { idle } = defaultTimings;
    assert.deepStrictEqual(at(ready, view, 999), { actions: [], wakeAt: 1_000 + idle });
    assert.deepStrictEqual(at(ready, view, 1_000 + idle).actions, [{ type: "release" }]);
    assert.deepStrictEqual(at(ready, { ...view, heardAt: 5_000 }, 1_000 + idle), { actions: [], wakeAt: 5_000 + idle });
  });

  it("silence is due once for each time that the runtime falls silent", () => {
    const quiet = { phase: "turn" as const, since: 1_000 };
    const { turn } = defaultTimings.silent;
    assert.deepStrictEqual(at(running, { marks: { quiet } }, 1_000), { actions: [], wakeAt: 1_000 + turn });
    const silent = { type: "silent", phase: "turn", since: 1_000 } as const;
    assert.deepStrictEqual(at(running, { marks: { quiet } }, 1_000 + turn).actions, [silent]);
    assert.deepStrictEqual(at(running, { marks: { quiet }, toldSilence: 1_000 }, 9_000 + turn), { actions: [] });
    const heard = { marks: { quiet }, toldSilence: 1_000, heardAt: 2_000 };
    assert.deepStrictEqual(at(running, heard, 3_000), { actions: [], wakeAt: 2_000 + turn });
  });

  it("a pending request expires when the runtime said; one that is being answered does not", () => {
    const expiresAt = new Date(60_000).toISOString();
    const asked = (state: "pending" | "answering") => ({ ...running, requests: [request("r", state, { expiresAt })] });
    assert.deepStrictEqual(at(asked("pending"), {}, 59_999), { actions: [], wakeAt: 60_000 });
    assert.deepStrictEqual(at(asked("pending"), {}, 60_000).actions, [{ type: "expire", requestId: "r" }]);
    assert.deepStrictEqual(at(asked("answering"), {}, 60_000), { actions: [] });
    // The runtime means the clock on the wall; deadlines are counted on one that never jumps.
    const jumped = (ahead: number) => dueActions(asked("pending"), live, 50_000, defaultTimings, ahead);
    assert.deepStrictEqual(jumped(9_999), { actions: [], wakeAt: 50_001 });
    assert.deepStrictEqual(jumped(10_000).actions, [{ type: "expire", requestId: "r" }]);
  });

  it("a steered input without any sign is given up some time after its turn", () => {
    const steered = new Map([["a", "t1"]]);
    const after = { ...ready, inputs: [handedOver("a", "steer")] };
    const during = { ...running, inputs: after.inputs };
    assert.isUndefined(mark(during, { ...live, steered }, {}, 7_000).strandedSince);
    const marks = mark(after, { ...live, steered }, {}, 7_000);
    assert.strictEqual(marks.strandedSince, 7_000);
    assert.strictEqual(mark(after, { ...live, steered }, marks, 8_000).strandedSince, 7_000);
    assert.deepStrictEqual(at(after, { steered, marks }, 7_000 + defaultTimings.strandedSteer).actions, [
      { type: "lose", inputId: "a" },
    ]);
    // Its call may hang as long as it likes: what it was for is over.
    assert.strictEqual(mark(after, { ...live, steered, isCalling: true }, {}, 7_000).strandedSince, 7_000);
  });
});

describe("marks", () => {
  const idles: ReadonlyArray<readonly [string, ThreadState, boolean]> = [
    ["ready", ready, true],
    [
      "unsettled inputs wait for a person",
      { ...ready, inputs: [{ inputId: "a", state: "failed", mode: "prompt" }] },
      true,
    ],
    ["a held queue waits for a person", { ...ready, inputs: [queued("a")], queueHeld: "failed" }, true],
    ["a turn", running, false],
    ["an input that is next", { ...ready, inputs: [queued("a")] }, false],
    ["an input at the runtime", { ...ready, inputs: [handedOver("a")] }, false],
    ["a steered input at the runtime", { ...ready, inputs: [handedOver("a", "steer")] }, false],
    ["a request", { ...ready, requests: [request("r", "pending")] }, false],
    ["a background task", { ...ready, tasks: [{ taskId: "k", kind: "background", generation: 2 }] }, false],
    ["no session", { ...ready, session: { generation: 2, state: "released" } }, false],
  ];
  it.each(idles)("idle: %s", (_, state, expected) => {
    assert.strictEqual(isIdle(state), expected);
  });

  it("a phase keeps its beginning; another one has its own; none while a person is asked", () => {
    const first = mark(running, live, {}, 100);
    assert.deepStrictEqual(first, { quiet: { phase: "turn", since: 100 } });
    assert.deepStrictEqual(mark(running, live, first, 200), first);
    assert.deepStrictEqual(mark({ ...running, requests: [request("r", "pending")] }, live, first, 300), {});
    const waiting = { ...ready, inputs: [handedOver("a")] };
    assert.deepStrictEqual(mark(waiting, live, first, 400), { quiet: { phase: "prompt", since: 400 } });
    assert.deepStrictEqual(mark(ready, { ...live, phase: "opening" }, {}, 500).quiet, { phase: "opening", since: 500 });
    assert.deepStrictEqual(mark(ready, live, {}, 600), { idleSince: 600 });
    assert.deepStrictEqual(mark(ready, { ...live, isCalling: true }, {}, 700), {});
  });
});
