/** Where a frame belongs: its turn, and the agent that it is from or about. */
import type { RuntimeEvent } from "@tributary/contracts";
import { asId, asObject, asWords, defined, eventId, type NativeObject } from "../native.ts";
import { nothing, type Said, say } from "./said.ts";
import { type Agent, type ClaudeState, type Place, put } from "./state.ts";

/** The contracts allow no deeper nesting. */
const MAX_DEPTH = 16;

/** The agent that a frame is from: "" is the root, others are named by the call that spawned them. */
export const agentKey = (frame: NativeObject): string => asId(frame["parent_tool_use_id"]) ?? "";

export const rootPlace = (state: ClaudeState): Place => (state.turn === undefined ? {} : { turnId: state.turn.id });

/** The place of a call, of a request about it, of whatever names it. */
export const toolPlace = (state: ClaudeState, toolId: string | undefined): Place =>
  (toolId === undefined ? undefined : state.tools.get(toolId)?.place) ?? rootPlace(state);

export const childPath = (place: Place, toolId: string): ReadonlyArray<string> =>
  [...(place.agentPath ?? []), toolId].slice(0, MAX_DEPTH);

/** What is said inside an agent. */
export const insideAgent = ({ place, path }: Agent): Place => ({
  ...(place.turnId === undefined ? {} : { turnId: place.turnId }),
  agentPath: path,
});

/** A sub-agent that speaks before any task frame named it (older runtimes have none for agents in the foreground). */
const implicitAgent = (state: ClaudeState, toolId: string): Said => {
  const place = toolPlace(state, toolId);
  const path = childPath(place, toolId);
  const agent: Agent = { place, path, taskId: toolId, isImplicit: true, isOver: false };
  const title = asWords(state.tools.get(toolId)?.input["description"]);
  const event = say(
    "task.started",
    { ...eventId(toolId, "task"), ...place, itemId: toolId },
    { taskId: toolId, kind: "subagent", agentPath: path, itemId: toolId, ...defined({ title }) },
  );
  return { state: { ...state, agents: put(state.agents, toolId, agent) }, events: [event] };
};

/** Begins a turn. `id` is the native identity of what shows that it began. */
export const beginTurn = (state: ClaudeState, id: string): Said => {
  const first = state.waiting[0];
  const isFirst = first !== undefined && (first.uuid === undefined || !state.hasLifecycle) && state.begun.length === 0;
  const uuids = isFirst ? (first.uuid === undefined ? [] : [first.uuid]) : state.begun;
  const inputIds = uuids.map((uuid) => state.inputs.get(uuid) ?? uuid);
  const event = say(
    "turn.started",
    { ...eventId(id, "turn"), turnId: id },
    {
      origin: isFirst || uuids.length > 0 ? "input" : "runtime",
      ...(inputIds.length === 0 ? {} : { inputIds }),
      ...defined({ model: state.model, effort: state.effort }),
    },
  );
  return {
    state: {
      ...state,
      turn: { id, uuids, isInterrupted: false, texts: new Map() },
      waiting: isFirst ? state.waiting.slice(1) : state.waiting,
      begun: [],
    },
    events: [event],
  };
};

/** Makes sure that what the root agent says has a turn, and that a sub-agent is known. */
export const ensurePlace = (
  state: ClaudeState,
  frame: NativeObject,
): { readonly said: Said; readonly place: Place } => {
  const key = agentKey(frame);
  if (key !== "") {
    const said = state.agents.has(key) ? nothing(state) : implicitAgent(state, key);
    const agent = said.state.agents.get(key);
    return { said, place: agent === undefined ? {} : insideAgent(agent) };
  }
  const id = asId(frame["uuid"]);
  const said = state.turn === undefined && id !== undefined ? beginTurn(state, id) : nothing(state);
  return { said, place: rootPlace(said.state) };
};

/** Prepends what had to be said first. */
export const after = (first: Said, events: ReadonlyArray<RuntimeEvent>, state: ClaudeState): Said => ({
  state,
  events: first.events.length === 0 ? events : [...first.events, ...events],
});

/** A member of a frame as an object, empty where it is none. */
export const objectIn = (frame: NativeObject, name: string): NativeObject => asObject(frame[name]) ?? {};
