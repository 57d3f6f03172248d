/** Approvals and questions of a script: opening a request, waiting, and what the answer means. */
import type { Answer, ApprovalOption } from "@tributary/contracts";
import { Deferred, Effect } from "effect";
import type { ApprovalFields, QuestionStep } from "./script.ts";
import type { OpenRequest, Turn } from "./turn.ts";

const usualOptions: ReadonlyArray<ApprovalOption> = [
  { id: "allow", label: "Allow once", effect: "allow", scope: "once" },
  { id: "allow_session", label: "Allow for this session", effect: "allow", scope: "session" },
  { id: "reject", label: "Reject", effect: "reject", scope: "once" },
];

const waitFor = Effect.fnUntraced(function* (
  turn: Turn,
  requestId: string,
  agentPath: ReadonlyArray<string>,
  accepts: OpenRequest["accepts"],
  open: Effect.Effect<void>,
) {
  const request: OpenRequest = { turnId: turn.turnId, agentPath, accepts, answer: Deferred.makeUnsafe<Answer>() };
  turn.around.requests.set(requestId, request);
  yield* open;
  const answer = yield* Deferred.await(request.answer);
  yield* turn.say(
    "request.resolved",
    agentPath,
    { outcome: "answered", by: "client", ...("optionId" in answer ? { optionId: answer.optionId } : {}) },
    { requestId },
  );
  return answer;
});

/** Asks for an approval and waits. The label is `{{approval.<name>}}` afterwards, the id `{{approval.<name>.id}}`. */
export const askApproval = Effect.fnUntraced(function* (
  turn: Turn,
  agentPath: ReadonlyArray<string>,
  fields: ApprovalFields,
  itemId?: string,
) {
  const { name = "last", options = usualOptions, ...shown } = fields;
  const requestId = turn.around.mint("r");
  const chosen = (answer: Answer) =>
    "optionId" in answer ? options.find((option) => option.id === answer.optionId) : undefined;
  const answer = yield* waitFor(
    turn,
    requestId,
    agentPath,
    (given) => (chosen(given) === undefined ? "the answer names none of the options" : undefined),
    turn.say(
      "request.opened",
      agentPath,
      { ...shown, kind: "approval", options },
      { requestId, ...(itemId === undefined ? {} : { itemId }) },
    ),
  );
  const option = chosen(answer) ?? { id: "reject", label: "Reject", effect: "reject" as const };
  turn.values.set(`approval.${name}`, option.label);
  turn.values.set(`approval.${name}.id`, option.id);
  return option;
});

/** Asks questions and waits. Each value is `{{answer.<name>.<question id>}}` afterwards. Gives the values back. */
export const askQuestions = Effect.fnUntraced(function* (
  turn: Turn,
  agentPath: ReadonlyArray<string>,
  step: QuestionStep,
) {
  const { name = "last", title, questions, form, url, blocking, expiresAt } = step;
  const requestId = turn.around.mint("r");
  const answer = yield* waitFor(
    turn,
    requestId,
    agentPath,
    (given) => ("answers" in given ? undefined : "a question is answered by values"),
    turn.say(
      "request.opened",
      agentPath,
      {
        kind: "user_input",
        ...(title === undefined ? {} : { title }),
        ...(questions === undefined ? {} : { questions }),
        ...(form === undefined ? {} : { form }),
        ...(url === undefined ? {} : { url }),
        ...(blocking === undefined ? {} : { blocking }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      },
      { requestId },
    ),
  );
  const values = "answers" in answer ? answer.answers : {};
  for (const [id, value] of Object.entries(values)) turn.values.set(`answer.${name}.${id}`, inWords(value));
  return values;
});

const inWords = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(inWords).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
};
