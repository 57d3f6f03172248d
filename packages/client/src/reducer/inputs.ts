/** Inputs that wait or are at work, turns, and the inputs of this device that the log does not have yet. */
import type { InputView, TurnView } from "@tributary/contracts";
import type { Draft, Handlers } from "./events.ts";
import { defined, type LocalInput, type State } from "./state.ts";
import { find, replace } from "./timeline.ts";

/** Of these something may still become. */
const open: ReadonlySet<string> = new Set(["queued", "handed_over", "started", "unconfirmed", "failed"]);

/** Changes an input in the list of open ones and, where it is a message already, in the timeline. */
const move = (
  draft: Draft,
  inputId: string,
  state: InputView["state"] | undefined,
  change: Partial<InputView> = {},
): void => {
  const index = draft.inputs.findIndex(({ id }) => id === inputId);
  const before = draft.inputs[index];
  const patch = { ...change, ...defined({ state }) };
  if (before !== undefined)
    draft.inputs =
      state === undefined || open.has(state)
        ? draft.inputs.with(index, { ...before, ...patch })
        : draft.inputs.toSpliced(index, 1);
  const row = find(draft.timeline, "input", inputId);
  if (row?.kind !== "message") return;
  const { text, attachments } = change;
  draft.timeline = replace(draft.timeline, {
    ...row,
    ...defined({ inputState: state, text, length: text?.length, attachments }),
  });
};

/** The message of an input belongs to the turn that it began or joined. */
const placeInTurn = (draft: Draft, inputId: string, turnId: string | undefined): void => {
  const row = find(draft.timeline, "input", inputId);
  if (row !== undefined && turnId !== undefined) draft.timeline = replace(draft.timeline, { ...row, turnId });
};

const turn = (draft: Draft, turnId: string, change: Partial<TurnView>): void => {
  const index = draft.turns.findLastIndex(({ id }) => id === turnId);
  const before = draft.turns[index];
  if (before !== undefined) draft.turns = draft.turns.with(index, { ...before, ...change });
};

export const inputHandlers: Handlers = {
  "input.queued": (draft, payload, { sequence }) => {
    const { inputId, text, attachments, delivery, mode, origin, planId, again } = payload;
    draft.locals = draft.locals.filter(({ input }) => input.id !== inputId);
    const said = defined({ text, attachments, delivery, mode, origin, planId });
    if (again === true) {
      move(draft, inputId, "queued", said);
      draft.inputs = draft.inputs.map((input) => {
        if (input.id !== inputId) return input;
        const { turnId: _, reason: __, error: ___, ...rest } = input;
        return rest;
      });
    } else draft.inputs = [...draft.inputs, { id: inputId, state: "queued", ...said, position: sequence }];
  },
  "input.edited": (draft, { inputId, text }) => move(draft, inputId, undefined, { text }),
  "input.handed_over": (draft, { inputId }) => move(draft, inputId, "handed_over"),
  "input.started": (draft, { inputId, turnId }) => {
    move(draft, inputId, "started", defined({ turnId }));
    placeInTurn(draft, inputId, turnId);
  },
  "input.done": (draft, { inputId, turnId }) => move(draft, inputId, "done", defined({ turnId })),
  "input.withdrawn": (draft, { inputId }) => move(draft, inputId, "withdrawn"),
  "input.failed": (draft, { inputId, error }) => move(draft, inputId, "failed", { error }),
  "input.unconfirmed": (draft, { inputId, reason }) => move(draft, inputId, "unconfirmed", { reason }),
  "input.withdraw_requested": (draft, { inputId }) => move(draft, inputId, undefined, { reason: "withdraw_requested" }),
  "input.withdraw_failed": (draft, { inputId, error }) =>
    move(draft, inputId, undefined, { reason: `withdraw_failed: ${error.message}` }),
  "input.discarded": (draft, { inputId }) => move(draft, inputId, "discarded"),
};

export const turnHandlers: Handlers = {
  "turn.started": (draft, { turnId }, { occurredAt }) => {
    const others = draft.turns.filter(({ id }) => id !== turnId);
    draft.turns = [...others, { id: turnId, state: "running", startedAt: occurredAt }];
  },
  "turn.ended": (draft, { turnId, state, stopReason, error, usage, costUsd }, { occurredAt }) =>
    turn(draft, turnId, { state, ...defined({ stopReason, error, usage, costUsd }), endedAt: occurredAt }),
  "turn.diff_updated": (draft, { turnId }) => turn(draft, turnId, { hasDiff: true }),
  "turn.plan_updated": (draft, { turnId, agentPath, steps, explanation }) => {
    // A sub-agent's steps are its own.
    if (agentPath.length === 0) draft.plan = defined({ turnId, steps, explanation });
  },
};

/** An accepted input whose event has passed is no longer this device's own, whatever became of it. */
export const settleLocals = (draft: Draft): void => {
  if (draft.locals.some((local) => isSettled(draft, local)))
    draft.locals = draft.locals.filter((local) => !isSettled(draft, local));
};

const isSettled = (state: State, { input, acceptedAt }: LocalInput): boolean =>
  (acceptedAt !== undefined && acceptedAt <= state.sequence) ||
  state.inputs.some(({ id }) => id === input.id) ||
  find(state.timeline, "input", input.id) !== undefined;

/** What a person is about to send, as it will look. */
export const localInput = (
  input: Pick<InputView, "id" | "text"> & Partial<Pick<InputView, "attachments" | "delivery" | "origin">>,
): InputView => ({
  ...input,
  state: "queued",
  mode: "queue",
  delivery: input.delivery ?? "auto",
  origin: input.origin ?? { kind: "user" },
  position: Number.MAX_SAFE_INTEGER,
});
