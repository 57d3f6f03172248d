import type { RequestRow } from "@tributary/contracts";
import { Api } from "@tributary/contracts/api";
import { Views } from "@tributary/projections";
import { Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { needsScope } from "../../auth/needs-scope.ts";
import { calls } from "../calls.ts";
import { commandIdOf, dispatch } from "../commands.ts";
import { badRequest, notFound, storeProblem } from "../problems.ts";
import { readProblem } from "../reads.ts";

type Answered = Pick<RequestRow, "threadId" | "requestId" | "request">;

/** The requests that an id may mean: those that wait, else those that are over, which are there to say what became of them. */
const meant = Effect.fnUntraced(function* (requestId: string, threadId: string | undefined) {
  const views = yield* Views;
  const query = { requestId, ...(threadId === undefined ? {} : { threadId }) };
  return yield* Effect.mapError(views.requestsById(query), storeProblem);
});

/** Options that reach beyond the session are for who may administer: a watch or a phone may say yes once. */
const mayChoose = Effect.fnUntraced(function* (open: Answered | undefined, optionId: string) {
  const scope = open?.request.options?.find(({ id }) => id === optionId)?.scope;
  if (scope === "project" || scope === "user")
    yield* needsScope("admin", `The option “${optionId}”, which holds for the ${scope},`);
});

/** Approvals and questions of all threads. */
export const requestCalls = calls("requests")({
  list: Effect.fnUntraced(function* ({ query: { state = "pending", ...query } }) {
    const views = yield* Views;
    const page = yield* Effect.mapError(views.requests({ state, ...query }), readProblem);
    return { requests: page.requests, ...(page.after === undefined ? {} : { next: page.after }) };
  }),
  answer: Effect.fnUntraced(function* ({ headers, params: { requestId }, payload: { threadId, ...payload } }) {
    const [found, ...others] = yield* meant(requestId, threadId);
    const of = threadId ?? found?.threadId;
    if (of === undefined)
      return yield* notFound(`There is no request ${requestId}; GET /requests lists those that wait for an answer.`);
    if (threadId === undefined && others.length > 0) {
      const threads = [of, ...others.map((other) => other.threadId)].join(", ");
      return yield* badRequest(
        `Several threads have a request ${requestId} (${threads}): name the one as \`threadId\`.`,
        ["payload", "threadId"],
      );
    }
    if ("optionId" in payload.answer) yield* mayChoose(found, payload.answer.optionId);
    return yield* dispatch({
      type: "request.answer",
      commandId: commandIdOf(headers),
      threadId: of,
      requestId,
      ...payload,
    });
  }),
});

export const requests = HttpApiBuilder.group(Api, "requests", (handlers) => handlers.handleAll(requestCalls));
