/** Turns: their beginning, their end, and what stands under them. */
import { event } from "@tributary/contracts";
import type { DomainEvent, InternalCommandOf, RefusalReason } from "@tributary/contracts";
import { accept, refused } from "../answers.ts";
import { notLive, placeTurn } from "../guard.ts";
import { defined, pick, without } from "../plain.ts";
import { awaitsTurn, promptInFlight } from "../queue.ts";
import { leftovers, settleTurn } from "../settle.ts";
import type { InputState, InternalDecision, ThreadState } from "../state.ts";
import type { InternalGiven, InternalHandlers } from "./types.ts";

type Start = InternalCommandOf<"turn.start">;
type End = InternalCommandOf<"turn.end">;

/** An input that a new turn of this generation may be the run of. */
const isWaiting = (state: ThreadState, input: InputState, generation: number): boolean =>
  input.state === "handed_over" ||
  awaitsTurn(state, input) ||
  (input.state === "unconfirmed" && input.generation === generation);

/**
 * The inputs that a new turn runs: those that the runtime names or said earlier, else the prompt that waits — unless the
 * runtime says that it began by itself.
 */
const boundInputs = (state: ThreadState, command: Start): ReadonlyArray<InputState> => {
  const { turnId, generation, inputIds = [] } = command;
  const named = state.inputs.filter(
    (input) =>
      (inputIds.includes(input.inputId) && isWaiting(state, input, generation)) ||
      (input.turnId === turnId && awaitsTurn(state, input)),
  );
  if (named.length > 0 || inputIds.length > 0 || command.origin === "runtime") return named;
  const waiting = promptInFlight(state);
  return waiting === undefined || (waiting.turnId !== undefined && waiting.turnId !== turnId) ? [] : [waiting];
};

const begin = (state: ThreadState, command: Start): ReadonlyArray<DomainEvent> => {
  const { turnId } = command;
  const bound = boundInputs(state, command);
  return [
    event(
      "turn.started",
      defined({
        turnId,
        generation: command.generation,
        inputIds: bound.map(({ inputId }) => inputId),
        model: command.model,
        effort: command.effort,
        origin: command.origin ?? (bound.length > 0 ? "input" : "runtime"),
      }),
    ),
    ...bound
      .filter((input) => input.state !== "started")
      .map(({ inputId }) => event("input.started", { inputId, turnId, how: "started" })),
  ];
};

const start = ({ state, look }: InternalGiven, command: Start): InternalDecision => {
  const { turnId, generation } = command;
  const reason = notLive(state, generation);
  if (reason !== undefined) return refused(reason);
  const { turn } = state;
  if (turn?.turnId === turnId) return accept();
  if (look.closed("turn", turnId) !== undefined) return refused("turn_over");
  if (turn === undefined) return accept(...begin(state, command));
  if (promptInFlight(state) === undefined) return refused("turn_active");
  const ended = settleTurn(state, { turnId: turn.turnId, state: "superseded", settledBy: "system" });
  return accept(...ended, ...begin(state, command));
};

/** A turn that is not the active one ended: what still stands under it ends, session and active turn do not. */
const endOther = ({ state, look }: InternalGiven, turnId: string | undefined): InternalDecision => {
  if (turnId === undefined) return refused(state.turn === undefined ? "no_active_turn" : "not_active_turn");
  const closed = look.closed("turn", turnId);
  if (closed === undefined) return refused(state.turn === undefined ? "turn_unknown" : "not_active_turn");
  const rest = leftovers(state, turnId);
  return rest.length === 0 ? refused("turn_over") : accept(...rest);
};

const end = (given: InternalGiven, command: End): InternalDecision => {
  const { state } = given;
  const reason = notLive(state, command.generation);
  if (reason !== undefined) return refused(reason);
  const { turnId } = command;
  if (turnId === undefined || state.turn?.turnId !== turnId) return endOther(given, turnId);
  const said = pick(command, ["stopReason", "error", "usage", "costUsd", "costBasis", "settledBy"]);
  return accept(...settleTurn(state, { turnId, state: command.outcome, ...said }));
};

/** Refuses a report about a turn that was never seen, or of another generation. */
const misplaced = (
  { state, look }: InternalGiven,
  generation: number,
  turnId: string | undefined,
): RefusalReason | undefined => {
  const reason = notLive(state, generation);
  if (reason !== undefined) return reason;
  const place = placeTurn(state, look, generation, turnId);
  return place === "turn_unknown" || place === "other_generation" ? place : undefined;
};

export const turnHandlers: InternalHandlers<Extract<keyof InternalHandlers, `turn.${string}`>> = {
  "turn.start": start,
  "turn.end": end,
  "turn.plan": (given, command) => {
    const { turnId, generation } = command;
    const reason = misplaced(given, generation, turnId);
    if (reason !== undefined) return refused(reason);
    if (turnId !== undefined && turnId !== given.state.turn?.turnId) return refused("turn_over");
    return accept(event("turn.plan_updated", without(command, "type", "generation")));
  },
  /** Also of an ended turn: runtimes send the last diff with the end, or after it. */
  "turn.diff": (given, command) => {
    const reason = misplaced(given, command.generation, command.turnId);
    return reason === undefined
      ? accept(event("turn.diff_updated", without(command, "type", "generation")))
      : refused(reason);
  },
};
