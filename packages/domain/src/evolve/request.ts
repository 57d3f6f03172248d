import type { DomainEventType, DomainPayloads } from "@tributary/contracts";
import { pick, without } from "../plain.ts";
import type { RequestState, ThreadState } from "../state.ts";
import type { Evolvers } from "./types.ts";

/** What is needed to check an answer. What it is about is in the log and in a row, not here. */
const opened = (payload: DomainPayloads["request.opened"]): RequestState => ({
  ...pick(payload, ["requestId", "kind", "generation", "agentPath", "subjectHash"]),
  ...pick(payload, ["turnId", "action", "options", "questions", "form", "expiresAt"]),
  state: "pending",
  blocking: payload.blocking ?? true,
});

const change = (state: ThreadState, requestId: string, next: (request: RequestState) => RequestState): ThreadState => ({
  ...state,
  requests: state.requests.map((request) => (request.requestId === requestId ? next(request) : request)),
});

const leave = (state: ThreadState, { requestId }: { readonly requestId: string }): ThreadState => ({
  ...state,
  requests: state.requests.filter((request) => request.requestId !== requestId),
});

export const requestEvolvers: Evolvers<Extract<DomainEventType, `request.${string}`>> = {
  "request.opened": (state, payload) => ({ ...state, requests: [...state.requests, opened(payload)] }),
  "request.answering": (state, { requestId, answer, by }) =>
    change(state, requestId, (request) => ({ ...request, state: "answering", answer, by })),
  "request.delivery_failed": (state, { requestId }) =>
    change(state, requestId, (request) => ({ ...without(request, "answer", "by"), state: "pending" })),
  "request.answered": leave,
  "request.withdrawn": leave,
  "request.expired": leave,
};
