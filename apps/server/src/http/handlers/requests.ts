import type { RequestRow } from "@tributary/contracts";
import { Api, Caller, Forbidden, Internal } from "@tributary/contracts/api";
import { Views } from "@tributary/projections";
import { Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
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
  const { scopes } = yield* Caller;
  const scope = open?.request.options?.find(({ id }) => id === optionId)?.scope;
  if (scopes.includes("admin") || scope === undefined || scope === "once" || scope === "session") return;
  return yield* new Forbidden({
    detail: `The option “${optionId}” allows for the ${scope}: that needs the scope “admin”. Choose one for once or for the session.`,
    userAction: "none",
  });
});

/** Approvals and questions of all threads. */
export const requests = HttpApiBuilder.group(Api, "requests", (handlers) =>
  handlers.handleAll({
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
  }),
);
