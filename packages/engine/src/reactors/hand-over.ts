/** Inputs on their way to the runtime: intent (queued) → attempt (handed over) → outcome (evidence, failure, unknown). */
import type { InternalCommand, PromptInput } from "@tributary/contracts";
import type { InputContent, ThreadState } from "@tributary/domain";
import { Effect, Result } from "effect";
import { attempt, callFault } from "../attempt.ts";
import type { Outcome } from "../attempt.ts";
import type { Live } from "../live.ts";
import { nextActions, settingsChange, settingsOf } from "../plan.ts";
import type { Action } from "../plan.ts";
import { failure, unsupported } from "../steps.ts";
import type { Tools } from "../tools.ts";

type HandOver = Extract<Action, { readonly type: "prompt" | "steer" }>;

/** Hands one input over. The attempt is committed before the runtime hears of it, so that no crash can send it twice. */
export const handOver = Effect.fnUntraced(function* (tools: Tools, live: Live, action: HandOver) {
  const { threadId, generation } = live;
  const { inputId, type: mode } = action;
  const isAttempted = yield* tools.step(threadId, (state) =>
    // Asked again inside the transaction: an interrupt, a withdrawal or another turn may have come first.
    nextActions(state, freeView(live)).some(isSame(action))
      ? [{ type: "input.hand_over", inputId, mode, generation }]
      : [],
  );
  if (!isAttempted) return;
  tools.fruitless.delete(threadId);
  if (action.type === "steer") live.steered.set(inputId, action.turnId);
  // Read after the attempt: from then on its text can't change any more.
  const content = yield* Effect.orElseSucceed(tools.facts.input(threadId, inputId), () => undefined);
  const unsent = unsentBecause(tools.writer.state(threadId), live, action, content);
  if (content === undefined || unsent !== undefined) {
    yield* tools.step(threadId, () => unsent ?? []);
    return;
  }
  const { text, attachments } = content;
  const said = { inputId, text, ...(attachments === undefined ? {} : { attachments }) };
  const deadline = tools.timings.calls[mode];
  const late = lose(tools, live, inputId, "no_answer");
  if (action.type === "steer") {
    const call = () =>
      live.session?.steer?.({ ...said, turnId: action.turnId }) ?? Effect.fail(unsupported("steer a running turn"));
    const done = (outcome: Outcome<void>) => heard(tools, live, inputId, outcome);
    return yield* attempt(tools, live, { call, deadline, fault: callFault, heard: done, late });
  }
  const now = tools.writer.state(threadId);
  const change = now === undefined ? undefined : changeWith(live, now);
  const call = () => live.session?.prompt({ ...said, ...change }) ?? Effect.fail(unsupported("take input"));
  const done = (outcome: Outcome<void>) => {
    if (Result.isSuccess(outcome) && change !== undefined && now !== undefined) live.settings = settingsOf(now);
    return heard(tools, live, inputId, outcome);
  };
  return yield* attempt(tools, live, { call, deadline, fault: callFault, heard: done, late });
});

/**
 * What to say of an input that is not sent after all, though that was committed: it can't be read, somebody stopped it in
 * the meantime, or its session is over, which has said what became of it. Undefined: send it.
 */
const unsentBecause = (
  state: ThreadState | undefined,
  live: Live,
  action: HandOver,
  content: InputContent | undefined,
): ReadonlyArray<InternalCommand> | undefined => {
  const { inputId } = action;
  const input = state?.inputs.find((one) => one.inputId === inputId);
  if (input?.state !== "handed_over" || input.generation !== live.generation || live.phase === "ending") return [];
  const { interrupt } = state ?? {};
  const isStopped =
    interrupt !== undefined &&
    (interrupt.inputId === inputId || (action.type === "steer" && interrupt.turnId === action.turnId));
  if (isStopped) return [{ type: "input.evidence", inputId, state: "withdrawn", reason: "interrupted" }];
  if (content !== undefined) return undefined;
  const error = failure("unknown", "input_unreadable", "The text of the input could not be read: send it again", true);
  return [{ type: "input.fail", inputId, error }];
};

/** The session as it is when nothing else is on its way: this hand-over itself is not in its own way. */
const freeView = ({ generation, phase, isEscalating, answered, withdrawn, settings, canConfigure }: Live) => ({
  generation,
  phase,
  isCalling: false,
  isEscalating,
  answered,
  withdrawn,
  settings,
  canConfigure,
});

const isSame =
  (wanted: HandOver) =>
  (action: Action): boolean =>
    action.type === wanted.type &&
    action.inputId === wanted.inputId &&
    (action.type !== "steer" || wanted.type !== "steer" || action.turnId === wanted.turnId);

/** What a runtime without `configure` is told with the prompt: what changed since it was told last. */
const changeWith = (
  live: Live,
  state: ThreadState,
): Pick<PromptInput, "model" | "effort" | "interactionMode"> | undefined => {
  if (live.canConfigure) return undefined;
  const change = settingsChange(state, live.settings);
  if (change === undefined) return undefined;
  const { approvalMode: _, serviceTier: _tier, ...told } = change;
  return Object.keys(told).length === 0 ? undefined : told;
};

/** What became of the call. Success is no evidence that the input began: that comes from the runtime as a record. */
const heard = (tools: Tools, live: Live, inputId: string, outcome: Outcome<void>): Effect.Effect<void> => {
  if (Result.isSuccess(outcome)) return Effect.void;
  const { reason, failure: error } = outcome.failure;
  switch (reason) {
    case "refused":
    case "unsupported":
    case "not_written":
      return Effect.asVoid(tools.step(live.threadId, () => [{ type: "input.fail", inputId, error }]));
    case "unconfirmed":
    case "exited":
      return lose(tools, live, inputId, reason);
  }
};

/** Nothing shows that it was read, and nothing that it was not: offered again, never sent again on its own. */
export const lose = (tools: Tools, live: Live, inputId: string, reason: string): Effect.Effect<void> =>
  Effect.asVoid(
    tools.step(live.threadId, (state) =>
      state.session?.generation === live.generation ? [{ type: "input.lose", inputId, reason }] : [],
    ),
  );
