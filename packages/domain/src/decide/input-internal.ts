/** How an input fares with the runtime: attempt, evidence, failure. */
import { event } from "@tributary/contracts";
import type { DomainEvent, DomainPayloads, Failure, InternalCommandOf } from "@tributary/contracts";
import { accept, refused } from "../answers.ts";
import { inputRefused } from "../failures.ts";
import { notLive } from "../guard.ts";
import { defined } from "../plain.ts";
import { canSteer, inputInLine, isLive, promptInFlight } from "../queue.ts";
import { holdQueue } from "../settle.ts";
import type { InputState, InternalDecision, Lookups, ThreadState } from "../state.ts";
import type { InternalGiven, InternalHandlers } from "./types.ts";

const find = (state: ThreadState, inputId: string): InputState | undefined =>
  state.inputs.find((input) => input.inputId === inputId);

/** Not open: `invalid` when it is over, since it may not change any more. */
const notOpen = (look: Lookups, inputId: string): InternalDecision =>
  refused(look.closed("input", inputId) === undefined ? "input_unknown" : "invalid");

/** The attempt. From here on the runtime may have read it, so it is made once, in turn, and never past an interrupt. */
const handOver = ({ state, look }: InternalGiven, command: InternalCommandOf<"input.hand_over">): InternalDecision => {
  const { inputId, mode, generation } = command;
  const input = find(state, inputId);
  if (input === undefined) return notOpen(look, inputId);
  const reason = notLive(state, generation);
  if (reason !== undefined) return refused(reason);
  if (input.state !== "queued" || state.session?.state !== "ready" || state.interrupt !== undefined)
    return refused("invalid");
  if (mode === "steer") {
    if (state.turn === undefined) return refused("no_active_turn");
    if (input.mode !== "steer" || !canSteer(state)) return refused("invalid");
  } else {
    if (state.turn !== undefined) return refused("turn_active");
    if (promptInFlight(state) !== undefined || inputInLine(state)?.inputId !== inputId) return refused("invalid");
  }
  return accept(event("input.handed_over", { inputId, mode, generation }));
};

/** After an input that came to nothing the queue waits for a person; a steer changes nothing about the turn it missed. */
const holdAfter = (
  state: ThreadState,
  failed: InputState,
  reason: DomainPayloads["queue.held"]["reason"],
): ReadonlyArray<DomainEvent> =>
  failed.mode === "steer"
    ? []
    : holdQueue({ ...state, inputs: state.inputs.filter((input) => input !== failed) }, reason);

const fail = (state: ThreadState, input: InputState, error: Failure): InternalDecision =>
  accept(event("input.failed", { inputId: input.inputId, error }), ...holdAfter(state, input, "failed"));

/** The runtime has it: handed over, or given up as unconfirmed by this same live session. */
const isWithRuntime = (state: ThreadState, input: InputState): boolean =>
  input.state === "handed_over" ||
  (input.state === "unconfirmed" && isLive(state) && input.generation === state.session?.generation);

const begin = (
  { state, look }: InternalGiven,
  { inputId, turnId: named, state: how }: InternalCommandOf<"input.evidence">,
): ReadonlyArray<DomainEvent> => {
  const turnId = named ?? state.turn?.turnId;
  const started = event(
    "input.started",
    defined({ inputId, turnId, how: how === "folded" ? ("folded" as const) : ("started" as const) }),
  );
  const isOver = turnId !== undefined && turnId !== state.turn?.turnId && look.closed("turn", turnId) !== undefined;
  return isOver ? [started, event("input.done", { inputId, turnId })] : [started];
};

const evidence = (given: InternalGiven, command: InternalCommandOf<"input.evidence">): InternalDecision => {
  const { state, look } = given;
  const input = find(state, command.inputId);
  if (input === undefined) return notOpen(look, command.inputId);
  switch (command.state) {
    // Heard, but not begun: nothing that a restart could rely on.
    case "acknowledged":
    case "held":
      return accept();
    case "started":
    case "folded":
      if (input.state === "started") return accept();
      return isWithRuntime(state, input) ? accept(...begin(given, command)) : refused("invalid");
    case "withdrawn":
      return isWithRuntime(state, input)
        ? accept(event("input.withdrawn", defined({ inputId: input.inputId, reason: command.reason })))
        : refused("invalid");
    // Offered again by its failure, never sent again on its own.
    case "dropped":
    case "refused":
      return isWithRuntime(state, input) ? fail(state, input, inputRefused(command.reason)) : refused("invalid");
  }
};

export const inputInternalHandlers: InternalHandlers<Extract<keyof InternalHandlers, `input.${string}`>> = {
  "input.hand_over": handOver,
  "input.evidence": evidence,
  "input.fail": ({ state, look }, { inputId, error }) => {
    const input = find(state, inputId);
    if (input === undefined) return notOpen(look, inputId);
    return input.state === "queued" || isWithRuntime(state, input) ? fail(state, input, error) : refused("invalid");
  },
  "input.withdraw_fail": ({ state, look }, { inputId, error }) => {
    const input = find(state, inputId);
    if (input === undefined) return notOpen(look, inputId);
    return input.isWithdrawing === true
      ? accept(event("input.withdraw_failed", { inputId, error }))
      : refused("invalid");
  },
  "input.lose": ({ state, look }, { inputId, reason }) => {
    const input = find(state, inputId);
    if (input === undefined) return notOpen(look, inputId);
    return input.state === "handed_over"
      ? accept(event("input.unconfirmed", { inputId, reason }), ...holdAfter(state, input, "lost"))
      : refused("invalid");
  },
};
