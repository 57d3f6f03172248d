import type { ClientCommand } from "@tributary/contracts";
import { Api, Caller, CommandRejected } from "@tributary/contracts/api";
import { Views } from "@tributary/projections";
import { EventLog, Journal } from "@tributary/store";
import { Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { Audit } from "../../auth/Audit.ts";
import { needsScope } from "../../auth/needs-scope.ts";
import { calls } from "../calls.ts";
import { commandIdOf, derivedId, dispatch } from "../commands.ts";
import { eventCursor } from "../cursor.ts";
import { diagnosticsOf } from "../diagnostics.ts";
import { badRequest, notFound, storeProblem } from "../problems.ts";
import { existing, readProblem } from "../reads.ts";
import { removeThread } from "../remove-thread.ts";
import { recordPage } from "../records.ts";
import { wholeOutput } from "../item-output.ts";
import { saysSomething } from "./inputs.ts";

type Commands = Extract<ClientCommand, { readonly threadId: string }>;
type Plain = Extract<Commands["type"], "session.release" | "session.forget" | "queue.resume">;

/** A command that says nothing but which thread. */
const plain =
  (type: Plain) =>
  ({
    headers,
    params,
  }: {
    readonly headers: { readonly "idempotency-key"?: string };
    readonly params: { readonly threadId: string };
  }) =>
    dispatch({ type, commandId: commandIdOf(headers), ...params });

/** Full access and programs that an MCP server starts are for who may administer. */
const mayConfigure = Effect.fnUntraced(function* (payload: {
  readonly approvalMode?: string;
  readonly mcpServers?: ReadonlyArray<{ readonly transport: string }>;
}) {
  if (payload.approvalMode === "full_access") yield* needsScope("admin", "Full access");
  if (payload.mcpServers?.some(({ transport }) => transport === "stdio"))
    yield* needsScope("admin", "An MCP server that starts a program");
});

/** That agents of a thread may do anything from now on. */
const noteFullAccess = Effect.fnUntraced(function* (threadId: string, approvalMode: string | undefined) {
  if (approvalMode !== "full_access") return;
  const { id } = yield* Caller;
  const audit = yield* Audit;
  yield* audit.note("full_access.granted", { by: id, about: threadId });
});

/** A folder outside every root: what the roots are is part of what helps. */
const withRoots = Effect.fnUntraced(function* (error: CommandRejected) {
  const views = yield* Views;
  const roots = (yield* Effect.mapError(views.projects, storeProblem)).map(({ root }) => root);
  const known = roots.length === 0 ? "None is registered yet" : `Registered are ${roots.join(", ")}`;
  const { commandId, userAction, resend, code, details } = error;
  return yield* new CommandRejected({
    code,
    commandId,
    userAction,
    resend,
    detail: `${error.detail}. ${known}; POST /projects registers one.`,
    details: { ...details, roots },
  });
});

/** Threads: lists, pages, and what is done to a thread as a whole. */
export const threadCalls = calls("threads")({
  list: Effect.fnUntraced(function* ({ query: { archived, ...query } }) {
    const views = yield* Views;
    const { epoch } = yield* EventLog;
    const page = yield* Effect.mapError(
      views.shells({ ...query, ...(archived === undefined ? {} : { archived: archived === "true" }) }),
      readProblem,
    );
    const { shells, sequence, before } = page;
    return {
      threads: shells,
      sequence,
      cursor: eventCursor(epoch, sequence),
      ...(before === undefined ? {} : { before }),
    };
  }),
  create: Effect.fnUntraced(function* ({ headers, payload: { input: first, ...payload } }) {
    yield* mayConfigure(payload);
    yield* saysSomething(first, ["payload", "input"]);
    const commandId = commandIdOf(headers);
    const threadId = payload.threadId ?? derivedId(commandId, "thread");
    const input =
      first === undefined ? undefined : { ...first, inputId: first.inputId ?? derivedId(commandId, "input") };
    const receipt = yield* Effect.catchTag(
      dispatch({
        type: "thread.create",
        commandId,
        ...payload,
        threadId,
        ...(input === undefined ? {} : { input }),
      }),
      "CommandRejected",
      (error) => (error.code === "cwd_outside_roots" ? withRoots(error) : Effect.fail(error)),
    );
    yield* noteFullAccess(threadId, payload.approvalMode);
    return { threadId, ...(input === undefined ? {} : { inputId: input.inputId }), receipt };
  }),
  get: Effect.fnUntraced(function* ({ params, query: { maxBytes, ...query } }) {
    const views = yield* Views;
    const { epoch } = yield* EventLog;
    const bytes = maxBytes === undefined ? {} : { maxBytes: Math.min(1024 * 1024, Math.max(1024, maxBytes)) };
    const page = yield* Effect.mapError(views.threadPage({ ...params, ...query, ...bytes }), readProblem);
    return page === undefined
      ? yield* notFound(`There is no thread ${params.threadId}, or it is deleted. GET /threads lists them.`)
      : { ...page, cursor: eventCursor(epoch, page.sequence) };
  }),
  update: Effect.fnUntraced(function* ({ headers, params, payload: { title, archived, ...settings } }) {
    yield* mayConfigure(settings);
    const base = { commandId: commandIdOf(headers), ...params };
    const configures = Object.keys(settings).length > 0;
    const kinds = [title !== undefined, archived !== undefined, configures].filter(Boolean).length;
    if (kinds !== 1)
      return yield* badRequest("Give `title`, or `archived`, or settings: a call is one command.", ["payload"]);
    if (title !== undefined) return yield* dispatch({ type: "thread.rename", ...base, title });
    if (archived !== undefined)
      return yield* dispatch({ type: archived ? "thread.archive" : "thread.unarchive", ...base });
    const receipt = yield* dispatch({ type: "thread.configure", ...base, ...settings });
    yield* noteFullAccess(params.threadId, settings.approvalMode);
    return receipt;
  }),
  remove: removeThread,
  interrupt: ({ headers, params, payload }) =>
    dispatch({ type: "turn.interrupt", commandId: commandIdOf(headers), ...params, ...payload }),
  release: plain("session.release"),
  forget: plain("session.forget"),
  resumeQueue: plain("queue.resume"),
  read: ({ headers, params, payload }) =>
    dispatch({ type: "thread.read", commandId: commandIdOf(headers), ...params, ...payload }),
  row: Effect.fnUntraced(
    function* ({ params: { threadId, rowId } }) {
      const views = yield* Views;
      const row =
        (yield* views.message(threadId, rowId)) ??
        (yield* views.reasoning(threadId, rowId)) ??
        (yield* views.itemOutput(threadId, rowId))?.activity;
      return row ?? (yield* notFound(`Thread ${threadId} has no message, reasoning or activity ${rowId}.`));
    },
    Effect.mapError((error) => (error._tag === "StoreError" ? storeProblem(error) : error)),
  ),
  turnDiff: Effect.fnUntraced(
    function* ({ params: { threadId, turnId } }) {
      const views = yield* Views;
      const turn = yield* views.turn(threadId, turnId);
      const diff = yield* views.turnDiff(threadId, turnId);
      if (turn === undefined || diff === undefined)
        return yield* notFound(`Thread ${threadId} has no diff of a turn ${turnId}.`);
      const text = "blob" in diff ? (yield* Journal).blob(diff.blob) : diff.unifiedDiff;
      return text === undefined
        ? yield* notFound("The diff was pruned with its journal.")
        : { turn, unifiedDiff: text };
    },
    Effect.mapError((error) => (error._tag === "StoreError" ? storeProblem(error) : error)),
  ),
  itemOutput: ({ params }) => wholeOutput(params.threadId, params.itemId),
  diagnostics: ({ params }) => Effect.andThen(existing(params.threadId), diagnosticsOf(params.threadId)),
  records: ({ params, query }) => recordPage(params.threadId, query),
});

export const threads = HttpApiBuilder.group(Api, "threads", (handlers) => handlers.handleAll(threadCalls));
