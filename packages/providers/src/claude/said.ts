/** What a handler makes of a frame, and how handlers are put together. */
import type { RuntimeEvent, RuntimeEventEnvelope, RuntimeEventType, RuntimePayloads } from "@tributary/contracts";
import type { ClaudeState } from "./state.ts";

export interface Said {
  readonly state: ClaudeState;
  readonly events: ReadonlyArray<RuntimeEvent>;
}

/** One event. `type` and `payload` belong together by T, which a union of all events can't express for a generic T. */
export const say = <T extends RuntimeEventType>(
  type: T,
  envelope: RuntimeEventEnvelope,
  payload: RuntimePayloads[T],
): RuntimeEvent => {
  const { id, ...rest } = envelope;
  return { ...(id === undefined ? {} : { id }), type, ...rest, payload } as RuntimeEvent;
};

export const nothing = (state: ClaudeState): Said => ({ state, events: [] });

/** The next step on what the first one left. */
export const andThen = (said: Said, step: (state: ClaudeState) => Said): Said => {
  const next = step(said.state);
  return { state: next.state, events: next.events.length === 0 ? said.events : [...said.events, ...next.events] };
};

/** A step for each, in order. */
export const each = <A>(state: ClaudeState, list: Iterable<A>, step: (state: ClaudeState, one: A) => Said): Said => {
  let said = nothing(state);
  for (const one of list) said = andThen(said, (before) => step(before, one));
  return said;
};

/** Told only when it differs from what was told under this name last. */
export const whenNew = (
  state: ClaudeState,
  name: string,
  value: unknown,
  events: () => ReadonlyArray<RuntimeEvent>,
): Said => {
  const text = JSON.stringify(value) ?? "";
  return state.told[name] === text
    ? nothing(state)
    : { state: { ...state, told: { ...state.told, [name]: text } }, events: events() };
};
