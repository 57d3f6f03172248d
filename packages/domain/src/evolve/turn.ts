import type { DomainEventType, DomainPayloads } from "@tributary/contracts";
import { without } from "../plain.ts";
import type { InterruptState, ThreadState } from "../state.ts";
import { unchanged } from "./types.ts";
import type { Evolvers } from "./types.ts";

type Started = DomainPayloads["turn.started"];

/** An interrupt that named an input waiting for its turn now stops that turn. */
const aim = (interrupt: InterruptState, { turnId, inputIds }: Started): InterruptState =>
  interrupt.turnId === undefined && interrupt.inputId !== undefined && inputIds.includes(interrupt.inputId)
    ? { ...interrupt, turnId }
    : interrupt;

const start = (state: ThreadState, payload: Started): ThreadState => {
  const { turnId, generation, inputIds } = payload;
  const native = state.session?.nativeSessionId;
  return {
    ...without(state, "lastTurnState"),
    // Runtimes keep a session from its first turn on: one that never had any is not there to be resumed.
    ...(native === undefined ? {} : { nativeSessionId: native }),
    turn: { turnId, generation, inputIds },
    // What started before its turn was seen belongs to it now.
    inputs: state.inputs.map((input) =>
      input.state === "started" && inputIds.includes(input.inputId) ? { ...input, turnId } : input,
    ),
    ...(state.interrupt === undefined ? {} : { interrupt: aim(state.interrupt, payload) }),
  };
};

const end = (state: ThreadState, { turnId, state: lastTurnState }: DomainPayloads["turn.ended"]): ThreadState => {
  if (state.turn?.turnId !== turnId) return state;
  const rest = state.interrupt?.turnId === turnId ? without(state, "turn", "interrupt") : without(state, "turn");
  return { ...rest, lastTurnState };
};

export const turnEvolvers: Evolvers<Extract<DomainEventType, `turn.${string}` | `interrupt.${string}`>> = {
  "turn.started": start,
  "turn.ended": end,
  "turn.plan_updated": unchanged,
  "turn.diff_updated": unchanged,
  "interrupt.requested": (state, target) => ({ ...state, interrupt: { ...target, step: "requested" } }),
  "interrupt.escalated": (state, { step }) =>
    state.interrupt === undefined ? state : { ...state, interrupt: { ...state.interrupt, step } },
};
