/** Where a native frame belongs: sub-agents are native threads of their own, whose turns run inside the root agent's turn. */
import type { RuntimeEvent, RuntimeEventEnvelope, RuntimeEventType, RuntimePayloads } from "@tributary/contracts";
import type { CodexState, Place } from "./state.ts";

/** What a handler makes of a frame. */
export interface Said {
  readonly state: CodexState;
  readonly events: ReadonlyArray<RuntimeEvent>;
}

/** The contracts allow no deeper nesting. */
const MAX_DEPTH = 16;

/** Before the session's own thread is known, whatever comes is taken to be about it. */
export const isRoot = (state: CodexState, threadId: string): boolean =>
  state.root === undefined || threadId === state.root;

/** The path of a sub-agent, by native thread ids; a thread whose spawning was not seen counts as the root agent's child. */
export const agentPathOf = (state: CodexState, threadId: string): ReadonlyArray<string> => {
  const path = [threadId];
  let parent = state.agents.get(threadId)?.parentId;
  while (parent !== undefined && parent !== state.root && !path.includes(parent) && path.length < MAX_DEPTH) {
    path.unshift(parent);
    parent = state.agents.get(parent)?.parentId;
  }
  return path;
};

export const activeRootTurn = (state: CodexState): string | undefined => {
  for (const [turnId, turn] of state.turns) if (isRoot(state, turn.threadId)) return turnId;
  return undefined;
};

/** Nothing for threads that are not of this session. */
export const placeOf = (state: CodexState, threadId: string, nativeTurnId: string | undefined): Place | undefined => {
  if (state.foreign.has(threadId)) return undefined;
  if (isRoot(state, threadId)) return nativeTurnId === undefined ? {} : { turnId: nativeTurnId };
  const ofNative =
    nativeTurnId === undefined
      ? undefined
      : (state.turns.get(nativeTurnId)?.rootTurnId ?? state.endedChildTurns.get(nativeTurnId));
  const turnId = ofNative ?? activeRootTurn(state);
  return {
    ...(turnId === undefined ? {} : { turnId }),
    agentPath: agentPathOf(state, threadId),
    ...(nativeTurnId === undefined ? {} : { native: { turnId: nativeTurnId } }),
  };
};

/** One event. `type` and `payload` belong together by T, which a union of all events can't express for a generic T. */
export const say = <T extends RuntimeEventType>(
  type: T,
  envelope: RuntimeEventEnvelope,
  payload: RuntimePayloads[T],
): RuntimeEvent => {
  const { id, ...rest } = envelope;
  return { ...(id === undefined ? {} : { id }), type, ...rest, payload } as RuntimeEvent;
};

export const nothing = (state: CodexState): Said => ({ state, events: [] });
