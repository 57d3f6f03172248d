/**
 * One `claude` process and the conversation with it: every frame of both directions becomes a record in the order of the
 * wire, and calls fail in the words of the contracts.
 *
 * C1 The exit is the last record, whatever ends the process; of a session that opened it is `session.exited`.
 * C2 A call returns after its reply's record was handed over: whoever acts on the reply finds it in the journal.
 * C3 A full ingestion makes the reader wait, and so the pipe and the agent; what goes out never waits for it.
 */
import { RuntimeCallError, type RuntimeRecord } from "@tributary/contracts";
import { Deferred, type Duration, Effect, Fiber, type Scope, Stream } from "effect";
import { exitRecord, type ProcessEnd } from "../exit.ts";
import { asId, asObject, asText, asTexts, asWords, type NativeObject } from "../native.ts";
import { makeOutbox } from "../outbox.ts";
import { type AgentHandle, isOversize, type Line, type StdinClosed } from "../process/index.ts";
import type { Secrets } from "../secrets.ts";
import { capabilities } from "./capabilities.ts";
import { askedSubtypes } from "./requests.ts";
import { bindInput, type ClaudeState, initialState } from "./state.ts";
import { translate } from "./translate.ts";

type Call<A = void> = Effect.Effect<A, RuntimeCallError>;

export interface Connection {
  /** Asks, and waits for the reply's body. */
  readonly call: (request: NativeObject, options?: { readonly deadline?: Duration.Input }) => Call<NativeObject>;
  /** Writes a message of a person, and waits until the runtime shows that it has it, where it tells that soon. */
  readonly message: (
    message: { readonly uuid: string; readonly inputId: string; readonly content: ReadonlyArray<NativeObject> },
    isToldOf: () => boolean,
  ) => Call;
  /** Answers a request of the runtime. */
  readonly answer: (requestId: string, response: NativeObject) => Call;
  /** What the translator knows now. */
  readonly state: () => ClaudeState;
  /** Why the runtime could not start, in its own words. */
  readonly startFailure: () => StartFailure | undefined;
  /** The session is open: from now on the end of the process is its exit. False: the process has ended already. */
  readonly begin: () => boolean;
  /** Says what the end of the process will have been asked by. */
  readonly asking: (how: NonNullable<ProcessEnd["asked"]>) => void;
  /** Resolves when the process is gone and the last record was handed over. */
  readonly ended: Effect.Effect<void>;
}

export interface StartFailure {
  readonly reason?: string;
  readonly message: string;
}

/** How long the pipe may stay open after the process has ended: a leftover that can't be ended may hold it. */
const LAST_LINES: Duration.Input = "3 seconds";

/** How long the runtime may take for a call that has no deadline of its own. */
const CALL_DEADLINE: Duration.Input = "30 seconds";

const callError = (
  reason: RuntimeCallError["reason"],
  failure: { readonly class: "validation" | "transport" | "unknown"; readonly code?: string; readonly message: string },
  retryable: boolean,
): RuntimeCallError => new RuntimeCallError({ reason, failure: { ...failure, retryable } });

export const refused = (code: string, message: string): RuntimeCallError =>
  callError("refused", { class: "validation", code, message }, false);

const notWritten = ({ wrote, message }: StdinClosed): RuntimeCallError =>
  callError(wrote === "nothing" ? "not_written" : "unconfirmed", { class: "transport", message }, true);

export const gone = callError(
  "unconfirmed",
  { class: "transport", message: "the runtime ended before it answered: look at what it did before retrying" },
  true,
);

const late = (what: string): RuntimeCallError =>
  callError(
    "unconfirmed",
    { class: "transport", code: "timeout", message: `the runtime did not answer ${what} in time` },
    true,
  );

/** One line. U+2028 and U+2029 end a line for some readers. */
const lineOf = (frame: NativeObject): string =>
  JSON.stringify(frame).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

/** The frame as it is kept: the bytes of images are not. */
const kept = (frame: NativeObject): NativeObject => {
  const message = asObject(frame["message"]);
  const content = message?.["content"];
  if (message === undefined || !Array.isArray(content)) return frame;
  const isImage = (block: unknown): boolean => asText(asObject(block)?.["type"]) === "image";
  if (!content.some(isImage)) return frame;
  const short = content.map((block: unknown) => {
    if (!isImage(block)) return block;
    const source = asObject(asObject(block)?.["source"]) ?? {};
    return {
      type: "image",
      source: { ...source, data: `[${asText(source["data"])?.length ?? 0} characters of base64]` },
    };
  });
  return { ...frame, message: { ...message, content: short } };
};

const parse = (line: Line): unknown => {
  if (isOversize(line)) return `${line.head}… (a line of ${line.bytes} bytes)`;
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
};

/** The messages of ours that a frame shows to have arrived. */
const shownBy = (frame: NativeObject): ReadonlyArray<string> => {
  const named = asId(frame["command_uuid"]) ?? (frame["isReplay"] === true ? asId(frame["uuid"]) : undefined);
  return [...(named === undefined ? [] : [named]), ...asTexts(frame["user_message_uuids"])];
};

export const connect = Effect.fnUntraced(function* (options: {
  readonly agent: AgentHandle;
  readonly generation: number;
  readonly isResumed: boolean;
  readonly secrets: Secrets;
  readonly emit: (record: RuntimeRecord) => Effect.Effect<void>;
}): Effect.fn.Return<Connection, never, Scope.Scope> {
  const { agent, generation, isResumed, secrets } = options;
  const outbox = yield* makeOutbox(options.emit);
  const replies = new Map<string, Deferred.Deferred<NativeObject, RuntimeCallError>>();
  const shown = new Map<string, Deferred.Deferred<void>>();
  const exited = Deferred.makeUnsafe<void>();
  const ended = Deferred.makeUnsafe<void>();
  let state = initialState({ generation, isResumed });
  let startFailure: StartFailure | undefined;
  let asked: ProcessEnd["asked"];
  let isOpen = false;
  let isOver = false;
  let calls = 0;

  const cross = (dir: "in" | "out", msg: unknown): void => {
    const step = translate(state, { dir, msg });
    state = step.state;
    outbox.put(step.records.map((record) => secrets.record(record)));
  };

  /** Notes the frame and writes it, in one turn. */
  const send = (frame: NativeObject): Call =>
    Effect.suspend(() => {
      cross("out", kept(frame));
      return Effect.mapError(agent.write(lineOf(frame)), notWritten);
    });

  const settle = (frame: NativeObject): void => {
    const response = asObject(frame["response"]);
    const id = asId(response?.["request_id"]);
    const reply = id === undefined ? undefined : replies.get(id);
    if (reply === undefined || response === undefined) return;
    if (response["subtype"] === "success") {
      Deferred.doneUnsafe(reply, Effect.succeed(asObject(response["response"]) ?? {}));
      return;
    }
    const message = secrets.text(asWords(response["error"]) ?? "the runtime refused and did not say why");
    Deferred.doneUnsafe(reply, Effect.fail(refused(asWords(response["error_code"]) ?? "refused", message)));
  };

  /** A request that nobody can answer is refused, or the runtime waits for ever. */
  const refuse = (frame: NativeObject): Effect.Effect<void> => {
    const requestId = asId(frame["request_id"]);
    const subtype = asText(asObject(frame["request"])?.["subtype"]) ?? "";
    // A dialog of a kind that was not declared must not be answered (vendor schema).
    if (requestId === undefined || askedSubtypes.has(subtype) || subtype === "request_user_dialog") return Effect.void;
    const error = `${subtype} is not supported by this client`;
    return Effect.ignore(
      send({ type: "control_response", response: { subtype: "error", request_id: requestId, error } }),
    );
  };

  const take = (line: Line): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (line === "") return Effect.void;
      const msg = parse(line);
      cross("in", msg);
      const frame = asObject(msg);
      if (frame === undefined) return outbox.room;
      for (const uuid of shownBy(frame)) {
        const evidence = shown.get(uuid);
        if (evidence !== undefined) Deferred.doneUnsafe(evidence, Effect.void);
      }
      switch (frame["type"]) {
        case "control_response":
          settle(frame);
          return outbox.room;
        case "control_request":
          return Effect.andThen(refuse(frame), outbox.room);
        case "result":
          startFailure ??= startFailureOf(frame);
          return outbox.room;
        default:
          return outbox.room;
      }
    });

  const untilGone = Effect.andThen(Deferred.await(exited), Effect.fail(gone));

  const call: Connection["call"] = (request, { deadline = CALL_DEADLINE } = {}) =>
    Effect.suspend(() => {
      calls += 1;
      const id = `tributary-${calls}`;
      const reply = Deferred.makeUnsafe<NativeObject, RuntimeCallError>();
      replies.set(id, reply);
      const what = asText(request["subtype"]) ?? "a call";
      return send({ type: "control_request", request_id: id, request }).pipe(
        Effect.andThen(Effect.raceFirst(Deferred.await(reply), untilGone)),
        Effect.timeoutOrElse({ duration: deadline, orElse: () => Effect.fail(late(what)) }),
        Effect.ensuring(Effect.sync(() => replies.delete(id))),
      );
    });

  const message: Connection["message"] = ({ uuid, inputId, content }, isToldOf) =>
    Effect.suspend(() => {
      const evidence = Deferred.makeUnsafe<void>();
      shown.set(uuid, evidence);
      state = bindInput(state, uuid, inputId);
      const frame = {
        type: "user",
        message: { role: "user", content },
        parent_tool_use_id: null,
        session_id: "",
        uuid,
      };
      return send(frame).pipe(
        Effect.andThen(
          Effect.suspend(() => (isToldOf() ? Effect.raceFirst(Deferred.await(evidence), untilGone) : Effect.void)),
        ),
        Effect.ensuring(Effect.sync(() => shown.delete(uuid))),
        Effect.andThen(outbox.drained),
      );
    });

  // In this order, so that the news of the exit follows the last words.
  yield* Effect.forkScoped(
    Effect.gen(function* () {
      const reader = yield* Effect.forkScoped(Stream.runForEach(agent.lines, take));
      const exit = yield* agent.exit;
      const rest = Effect.asVoid(Fiber.await(reader));
      yield* Effect.timeoutOrElse(rest, { duration: LAST_LINES, orElse: () => Effect.void });
      yield* Deferred.succeed(exited, undefined);
      const { exitCode, signal } = exit;
      const end: ProcessEnd = {
        stderrTail: secrets.text(exit.stderrTail),
        ...(exitCode === undefined ? {} : { exitCode }),
        ...(signal === undefined ? {} : { signal }),
        ...(asked === undefined ? {} : { asked }),
      };
      isOver = true;
      yield* outbox.end(exitRecord(end, { generation, recoverable: capabilities.resume.survivesKill, isOpen }));
      yield* Deferred.succeed(ended, undefined);
    }),
  );

  return {
    call: (request, more) => Effect.ensuring(call(request, more), outbox.drained),
    message,
    answer: (requestId, response) =>
      Effect.andThen(
        send({ type: "control_response", response: { subtype: "success", request_id: requestId, response } }),
        outbox.drained,
      ),
    state: () => state,
    startFailure: () => startFailure,
    begin: () => {
      isOpen = !isOver;
      return isOpen;
    },
    asking: (how) => {
      asked ??= how;
    },
    ended: Deferred.await(ended),
  };
});

/** A result that comes before any turn: the runtime says why it will not start, and ends. */
const startFailureOf = (frame: NativeObject): StartFailure | undefined => {
  if (frame["is_error"] !== true || frame["num_turns"] !== 0) return undefined;
  const reason = asWords(frame["startup_failure_reason"]);
  const message = asTexts(frame["errors"]).join("\n");
  return { message, ...(reason === undefined ? {} : { reason }) };
};
