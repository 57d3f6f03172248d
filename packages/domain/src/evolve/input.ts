import type { DomainEventType } from "@tributary/contracts";
import { without } from "../plain.ts";
import type { InputState, ThreadState } from "../state.ts";
import type { Evolvers } from "./types.ts";

/** Whatever became of it, taking it back is no open question any more. */
const change = (state: ThreadState, inputId: string, next: (input: InputState) => InputState): ThreadState => ({
  ...state,
  inputs: state.inputs.map((input) => (input.inputId === inputId ? next(without(input, "isWithdrawing")) : input)),
});

const dropInput = (state: ThreadState, inputId: string): ThreadState => ({
  ...state,
  inputs: state.inputs.filter((input) => input.inputId !== inputId),
});

/** An interrupt of an input without a turn is over with the input; one that has a turn ends with the turn. */
const calm = (state: ThreadState, inputId: string): ThreadState =>
  state.interrupt?.inputId === inputId && state.interrupt.turnId === undefined ? without(state, "interrupt") : state;

const leave = (state: ThreadState, { inputId }: { readonly inputId: string }): ThreadState =>
  calm(dropInput(state, inputId), inputId);

export const inputEvolvers: Evolvers<Extract<DomainEventType, `input.${string}` | `queue.${string}`>> = {
  /** Again or new: it is the newest in line. */
  "input.queued": (state, { inputId, mode }) => {
    const rest = dropInput(state, inputId);
    return { ...rest, inputs: [...rest.inputs, { inputId, state: "queued", mode }] };
  },
  "input.edited": (state) => state,
  "input.handed_over": (state, { inputId, generation, mode }) =>
    change(state, inputId, (input) => ({ ...input, state: "handed_over", mode, generation })),
  "input.started": (state, { inputId, turnId }) => {
    const next = change(state, inputId, (input) => ({
      ...input,
      state: "started",
      ...(turnId === undefined ? {} : { turnId }),
    }));
    const { turn } = next;
    return turn === undefined || turn.turnId !== turnId || turn.inputIds.includes(inputId)
      ? next
      : { ...next, turn: { ...turn, inputIds: [...turn.inputIds, inputId] } };
  },
  "input.done": leave,
  "input.withdrawn": leave,
  "input.discarded": leave,
  "input.failed": (state, { inputId }) =>
    calm(
      change(state, inputId, (input) => ({ ...input, state: "failed" })),
      inputId,
    ),
  "input.unconfirmed": (state, { inputId }) =>
    calm(
      change(state, inputId, (input) => ({ ...input, state: "unconfirmed" })),
      inputId,
    ),
  "input.withdraw_requested": (state, { inputId }) =>
    change(state, inputId, (input) => ({ ...input, isWithdrawing: true })),
  "input.withdraw_failed": (state, { inputId }) => change(state, inputId, (input) => input),
  "queue.held": (state, { reason }) => ({ ...state, queueHeld: reason }),
  "queue.resumed": (state) => without(state, "queueHeld"),
};
