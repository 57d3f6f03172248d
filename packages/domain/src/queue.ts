/**
 * Who is next. One input at a time is handed over; a prompt goes before what was queued, and what was queued waits while
 * the queue is held.
 */
import type { InputState, ThreadState } from "./state.ts";

/** Whether a session is there to take something: being opened, or open. */
export const isLive = (state: ThreadState): boolean =>
  state.session?.state === "opening" || state.session?.state === "ready";

/** Started, but the turn that it started has not been seen, or is another than the active one. */
export const awaitsTurn = (state: ThreadState, input: InputState): boolean =>
  input.state === "started" && (input.turnId === undefined || input.turnId !== state.turn?.turnId);

/** The prompt that the runtime has and whose turn has not begun. Steers are no prompts: they join the active turn. */
export const promptInFlight = (state: ThreadState): InputState | undefined =>
  state.inputs.find((input) => (input.state === "handed_over" && input.mode !== "steer") || awaitsTurn(state, input));

const isQueued = (input: InputState): boolean => input.state === "queued";

/**
 * The queued input that is to be handed over as the next prompt, whenever the runtime can take one: a prompt first, then
 * in the order of submission, unless the queue is held. A steer waits for its turn as long as there is one; when that
 * turn is over it is an input like others.
 */
export const inputInLine = (state: ThreadState): InputState | undefined => {
  const queued = state.inputs.filter(
    (input) => isQueued(input) && !(input.mode === "steer" && state.turn !== undefined),
  );
  return queued.find((input) => input.mode === "prompt") ?? (state.queueHeld === undefined ? queued[0] : undefined);
};

/** A person sent a prompt to be run now: it passes whatever the queue is held for. */
export const waitsInQueue = ({ mode }: InputState): boolean => mode !== "prompt";

export const queuedInputs = (state: ThreadState): ReadonlyArray<InputState> => state.inputs.filter(isQueued);

/** Nothing runs, is on its way to the runtime, or is about to be. */
export const isFree = (state: ThreadState): boolean =>
  state.turn === undefined && promptInFlight(state) === undefined && inputInLine(state) === undefined;

/** Whether the active turn takes another input now: not while somebody is stopping it (section 5). */
export const canSteer = (state: ThreadState): boolean =>
  state.turn !== undefined && state.interrupt === undefined && state.session?.capabilities?.steer === true;
