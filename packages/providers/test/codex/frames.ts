/** Frames of Codex as tests need them, and a translator to put them through. */
import type { RuntimeEvent, RuntimeEventOf, RuntimeEventType, RuntimeRecord } from "@tributary/contracts";
import { initialState, translate } from "../../src/codex/index.ts";
import type { CodexState } from "../../src/codex/state.ts";
import type { NativeFrame } from "../../src/translator.ts";

export const root = "thread-root";
export const turn = "turn-1";

type Fields = Readonly<Record<string, unknown>>;

export const incoming = (method: string, params: Fields = {}): NativeFrame => ({
  dir: "in",
  msg: { method, params: { threadId: root, turnId: turn, ...params }, emittedAtMs: 1_796_061_019_000 },
});
export const asking = (id: number | string, method: string, params: Fields = {}): NativeFrame => ({
  dir: "in",
  msg: { id, method, params: { threadId: root, turnId: turn, ...params } },
});
export const result = (id: number, value: unknown): NativeFrame => ({ dir: "in", msg: { id, result: value } });
export const failure = (id: number, message: string): NativeFrame => ({
  dir: "in",
  msg: { id, error: { code: -32600, message } },
});
export const call = (id: number, method: string, params: Fields = {}): NativeFrame => ({
  dir: "out",
  msg: { id, method, params: { threadId: root, ...params } },
});
export const answer = (id: number | string, value: unknown): NativeFrame => ({
  dir: "out",
  msg: { id, result: value },
});

/** Fields of a `commandExecution`. */
export const command = {
  command: "/bin/bash -lc 'echo hi'",
  cwd: "/p",
  commandActions: [{ type: "unknown", command: "echo hi" }],
};

/** A thread that was started. */
export const opened: ReadonlyArray<NativeFrame> = [
  call(1, "thread/start"),
  result(1, { thread: { id: root }, model: "m", cwd: "/p", reasoningEffort: "low" }),
];

/** A turn of `input-1` that began. */
export const started = (turnId: string = turn, inputId = "input-1"): ReadonlyArray<NativeFrame> => [
  call(2, "turn/start", { clientUserMessageId: inputId }),
  result(2, { turn: { id: turnId, status: "inProgress" } }),
  incoming("turn/started", { turn: { id: turnId, rootTurnId: turnId } }),
];

export const ended = (status: string, more: Fields = {}, turnId: string = turn): NativeFrame =>
  incoming("turn/completed", { turn: { id: turnId, items: [], status, error: null, ...more } });

export const item = (
  phase: "started" | "completed",
  type: string,
  id: string,
  fields: Fields = {},
  params: Fields = {},
) => incoming(`item/${phase}`, { item: { type, id, ...fields }, ...params });

export const delta = (id: string, text: string, params: Fields = {}): NativeFrame =>
  incoming("item/agentMessage/delta", { itemId: id, delta: text, ...params });

export interface Translated {
  readonly state: CodexState;
  readonly records: ReadonlyArray<RuntimeRecord>;
  readonly events: ReadonlyArray<RuntimeEvent>;
}

/** Puts frames through a fresh translator, or one that goes on from `from`. */
export const through = (
  frames: ReadonlyArray<NativeFrame>,
  from: CodexState = initialState({ generation: 1 }),
): Translated => {
  let state = from;
  const records: Array<RuntimeRecord> = [];
  for (const frame of frames) {
    const step = translate(state, frame);
    state = step.state;
    records.push(...step.records);
  }
  return { state, records, events: records.flatMap(({ events }) => events) };
};

/** What `frames` say after `before`. */
export const after = (
  before: ReadonlyArray<NativeFrame>,
  ...frames: ReadonlyArray<NativeFrame>
): ReadonlyArray<RuntimeEvent> => through(frames, through(before).state).events;

export const ofType = <T extends RuntimeEventType>(
  events: ReadonlyArray<RuntimeEvent>,
  type: T,
): ReadonlyArray<RuntimeEventOf<T>> =>
  // The compiler can't narrow a union by a generic member.
  events.filter((event) => event.type === type) as unknown as ReadonlyArray<RuntimeEventOf<T>>;
