import type { RequestRow } from "@tributary/contracts";
import { Api, Internal } from "@tributary/contracts/api";
import { Views } from "@tributary/projections";
import { Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { needsScope } from "../../auth/needs-scope.ts";
import { calls } from "../calls.ts";
import { commandIdOf, dispatch } from "../commands.ts";
import { notFound, storeProblem } from "../problems.ts";
import { readProblem } from "../reads.ts";

type Answered = Pick<RequestRow, "threadId" | "requestId" | "request">;

/** The open requests of one id: request ids are unique within a thread only. */
const openRequests = Effect.fnUntraced(function* (requestId: string, threadId: string | undefined) {
  const views = yield* Views;
  const found: Array<RequestRow> = [];
  for (const state of ["pending", "answering"] as const) {
    let after: string | undefined;
    do {
      const page = yield* Effect.mapError(
        views.requests({
          state,
          ...(threadId === undefined ? {} : { threadId }),
          ...(after === undefined ? {} : { after }),
        }),
        // The cursors are ours.
        (error) =>
          error._tag === "CursorInvalid"
            ? new Internal({ detail: error.message, userAction: "none" })
            : storeProblem(error),
      );
      found.push(...page.requests.filter((request) => request.requestId === requestId));
      after = page.after;
    } while (after !== undefined);
  }
  return found;
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
    const [open, ...others] = yield* openRequests(requestId, threadId);
    const of = threadId ?? open?.threadId;
    if (of === undefined || (threadId === undefined && others.length > 0))
      return yield* notFound(
        of === undefined
          ? `No request ${requestId} is open. Name its thread as \`threadId\` to hear what became of it.`
          : `Several threads have an open request ${requestId}: name the one as \`threadId\`.`,
      );
    if ("optionId" in payload.answer) yield* mayChoose(open, payload.answer.optionId);
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
