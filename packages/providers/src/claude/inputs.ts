/**
 * How inputs fare. A message that we write carries a uuid, which the runtime repeats:
 *
 *   written ─► queued ─► started ─► completed        no turn runs: the turn of this input begins
 *                 │         └─ while a turn runs: it was folded into that turn
 *                 └─► cancelled                      taken back, by us or by an interrupt
 */
import type { RuntimePayloads } from "@tributary/contracts";
import { asId, asText, defined, eventId, type NativeObject } from "../native.ts";
import { beginTurn } from "./place.ts";
import { nothing, type Said, say } from "./said.ts";
import { type ClaudeState, drop, put } from "./state.ts";

type InputState = RuntimePayloads["input.state"]["state"];

/** A message that we wrote. The adapter binds its uuid first; in a recording the uuid stands for itself. */
export const onOwnMessage = (state: ClaudeState, frame: NativeObject): ClaudeState => {
  const uuid = asId(frame["uuid"]);
  if (uuid === undefined) return { ...state, waiting: [...state.waiting, {}] };
  const inputs = state.inputs.has(uuid) ? state.inputs : put(state.inputs, uuid, uuid);
  return { ...state, inputs, waiting: [...state.waiting, { uuid }] };
};

const inputState = (
  state: ClaudeState,
  uuid: string,
  what: InputState,
  id: string,
  reason?: string,
): ReturnType<typeof say> =>
  say(
    "input.state",
    { ...eventId(id, "input"), ...(state.turn === undefined ? {} : { turnId: state.turn.id }) },
    { inputId: state.inputs.get(uuid) ?? uuid, state: what, ...defined({ reason }) },
  );

const notWaiting = (state: ClaudeState, uuid: string): ClaudeState["waiting"] =>
  state.waiting.some((one) => one.uuid === uuid) ? state.waiting.filter((one) => one.uuid !== uuid) : state.waiting;

/** It is being read: by the turn that runs, or by one that is about to begin. */
const begun = (state: ClaudeState, uuid: string, id: string): Said => {
  const waiting = notWaiting(state, uuid);
  const { turn } = state;
  if (state.begun.includes(uuid) || turn?.uuids.includes(uuid) === true) return nothing({ ...state, waiting });
  if (turn === undefined) {
    const event = inputState(state, uuid, "started", id);
    return { state: { ...state, waiting, begun: [...state.begun, uuid] }, events: [event] };
  }
  const event = inputState(state, uuid, "folded", id);
  return { state: { ...state, waiting, turn: { ...turn, uuids: [...turn.uuids, uuid] } }, events: [event] };
};

/** Begun, and stopped before its turn was shown: a turn all the same, and it was interrupted. */
const stoppedAtOnce = (state: ClaudeState, id: string): Said => {
  const { turn: _, ...after } = beginTurn(state, id).state;
  const event = say("turn.completed", { ...eventId(id, "result"), turnId: id }, { outcome: "interrupted" });
  return { state: after, events: [...beginTurn(state, id).events, event] };
};

/** Nobody will read it. The cancelled message of an interrupted turn was read: it is forgotten by then. */
const cancelled = (state: ClaudeState, uuid: string, id: string): Said => {
  if (state.turn?.uuids.includes(uuid) === true) return nothing(state);
  if (state.begun.includes(uuid)) return stoppedAtOnce(state, id);
  const isOurs = state.withdrawn.has(uuid);
  const withdrawn = new Set(state.withdrawn);
  withdrawn.delete(uuid);
  const event = isOurs
    ? inputState(state, uuid, "withdrawn", id, "taken back before it was read")
    : inputState(state, uuid, "dropped", id, "the runtime took it out of its queue, as after an interrupt");
  const waiting = notWaiting(state, uuid);
  return { state: { ...state, waiting, withdrawn, inputs: drop(state.inputs, uuid) }, events: [event] };
};

export const onLifecycle = (before: ClaudeState, frame: NativeObject): Said | undefined => {
  const uuid = asId(frame["command_uuid"]);
  const what = asText(frame["state"]);
  if (uuid === undefined || what === undefined) return undefined;
  const state = before.hasLifecycle ? before : { ...before, hasLifecycle: true };
  // The runtime's own commands, and messages whose turn is over.
  if (!state.inputs.has(uuid)) return nothing(state);
  const id = asId(frame["uuid"]) ?? `${uuid}/${what}`;
  switch (what) {
    case "queued": {
      const event = inputState(state, uuid, state.turn === undefined ? "acknowledged" : "held", id);
      return { state, events: [event] };
    }
    case "started":
      return begun(state, uuid, id);
    case "cancelled":
      return cancelled(state, uuid, id);
    default:
      return nothing(state);
  }
};

/** A message of ours that the runtime repeats as it begins to read it (`--replay-user-messages`). */
export const onEcho = (state: ClaudeState, frame: NativeObject): Said => {
  const uuid = asId(frame["uuid"]);
  if (uuid === undefined || !state.inputs.has(uuid)) return nothing(state);
  return begun(state, uuid, `${uuid}/echo`);
};
