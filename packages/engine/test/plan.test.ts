import { assert, describe, it } from "vitest";
import type { ThreadState } from "@tributary/domain";
import { nextActions } from "../src/index.ts";
import type { Action, LiveView } from "../src/index.ts";
import { handedOver, idle, live, queued, ready, request, running } from "./support/states.ts";

type Case = readonly [what: string, state: ThreadState, live: LiveView | undefined, actions: ReadonlyArray<Action>];

const over = (state: "exited" | "released" | "failed"): ThreadState => ({
  ...ready,
  session: { generation: 2, state },
});
const stopping = (state: ThreadState, step: NonNullable<ThreadState["interrupt"]>["step"]): ThreadState => ({
  ...state,
  interrupt: { turnId: "t1", generation: 2, step },
});
const withInputs = (state: ThreadState, ...inputs: ThreadState["inputs"]): ThreadState => ({ ...state, inputs });
const opening: ThreadState = { ...idle, session: { generation: 1, state: "opening" } };

const cases: ReadonlyArray<Case> = [
  ["nothing to do", idle, undefined, []],
  [
    "a queued input opens the first session",
    withInputs(idle, queued("a")),
    undefined,
    [{ type: "open", generation: 1 }],
  ],
  [
    "and the next after one that is over",
    withInputs(over("exited"), queued("a")),
    undefined,
    [{ type: "open", generation: 3 }],
  ],
  [
    "also when the last one failed",
    withInputs(over("failed"), queued("a")),
    undefined,
    [{ type: "open", generation: 3 }],
  ],
  [
    "a steer whose turn is over opens too",
    withInputs(over("exited"), queued("a", "steer")),
    undefined,
    [{ type: "open", generation: 3 }],
  ],
  ["a held queue opens nothing", { ...withInputs(idle, queued("a")), queueHeld: "failed" }, undefined, []],
  [
    "a prompt goes past a hold",
    { ...withInputs(idle, queued("a"), queued("b", "prompt")), queueHeld: "failed" },
    undefined,
    [{ type: "open", generation: 1 }],
  ],
  [
    "unconfirmed and failed inputs wait for the person",
    withInputs(
      idle,
      { inputId: "a", state: "unconfirmed", mode: "prompt" },
      { inputId: "b", state: "failed", mode: "prompt" },
    ),
    undefined,
    [],
  ],
  ["a deleted thread does nothing", { ...withInputs(idle, queued("a")), deleted: true }, undefined, []],
  [
    "an archived thread goes on",
    { ...withInputs(idle, queued("a")), archived: true },
    undefined,
    [{ type: "open", generation: 1 }],
  ],
  ["a session without a handle is left alone", withInputs(ready, queued("a")), undefined, []],
  ["until somebody stops it", stopping(running, "requested"), undefined, [{ type: "lost" }]],

  ["an old session ends before the next opens", withInputs(over("exited"), queued("a")), live, [{ type: "close" }]],
  ["released", over("released"), live, [{ type: "close" }]],
  ["deleted", { ...ready, deleted: true }, live, [{ type: "close" }]],
  ["of an older generation", { ...ready, session: { generation: 3, state: "ready" } }, live, [{ type: "close" }]],
  ["one that ends already", over("released"), { ...live, phase: "ending" }, []],
  ["opening that is still wanted", withInputs(opening, queued("a")), { ...live, generation: 1, phase: "opening" }, []],
  [
    "not committed yet: the state is still of the session before",
    over("exited"),
    { ...live, generation: 3, phase: "intended" },
    [],
  ],
  [
    "opening that was released",
    { ...idle, session: { generation: 1, state: "released" } },
    { ...live, generation: 1, phase: "opening" },
    [{ type: "close" }],
  ],
  ["opened, not committed yet", withInputs(opening, queued("a")), { ...live, generation: 1 }, []],
  [
    "a turn that began while it opens can be stopped",
    stopping({ ...running, session: { generation: 2, state: "opening" } }, "requested"),
    { ...live, phase: "opening" },
    [{ type: "interrupt", step: "native" }],
  ],

  ["ready and queued", withInputs(ready, queued("a"), queued("b")), live, [{ type: "prompt", inputId: "a" }]],
  [
    "a prompt before the queue",
    withInputs(ready, queued("a"), queued("b", "prompt")),
    live,
    [{ type: "prompt", inputId: "b" }],
  ],
  ["one at a time", withInputs(ready, handedOver("a"), queued("b")), live, []],
  ["not while a call is on its way", withInputs(ready, queued("a")), { ...live, isCalling: true }, []],
  ["not during a turn", withInputs(running, queued("a")), live, []],
  ["not while held", { ...withInputs(ready, queued("a")), queueHeld: "lost" }, live, []],
  ["not past an interrupt", stopping(withInputs(ready, queued("a")), "native"), live, []],

  [
    "steer into the turn",
    withInputs(running, queued("a", "steer")),
    live,
    [{ type: "steer", inputId: "a", turnId: "t1" }],
  ],
  [
    "steers pass the queue",
    withInputs(running, queued("q"), queued("a", "steer")),
    live,
    [{ type: "steer", inputId: "a", turnId: "t1" }],
  ],
  [
    "a second steer waits for the first call",
    withInputs(running, handedOver("a", "steer"), queued("b", "steer")),
    { ...live, isCalling: true },
    [],
  ],
  ["no steer while stopping", stopping(withInputs(running, queued("a", "steer")), "native"), live, []],
  [
    "a steer that came too late is a prompt",
    withInputs(ready, queued("a", "steer")),
    live,
    [{ type: "prompt", inputId: "a" }],
  ],

  [
    "changed settings before the prompt",
    { ...withInputs(ready, queued("a")), model: "m", approvalMode: "full_access" },
    live,
    [
      {
        type: "configure",
        change: { model: "m", approvalMode: "full_access" },
        settings: { model: "m", approvalMode: "full_access", interactionMode: "default" },
      },
    ],
  ],
  ["settings wait for an input", { ...ready, model: "m" }, live, []],
  [
    "without such a control they go with the prompt",
    { ...withInputs(ready, queued("a")), model: "m" },
    { ...live, canConfigure: false },
    [{ type: "prompt", inputId: "a" }],
  ],
  [
    "what the thread leaves open stays as it is",
    withInputs(ready, queued("a")),
    { ...live, settings: { ...live.settings, model: "m", effort: "low" } },
    [{ type: "prompt", inputId: "a" }],
  ],

  [
    "answers, each once",
    { ...running, requests: [request("r1", "answering"), request("r2", "pending"), request("r3", "answering")] },
    { ...live, answered: new Set(["r3"]) },
    [{ type: "answer", requestId: "r1" }],
  ],
  [
    "an answer does not wait for a prompt that hangs",
    { ...withInputs(ready, handedOver("a")), requests: [request("r1", "answering")] },
    { ...live, isCalling: true },
    [{ type: "answer", requestId: "r1" }],
  ],

  [
    "an interrupt begins natively, before anything else",
    stopping({ ...running, requests: [request("r1", "answering")] }, "requested"),
    { ...live, isCalling: true },
    [
      { type: "interrupt", step: "native" },
      { type: "answer", requestId: "r1" },
    ],
  ],
  ["a step that is being taken", stopping(running, "requested"), { ...live, isEscalating: true }, []],
  ["the rest of it is a matter of time", stopping(running, "native"), live, []],
];

describe("nextActions", () => {
  it.each(cases)("%s", (_, state, view, actions) => {
    assert.deepStrictEqual(nextActions(state, view), actions);
  });
});
