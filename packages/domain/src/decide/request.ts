/** Requests: the first answer wins, and the runtime gets one (I7). */
import { event } from "@tributary/contracts";
import type { Actor, Answer, ClientCommandOf, InternalCommandOf } from "@tributary/contracts";
import { accept, refused, rejected } from "../answers.ts";
import { opening } from "../guard.ts";
import { without } from "../plain.ts";
import { approvalPolicy } from "../policy.ts";
import { livesOn } from "../settle.ts";
import type { InternalDecision, Lookups, RequestState, ThreadDecision, ThreadState } from "../state.ts";
import { answerProblem, maskAnswer } from "./answer.ts";
import type { Given, InternalGiven, ClientHandlers, InternalHandlers } from "./types.ts";

const find = (state: ThreadState, requestId: string): RequestState | undefined =>
  state.requests.find((request) => request.requestId === requestId);

const alreadyAnswered = (requestId: string, by: Actor | undefined, answer: Answer | undefined): ThreadDecision =>
  rejected(
    "already_answered",
    `Request ${requestId} was answered by ${by?.id ?? "the runtime"}: nothing is left to do`,
    {
      details: { by: by ?? null, answer: answer ?? null },
    },
  );

const expired = (requestId: string, why: string): ThreadDecision =>
  rejected("request_expired", `Request ${requestId} ${why}: the agent waits for no answer any more`);

const notOpen = (look: Lookups, requestId: string): ThreadDecision => {
  const closed = look.closed("request", requestId);
  if (closed === undefined)
    return rejected("unknown_request", `No request ${requestId} is known in this thread: reload its requests`);
  if (closed.state === "answered") return alreadyAnswered(requestId, closed.by, closed.answer);
  return expired(requestId, closed.state === "expired" ? "has expired" : "was withdrawn");
};

const answer = ({ state, context, look }: Given, command: ClientCommandOf<"request.answer">): ThreadDecision => {
  const { requestId } = command;
  const request = find(state, requestId);
  if (request === undefined) return notOpen(look, requestId);
  if (request.state === "answering") return alreadyAnswered(requestId, request.by, request.answer);
  if (request.expiresAt !== undefined && Date.parse(context.now) >= Date.parse(request.expiresAt))
    return expired(requestId, `has expired at ${request.expiresAt}`);
  if (command.subjectHash !== undefined && command.subjectHash !== request.subjectHash)
    return rejected("request_changed", `Request ${requestId} now asks something else: read it again, then answer`, {
      details: { subjectHash: request.subjectHash },
    });
  const problem = answerProblem(request, command.answer);
  if (problem !== undefined)
    return rejected("invalid_answer", problem, { details: { options: request.options?.map(({ id }) => id) ?? [] } });
  return accept(
    event("request.answering", { requestId, answer: maskAnswer(request, command.answer), by: context.actor }),
  );
};

export const requestHandlers: ClientHandlers<"request.answer"> = { "request.answer": answer };

/** A request of a background agent stays answerable after the turn that began it; any other needs a live turn. */
const open = ({ state, look }: InternalGiven, command: InternalCommandOf<"request.open">): InternalDecision => {
  const { requestId, generation, turnId, agentPath } = command;
  if (find(state, requestId) !== undefined) return accept();
  if (look.closed("request", requestId) !== undefined) return refused("request_over");
  const place = opening(state, look, generation, turnId);
  if (place.kind === "refused") return refused(place.reason);
  if (place.kind === "over" && !(place.reason === "turn_over" && livesOn(state, agentPath)))
    return refused(place.reason);
  const opened = event("request.opened", without(command, "type"));
  const allowed = approvalPolicy(state, command);
  if (allowed === undefined) return accept(opened);
  const by = { kind: "system", id: "approval_policy" } as const;
  return accept(opened, event("request.answering", { requestId, answer: allowed, by }));
};

const missing = (look: Lookups, requestId: string): InternalDecision =>
  refused(look.closed("request", requestId) === undefined ? "request_unknown" : "request_over");

/** The answer that the runtime reports; ours where it says nothing else. */
const answeredBy = (
  request: RequestState,
  optionId: string | undefined,
  runtime: Actor,
): { readonly answer?: Answer; readonly by: Actor } => {
  const { answer, by } = request;
  const isOther =
    optionId !== undefined &&
    request.options?.some(({ id }) => id === optionId) === true &&
    !(answer !== undefined && "optionId" in answer && answer.optionId === optionId);
  if (isOther) return { answer: { optionId }, by: runtime };
  if (answer !== undefined && by !== undefined) return { answer, by };
  return optionId === undefined ? { by: runtime } : { answer: { optionId }, by: runtime };
};

const resolve = ({ state, context, look }: InternalGiven, command: InternalCommandOf<"request.resolve">) => {
  const { requestId, outcome } = command;
  const request = find(state, requestId);
  if (request === undefined) return missing(look, requestId);
  if (outcome === "withdrawn") return accept(event("request.withdrawn", { requestId, reason: "withdrawn_by_runtime" }));
  if (outcome === "expired") return accept(event("request.expired", { requestId, reason: "expired_by_runtime" }));
  const runtime: Actor = { kind: "runtime", id: context.actor.kind === "runtime" ? context.actor.id : state.instance };
  return accept(
    event("request.answered", { requestId, ...answeredBy(request, command.optionId, runtime), delivery: "confirmed" }),
  );
};

/** A request whose answer is on its way. */
const answering = (state: ThreadState, requestId: string): RequestState | undefined => {
  const request = find(state, requestId);
  return request?.state === "answering" ? request : undefined;
};

const notAnswering = (state: ThreadState, look: Lookups, requestId: string): InternalDecision =>
  find(state, requestId) === undefined ? missing(look, requestId) : refused("invalid");

export const requestInternalHandlers: InternalHandlers<Extract<keyof InternalHandlers, `request.${string}`>> = {
  "request.open": open,
  "request.resolve": resolve,
  "request.deliver": ({ state, look }, { requestId, outcome: delivery }) => {
    const request = answering(state, requestId);
    if (request === undefined) return notAnswering(state, look, requestId);
    const { answer, by } = request;
    return accept(
      event("request.answered", {
        requestId,
        ...(answer === undefined ? {} : { answer }),
        ...(by === undefined ? {} : { by }),
        delivery,
      }),
    );
  },
  "request.not_delivered": ({ state, look }, { requestId, error }) =>
    answering(state, requestId) === undefined
      ? notAnswering(state, look, requestId)
      : accept(event("request.delivery_failed", { requestId, error })),
  "request.auto_answer": ({ state, look }, { requestId, answer, by }) => {
    const request = find(state, requestId);
    if (request === undefined) return missing(look, requestId);
    if (request.state !== "pending" || answerProblem(request, answer) !== undefined) return refused("invalid");
    return accept(event("request.answering", { requestId, answer: maskAnswer(request, answer), by }));
  },
  /** An answer on its way is not overtaken by a deadline: its delivery says what became of it. */
  "request.expire": ({ state, look }, { requestId, reason }) => {
    const request = find(state, requestId);
    if (request === undefined) return missing(look, requestId);
    return request.state === "pending" ? accept(event("request.expired", { requestId, reason })) : refused("invalid");
  },
};
