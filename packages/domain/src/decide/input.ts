/** Client commands about inputs and the queue. */
import { event } from "@tributary/contracts";
import type { Attachment, ClientCommandOf, DomainEvent, InputMode } from "@tributary/contracts";
import { accept, rejected } from "../answers.ts";
import { maxQueued, maxUnsettled } from "../limits.ts";
import { defined } from "../plain.ts";
import { canSteer, isFree, queuedInputs } from "../queue.ts";
import type { Decision, InputState, ThreadDecision, ThreadState } from "../state.ts";
import type { ClientHandlers, Given } from "./types.ts";

type Refused = Extract<Decision, { readonly ok: false }>;
type Submission = Omit<ClientCommandOf<"input.submit">, "type" | "commandId" | "threadId">;

const isUnsettled = ({ state }: InputState): boolean => state === "failed" || state === "unconfirmed";

const find = (state: ThreadState, inputId: string): InputState | undefined =>
  state.inputs.find((input) => input.inputId === inputId);

/** A prompt where it can go at once, else the queue. */
const promptOrQueue = (state: ThreadState): InputMode =>
  isFree(state) && queuedInputs(state).length === 0 ? "prompt" : "queue";

const busy = (state: ThreadState): Refused =>
  rejected(
    "busy",
    `The agent is at work${state.turn === undefined ? "" : ` on turn ${state.turn.turnId}`}: ` +
      `wait, or send the input with delivery "queue" or "steer"`,
    state.turn === undefined ? {} : { details: { turnId: state.turn.turnId } },
  );

const steer = (state: ThreadState): InputMode | Refused => {
  if (state.turn === undefined)
    return rejected("no_active_turn", `No turn is active, so there is nothing to steer: send the input as a prompt`);
  if (state.session?.capabilities?.steer !== true)
    return rejected("unsupported", `This runtime cannot be steered: send the input with delivery "queue"`);
  return state.interrupt === undefined
    ? "steer"
    : rejected("busy", `Turn ${state.turn.turnId} is being stopped: wait until it is over`);
};

/** What the asked delivery becomes now. */
const modes: { readonly [D in NonNullable<Submission["delivery"]>]: (state: ThreadState) => InputMode | Refused } = {
  prompt: (state) => (isFree(state) ? "prompt" : busy(state)),
  steer,
  queue: () => "queue",
  auto: (state) => (canSteer(state) ? "steer" : promptOrQueue(state)),
};

/** A prompt is the person going on, so what was held goes on after it. */
const resumedBy = (state: ThreadState, mode: InputMode): ReadonlyArray<DomainEvent> =>
  mode === "prompt" && state.queueHeld !== undefined ? [event("queue.resumed", {})] : [];

/** Accepts the proposed plan that the input names; one that is settled already stays as it is. */
const acceptPlan = (state: ThreadState, planId: string | undefined): ReadonlyArray<DomainEvent> =>
  planId !== undefined && state.plans.includes(planId) ? [event("plan.resolved", { planId, outcome: "accepted" })] : [];

/** The oldest inputs that nobody settled, beyond what the state keeps (I11). */
const discardOldest = (state: ThreadState): ReadonlyArray<DomainEvent> => {
  const unsettled = state.inputs.filter(isUnsettled);
  return unsettled
    .slice(0, Math.max(0, unsettled.length - maxUnsettled))
    .map(({ inputId }) => event("input.discarded", { inputId }));
};

/** The attachments that an input names, as they are known here: what a client says of them does not count. */
const attached = (
  { look }: Given,
  named: Submission["attachments"],
): ReadonlyArray<Attachment> | undefined | Refused => {
  if (named === undefined) return undefined;
  const found: Array<Attachment> = [];
  for (const { id } of named) {
    const one = look.attachment(id);
    if (one === undefined)
      return rejected(
        "attachment_not_found",
        `There is no attachment ${id}: it was never uploaded here, or nobody used it for a day. Upload it again, then send the input with its new id`,
        { details: { attachmentId: id } },
      );
    found.push(one);
  }
  return found;
};

/** A first or later input of a thread that is neither archived nor deleted. */
export const submitInput = (given: Given, input: Submission): ThreadDecision => {
  const { state, look } = given;
  const { inputId, text, delivery = "auto", origin = { kind: "user" as const } } = input;
  if (find(state, inputId) !== undefined || look.closed("input", inputId) !== undefined)
    return rejected("input_exists", `Input ${inputId} was submitted before; a new input needs a new id`);
  if (queuedInputs(state).length >= maxQueued)
    return rejected("busy", `${maxQueued} inputs wait in the queue: withdraw some, or wait until they are done`);
  const mode = modes[delivery](state);
  if (typeof mode !== "string") return mode;
  const attachments = attached(given, input.attachments);
  if (attachments !== undefined && "ok" in attachments) return attachments;
  const queued = event(
    "input.queued",
    defined({ inputId, text, attachments, delivery, mode, origin, planId: input.planId }),
  );
  const events = [...discardOldest(state), ...acceptPlan(state, input.planId), ...resumedBy(state, mode), queued];
  return { ...accept(...events), mode };
};

const notQueued = (inputId: string, input: InputState | undefined, wanted: string): Refused =>
  rejected(
    "not_queued",
    `Input ${inputId} is ${input?.state ?? "not open"}: only one that is ${wanted} can be changed so`,
    {
      details: { state: input?.state ?? null },
    },
  );

/** The same input again, as if sent now; never as a steer, because the turn that it was for is over. */
const resubmit = ({ state, context }: Given, { inputId }: { readonly inputId: string }): ThreadDecision => {
  const input = find(state, inputId);
  if (input === undefined || !isUnsettled(input)) return notQueued(inputId, input, "failed or unconfirmed");
  const content = context.input;
  if (content === undefined) throw new Error(`input.resubmit of ${inputId} was dispatched without context.input`);
  const mode = promptOrQueue(state);
  const queued = event(
    "input.queued",
    defined({
      inputId,
      text: content.text,
      attachments: content.attachments,
      delivery: "auto" as const,
      mode,
      origin: content.origin,
      planId: content.planId,
      again: true,
    }),
  );
  return { ...accept(...resumedBy(state, mode), queued), mode };
};

/** The runtime has it, has not read it, and can give it back. */
const isReturnable = ({ session }: ThreadState, input: InputState | undefined): boolean =>
  input?.state === "handed_over" &&
  session?.state === "ready" &&
  session.generation === input.generation &&
  session.capabilities?.queue.withdraw === true;

/** What waits here is taken back at once; what the runtime holds is asked back, and the answer is an event. */
const withdraw = ({ state }: Given, { inputId }: { readonly inputId: string }): ThreadDecision => {
  const input = find(state, inputId);
  if (input?.state === "queued") return accept(event("input.withdrawn", { inputId }));
  if (!isReturnable(state, input)) return notQueued(inputId, input, "queued, or held by a runtime that gives it back,");
  return input?.isWithdrawing === true ? accept() : accept(event("input.withdraw_requested", { inputId }));
};

export const inputHandlers: ClientHandlers<Extract<keyof ClientHandlers, `input.${string}` | "queue.resume">> = {
  "input.submit": submitInput,
  "input.edit": ({ state }, { inputId, text }) => {
    const input = find(state, inputId);
    return input?.state === "queued"
      ? accept(event("input.edited", { inputId, text }))
      : notQueued(inputId, input, "queued");
  },
  "input.withdraw": withdraw,
  "input.resubmit": resubmit,
  "input.discard": ({ state }, { inputId }) => {
    const input = find(state, inputId);
    return input !== undefined && isUnsettled(input)
      ? accept(event("input.discarded", { inputId }))
      : notQueued(inputId, input, "failed or unconfirmed");
  },
  "queue.resume": ({ state }) => (state.queueHeld === undefined ? accept() : accept(event("queue.resumed", {}))),
};
