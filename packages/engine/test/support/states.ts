/** States and live views for tables of the pure parts. */
import type { InputState, RequestState, ThreadState } from "@tributary/domain";
import type { TimedView } from "../../src/index.ts";
import { capabilities } from "./stub.ts";

export const idle: ThreadState = {
  threadId: "T",
  projectId: "P",
  cwd: "/p/a",
  instance: "stub",
  approvalMode: "ask",
  interactionMode: "default",
  textDelivery: "streaming",
  archived: false,
  deleted: false,
  inputs: [],
  requests: [],
  texts: [],
  activities: [],
  tasks: [],
  plans: [],
  version: 5,
};

export const ready: ThreadState = {
  ...idle,
  nativeSessionId: "n",
  session: { generation: 2, state: "ready", nativeSessionId: "n", capabilities },
};

export const running: ThreadState = { ...ready, turn: { turnId: "t1", generation: 2, inputIds: [] } };

export const queued = (inputId: string, mode: InputState["mode"] = "queue"): InputState => ({
  inputId,
  state: "queued",
  mode,
});

export const handedOver = (inputId: string, mode: InputState["mode"] = "prompt"): InputState => ({
  inputId,
  state: "handed_over",
  mode,
  generation: 2,
});

export const request = (
  requestId: string,
  state: RequestState["state"],
  more: Partial<RequestState> = {},
): RequestState => ({
  requestId,
  kind: "approval",
  state,
  generation: 2,
  agentPath: [],
  blocking: true,
  subjectHash: "h",
  ...more,
});

export const live: TimedView = {
  generation: 2,
  phase: "open",
  isCalling: false,
  isEscalating: false,
  answered: new Set(),
  withdrawn: new Set(),
  settings: { approvalMode: "ask", interactionMode: "default" },
  canConfigure: true,
  marks: {},
  heardAt: 0,
  escalatedAt: 0,
  steered: new Map(),
};
