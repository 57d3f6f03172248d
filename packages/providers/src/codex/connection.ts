/**
 * One `codex app-server` process and the conversation with it: every frame of both directions becomes a record in the
 * order of the wire, and calls fail in the words of the contracts.
 *
 * R1 The exit is the last record, whatever ends the process; of a session that opened it is `session.exited`.
 * R2 A call returns after its reply's record was handed over: whoever acts on the reply finds it in the journal.
 * R3 A full ingestion makes the reader wait, and so the pipe and Codex; it never makes a call lose a record.
 */
import { RuntimeCallError, type RuntimeRecord } from "@tributary/contracts";
import { Deferred, type Duration, Effect, type Scope } from "effect";
import { exitRecord, type ProcessEnd } from "../exit.ts";
import { asObject, type NativeObject } from "../native.ts";
import { makeOutbox } from "../outbox.ts";
import {
  type AgentHandle,
  type IncomingRequest,
  isOversize,
  makeJsonRpc,
  type RpcClosed,
  type RpcError,
  type RpcTimeout,
} from "../process/index.ts";
import type { Secrets } from "../secrets.ts";
import { capabilities } from "./capabilities.ts";
import { maskConfig, settingsOfUpdate, type ThreadSettings } from "./settings.ts";
import { type CodexState, initialState, nativeKey } from "./state.ts";
import { translate } from "./translate.ts";

export interface Connection {
  /** Asks Codex, and waits for its answer as an object. */
  readonly call: (
    method: string,
    params: NativeObject,
    deadline?: Duration.Input,
  ) => Effect.Effect<NativeObject, RuntimeCallError>;
  readonly notify: (method: string) => Effect.Effect<void, RuntimeCallError>;
  /** Answers a request of Codex, by its native key. */
  readonly reply: (key: string, result: NativeObject) => Effect.Effect<void, RuntimeCallError>;
  /** What the translator knows now. */
  readonly state: () => CodexState;
  /** What Codex last said of the thread's settings in `thread/settings/updated`. */
  readonly settings: () => ThreadSettings | undefined;
  /** Resolves at the next `thread/settings/updated`. Ask before doing what causes it. */
  readonly nextSettings: () => Effect.Effect<void>;
  /** The session is open: from now on the end of the process is its exit. False: the process has ended already. */
  readonly begin: () => boolean;
  /** Says what the end of the process will have been asked by. */
  readonly asking: (how: NonNullable<ProcessEnd["asked"]>) => void;
  /** Resolves when all that has crossed the pipe by now was handed over. */
  readonly told: Effect.Effect<void>;
  /** Resolves when the process is gone and the last record was handed over. */
  readonly ended: Effect.Effect<void>;
}

/** How long the pipe may stay open after the process has ended: a leftover that can't be ended may hold it. */
const LAST_LINES: Duration.Input = "3 seconds";

/** How long Codex may take for a call that has no deadline of its own. */
const CALL_DEADLINE: Duration.Input = "30 seconds";

const METHOD_NOT_FOUND = -32601;

const callError = (
  reason: RuntimeCallError["reason"],
  failure: { readonly class: "validation" | "transport" | "unknown"; readonly code?: string; readonly message: string },
  retryable: boolean,
): RuntimeCallError => new RuntimeCallError({ reason, failure: { ...failure, retryable } });

/** Codex answers everything that it refuses with -32600 (observed), so its words are all there is. */
const toCallError =
  (secrets: Secrets) =>
  (error: RpcError | RpcTimeout | RpcClosed): RuntimeCallError => {
    const message = secrets.text(error.message);
    switch (error._tag) {
      case "RpcError":
        return callError("refused", { class: "validation", code: String(error.code ?? "error"), message }, false);
      case "RpcTimeout":
        return callError("unconfirmed", { class: "transport", code: "timeout", message }, true);
      case "RpcClosed":
        return callError(
          error.wrote === "nothing" ? "not_written" : "unconfirmed",
          { class: "transport", message },
          true,
        );
    }
  };

export const connect = Effect.fnUntraced(function* (options: {
  readonly agent: AgentHandle;
  readonly generation: number;
  readonly secrets: Secrets;
  readonly emit: (record: RuntimeRecord) => Effect.Effect<void>;
}): Effect.fn.Return<Connection, never, Scope.Scope> {
  const { agent, generation, secrets } = options;
  const outbox = yield* makeOutbox(options.emit);
  const requests = new Map<string, IncomingRequest>();
  let state = initialState({ generation });
  let settings: ThreadSettings | undefined;
  let settled = Deferred.makeUnsafe<void>();
  let asked: ProcessEnd["asked"];
  let isOpen = false;
  let isOver = false;

  const cross = (dir: "in" | "out", msg: unknown): void => {
    const step = translate(state, { dir, msg });
    state = step.state;
    outbox.put(step.records.map((record) => secrets.record(record)));
  };

  const onRequest = (request: IncomingRequest): Effect.Effect<void> => {
    const key = nativeKey(request.id);
    if (state.asked.has(key)) {
      requests.set(key, request);
      return outbox.room;
    }
    // Nobody could answer it, and Codex waits until someone does.
    const refusal = { code: METHOD_NOT_FOUND, message: `${request.method} is not supported by this client` };
    return Effect.andThen(Effect.ignore(request.fail(refusal)), outbox.room);
  };

  const onNotification = (method: string, params: unknown): Effect.Effect<void> => {
    const fields = asObject(params) ?? {};
    if (method === "serverRequest/resolved") requests.delete(nativeKey(fields["requestId"]));
    const update = asObject(fields["threadSettings"]);
    if (method === "thread/settings/updated" && update !== undefined && fields["threadId"] === state.root) {
      settings = settingsOfUpdate(update);
      Deferred.doneUnsafe(settled, Effect.void);
      settled = Deferred.makeUnsafe();
    }
    return outbox.room;
  };

  const rpc = yield* makeJsonRpc({
    transport: agent,
    dialect: "bare",
    tap: (dir, frame) => cross(dir, dir === "out" ? maskConfig(frame) : frame),
    onRequest,
    onNotification,
    onNoise: (line) =>
      Effect.suspend(() => {
        cross("in", isOversize(line) ? `${line.head}… (a line of ${line.bytes} bytes)` : line);
        return outbox.room;
      }),
  });

  const failed = toCallError(secrets);
  const call: Connection["call"] = (method, params, deadline = CALL_DEADLINE) =>
    rpc.request(method, params, { deadline }).pipe(
      Effect.map((result) => asObject(result) ?? {}),
      Effect.mapError(failed),
      Effect.ensuring(outbox.drained),
    );

  const reply: Connection["reply"] = (key, result) =>
    Effect.suspend(() => {
      const request = requests.get(key);
      if (request === undefined) return Effect.fail(gone);
      requests.delete(key);
      return request.reply(result).pipe(
        Effect.mapError((error) => (error._tag === "RpcAlreadyReplied" ? gone : failed(error))),
        Effect.ensuring(outbox.drained),
      );
    });

  const ended = Deferred.makeUnsafe<void>();
  yield* Effect.forkScoped(
    Effect.gen(function* () {
      const exit = yield* agent.exit;
      yield* Effect.timeoutOrElse(rpc.closed, { duration: LAST_LINES, orElse: () => Effect.void });
      const end: ProcessEnd = {
        ...exit,
        stderrTail: secrets.text(exit.stderrTail),
        ...(asked === undefined ? {} : { asked }),
      };
      isOver = true;
      yield* outbox.end(exitRecord(end, { generation, recoverable: capabilities.resume.survivesKill, isOpen }));
      yield* Deferred.succeed(ended, undefined);
    }),
  );

  return {
    call,
    notify: (method) => Effect.mapError(rpc.notify(method), failed),
    reply,
    state: () => state,
    settings: () => settings,
    nextSettings: () => Deferred.await(settled),
    begin: () => {
      isOpen = !isOver;
      return isOpen;
    },
    asking: (how) => {
      asked ??= how;
    },
    told: outbox.drained,
    ended: Deferred.await(ended),
  };
});

/** For who finds that the process has ended before the session was open. */
export const exited = callError(
  "exited",
  { class: "transport", message: "Codex ended while it opened: try again" },
  true,
);

const gone = callError(
  "refused",
  { class: "validation", code: "request_over", message: "Codex does not wait for this answer any more" },
  false,
);
