/** Commands that act on a running thread: attach, answer, interrupt. */
import type { Answer, RequestRow } from "@tributary/contracts";
import { Effect } from "effect";
import { answererOf, nobody } from "./answers.ts";
import type { Approve } from "./answers.ts";
import { clientFailure } from "./client.ts";
import { connect } from "./connection.ts";
import type { Connection } from "./connection.ts";
import { failure, usage } from "./failure.ts";
import { oneLine, print, printError, printJson } from "./output.ts";
import type { Target } from "./root.ts";
import { watchThread } from "./watch.ts";

/**
 * Shows a thread from its beginning and follows it; what is asked meanwhile can be answered in place. Without a server
 * nothing goes on, so what is stored is all there is to show.
 */
export const attach = Effect.fn("cli.attach")(function* (
  target: Target,
  threadId: string,
  approve: Approve | undefined,
) {
  const { client, access, via } = yield* connect(target, "store");
  yield* client.threads
    .get({ params: { threadId }, query: { maxBytes: 1024 } })
    .pipe(Effect.mapError(clientFailure(access)));
  const { json } = target;
  const interactive = process.stdin.isTTY === true && process.stderr.isTTY === true;
  // Who only looks on need not be able to answer.
  const answerer = interactive || approve !== undefined ? yield* answererOf(approve, interactive) : nobody;
  yield* watchThread({ access, client, threadId, answerer, json, backlogOnly: via === "process" });
  if (via === "process" && !json) yield* printError("(No server runs, so nothing goes on here.)\n");
}, Effect.scoped);

/** What is stopped; whatever the thread does when neither is named. */
export interface Stopped {
  readonly turnId: string | undefined;
  readonly inputId: string | undefined;
}

export const interrupt = Effect.fn("cli.interrupt")(function* (
  target: Target,
  threadId: string,
  { turnId, inputId }: Stopped,
) {
  const { client, access } = yield* connect(target, "nothing");
  const receipt = yield* client.threads
    .interrupt({
      params: { threadId },
      headers: {},
      payload: {
        ...(turnId === undefined ? {} : { turnId }),
        ...(inputId === undefined ? {} : { inputId }),
      },
    })
    .pipe(Effect.mapError(clientFailure(access)));
  return yield* target.json ? printJson(receipt) : print(`Stopping what thread ${threadId} does.\n`);
}, Effect.scoped);

/** The one that waits under this id. Agents number their requests, so several threads may have the same id. */
const findRequest = Effect.fnUntraced(function* (
  { client, access }: Connection,
  requestId: string,
  threadId: string | undefined,
) {
  const found: Array<RequestRow> = [];
  for (let after: string | undefined, more = true; more;) {
    const query = {
      limit: 500,
      ...(threadId === undefined ? {} : { threadId }),
      ...(after === undefined ? {} : { after }),
    };
    const page = yield* client.requests.list({ query }).pipe(Effect.mapError(clientFailure(access)));
    found.push(...page.requests.filter((request) => request.requestId === requestId));
    after = page.next;
    more = after !== undefined;
  }
  const [request, ...others] = found;
  if (request === undefined)
    return yield* failure(
      `No request ${requestId} waits for an answer${threadId === undefined ? "" : ` in thread ${threadId}`}: ` +
        "it may be answered already. `tributary answer` lists what waits.",
    );
  if (others.length > 0)
    return yield* usage(
      `${found.length} threads have a request ${requestId}: say which one is meant with --thread, ` +
        `${found.map((one) => one.threadId).join(" or ")}.`,
    );
  return request;
});

/** What was typed as the answer to one request: an option's id or label, or a word for its only question. */
const answerFrom = (
  { request, requestId }: RequestRow,
  said: string,
): Effect.Effect<Answer, ReturnType<typeof usage>> => {
  if (request.kind === "approval") {
    const options = request.options ?? [];
    const option = options.find(({ id, label }) => id === said || label.toLowerCase() === said.toLowerCase());
    return option === undefined
      ? Effect.fail(
          usage(
            `“${oneLine(said)}” is no answer to ${requestId}; choose one of ${options.map(({ id }) => id).join(", ")}.`,
          ),
        )
      : Effect.succeed({ optionId: option.id });
  }
  const [question, ...others] = request.questions ?? [];
  if (question === undefined) return Effect.fail(usage(`Request ${requestId} needs a form: answer it in an app.`));
  if (others.length === 0) return Effect.succeed({ answers: { [question.id]: question.multiple ? [said] : said } });
  try {
    return Effect.succeed({ answers: JSON.parse(said) as Record<string, unknown> });
  } catch {
    const ids = [question, ...others].map(({ id }) => `"${id}": …`).join(", ");
    return Effect.fail(usage(`Request ${requestId} has several questions: answer with JSON, {${ids}}.`));
  }
};

/** Answers one request. */
export const answer = Effect.fn("cli.answer")(function* (
  target: Target,
  requestId: string,
  said: string | undefined,
  threadId: string | undefined,
) {
  if (said === undefined)
    return yield* usage(`Say the answer to ${requestId} as well; \`tributary answer\` alone lists what waits.`);
  const connection = yield* connect(target, "nothing");
  const { client, access } = connection;
  const request = yield* findRequest(connection, requestId, threadId);
  const given = yield* answerFrom(request, said);
  const receipt = yield* client.requests
    .answer({
      params: { requestId },
      headers: {},
      payload: { threadId: request.threadId, answer: given, subjectHash: request.subjectHash },
    })
    .pipe(Effect.mapError(clientFailure(access)));
  return yield* target.json ? printJson(receipt) : print(`Answered ${requestId}.\n`);
}, Effect.scoped);

/** What waits for an answer, in all threads or in one. */
export const listRequests = Effect.fn("cli.requests")(function* (target: Target, threadId: string | undefined) {
  const { client, access } = yield* connect(target, "store");
  const { requests } = yield* client.requests
    .list({ query: { limit: 500, ...(threadId === undefined ? {} : { threadId }) } })
    .pipe(Effect.mapError(clientFailure(access)));
  if (target.json) return yield* printJson({ requests });
  if (requests.length === 0) return yield* print("Nothing waits for an answer.\n");
  return yield* print(
    requests
      .map(({ requestId, threadId, request: { title, kind, options, questions } }) => {
        const choices =
          kind === "approval"
            ? (options ?? []).map(({ id }) => id)
            : (questions?.[0]?.options ?? []).map(({ label }) => label);
        return `${requestId}  (thread ${threadId})\n  ${oneLine(title ?? questions?.[0]?.text ?? kind)}\n  ${choices.join(" · ")}\n`;
      })
      .join(""),
  );
}, Effect.scoped);
