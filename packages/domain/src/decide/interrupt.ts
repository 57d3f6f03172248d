/** Stopping: a person can always (I9). An interrupt names what it stops; what was not sent yet is withdrawn instead. */
import { event } from "@tributary/contracts";
import type { ClientCommandOf, DomainPayloads } from "@tributary/contracts";
import { accept, refused, rejected } from "../answers.ts";
import { inputInLine, promptInFlight } from "../queue.ts";
import type { InputState, InterruptState, ThreadDecision, ThreadState } from "../state.ts";
import type { ClientHandlers, InternalHandlers } from "./types.ts";

type Target = Pick<DomainPayloads["interrupt.requested"], "turnId" | "inputId">;

const steps: ReadonlyArray<InterruptState["step"]> = ["requested", "native", "terminate", "kill"];

const nothing = (what: string): ThreadDecision => rejected("no_active_turn", `${what}, so there is nothing to stop`);

/** The interrupt in flight stops this already: asking twice is asking once. */
const isAsked = ({ interrupt }: ThreadState, target: Target): boolean =>
  interrupt !== undefined &&
  (target.turnId === undefined ? interrupt.inputId === target.inputId : interrupt.turnId === target.turnId);

const request = (state: ThreadState, target: Target): ThreadDecision => {
  const generation = state.session?.generation;
  if (generation === undefined) return nothing("No session was opened");
  return isAsked(state, target) ? accept() : accept(event("interrupt.requested", { ...target, generation }));
};

const stopInput = (state: ThreadState, inputId: string, input: InputState | undefined): ThreadDecision => {
  const turnId = state.turn?.turnId;
  switch (input?.state) {
    case "queued":
      return accept(event("input.withdrawn", { inputId, reason: "interrupted" }));
    case "started":
      return request(state, input.turnId !== undefined && input.turnId === turnId ? { turnId, inputId } : { inputId });
    case "handed_over":
      if (input.mode !== "steer") return request(state, { inputId });
      // A steer has no turn of its own: stopping it stops the turn that it was to join.
      return turnId === undefined
        ? nothing(`The turn of input ${inputId} is over`)
        : request(state, { turnId, inputId });
    default:
      return nothing(`Input ${inputId} is not at work`);
  }
};

/** Nothing is named: the active turn, or the prompt that is about to become one. */
const stopAny = (state: ThreadState): ThreadDecision => {
  if (state.turn !== undefined) return request(state, { turnId: state.turn.turnId });
  const waiting = promptInFlight(state);
  if (waiting !== undefined) return request(state, { inputId: waiting.inputId });
  const next = inputInLine(state);
  return next?.mode === "prompt"
    ? accept(event("input.withdrawn", { inputId: next.inputId, reason: "interrupted" }))
    : nothing("No turn is active");
};

const interrupt = (state: ThreadState, command: ClientCommandOf<"turn.interrupt">): ThreadDecision => {
  const { turnId, inputId } = command;
  if (turnId !== undefined)
    return state.turn?.turnId === turnId ? request(state, { turnId }) : nothing(`Turn ${turnId} is not active`);
  if (inputId === undefined) return stopAny(state);
  return stopInput(
    state,
    inputId,
    state.inputs.find((input) => input.inputId === inputId),
  );
};

export const interruptHandlers: ClientHandlers<"turn.interrupt"> = {
  "turn.interrupt": ({ state }, command) => interrupt(state, command),
};

export const escalationHandlers: InternalHandlers<"interrupt.escalate"> = {
  "interrupt.escalate": ({ state }, { step }) => {
    const { interrupt } = state;
    if (interrupt === undefined) return refused("no_active_turn");
    if (steps.indexOf(step) <= steps.indexOf(interrupt.step)) return refused("invalid");
    const { turnId, inputId, generation } = interrupt;
    return accept(
      event("interrupt.escalated", {
        ...(turnId === undefined ? {} : { turnId }),
        ...(inputId === undefined ? {} : { inputId }),
        generation,
        step,
      }),
    );
  },
};
