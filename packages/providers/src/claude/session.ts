/** The controls of an open session. */
import { readFile } from "node:fs/promises";
import type { Answer, ConfigureOptions, OpenOptions, PromptInput, RuntimeSession } from "@tributary/contracts";
import { RuntimeCallError } from "@tributary/contracts";
import { Effect, type Scope } from "effect";
import { asText, asWords, defined, type NativeObject } from "../native.ts";
import type { AgentHandle } from "../process/index.ts";
import { responseOf } from "./answers.ts";
import { type Connection, refused } from "./connection.ts";
import { inputUuid } from "./input-id.ts";
import { objectIn } from "./place.ts";
import { type Greeting, isModel, maySkipPermissions, permissionMode } from "./settings.ts";

/** What the controls work on. */
export interface Opened {
  readonly connection: Connection;
  readonly agent: AgentHandle;
  readonly options: OpenOptions;
  readonly greeting: Greeting;
  /** The id to open this session by again. */
  readonly sessionId: string;
  readonly settings: SessionSettings;
  /** Runs when the runtime has the first message: from then on there is a conversation to come back to. */
  readonly onUsed: () => void;
}

/** As the runtime said them, and as they were wished. Changed by `configure`. */
export interface SessionSettings {
  model?: string;
  effort?: string;
  approvalMode: OpenOptions["approvalMode"];
  interactionMode: OpenOptions["interactionMode"];
}

type Call<A = void> = Effect.Effect<A, RuntimeCallError>;

const imageOf = (
  { options }: Opened,
  attachment: NonNullable<PromptInput["attachments"]>[number],
): Call<NativeObject> => {
  const { mimeType, name = attachment.id } = attachment;
  if (mimeType?.startsWith("image/") !== true)
    return Effect.fail(refused("attachments", `Claude Code takes images only: leave out ${name}`));
  const path = options.attachmentPath?.(attachment.id);
  if (path === undefined)
    return Effect.fail(refused("attachments", `The attachment ${name} is not there any more: attach it again`));
  return Effect.map(
    Effect.tryPromise({
      try: () => readFile(path),
      catch: () => refused("attachments", `The attachment ${name} could not be read: attach it again`),
    }),
    (bytes) => ({ type: "image", source: { type: "base64", media_type: mimeType, data: bytes.toString("base64") } }),
  );
};

const contentOf = (opened: Opened, input: PromptInput): Call<ReadonlyArray<NativeObject>> =>
  Effect.map(
    Effect.forEach(input.attachments ?? [], (attachment) => imageOf(opened, attachment)),
    (images) => [{ type: "text", text: input.text }, ...images],
  );

/** Gives each attempt at an input a uuid of its own. */
class Attempts {
  readonly #generation: number;
  readonly #numbers = new Map<string, number>();

  constructor(generation: number) {
    this.#generation = generation;
  }

  next(inputId: string): string {
    const number = (this.#numbers.get(inputId) ?? 0) + 1;
    this.#numbers.set(inputId, number);
    return inputUuid(inputId, { generation: this.#generation, number });
  }

  /** Of the newest attempt. */
  last(inputId: string): string | undefined {
    const number = this.#numbers.get(inputId);
    return number === undefined ? undefined : inputUuid(inputId, { generation: this.#generation, number });
  }
}

const prompt = (opened: Opened, attempts: Attempts, input: PromptInput): Call =>
  Effect.gen(function* () {
    const { model, effort, interactionMode } = input;
    const wanted = defined({ model, effort, interactionMode });
    if (Object.keys(wanted).length > 0) yield* configure(opened, wanted);
    const content = yield* contentOf(opened, input);
    const { inputId } = input;
    yield* opened.connection.message({ uuid: attempts.next(inputId), inputId, content }, () => true);
    opened.onUsed();
  });

/** Joins the turn at its next step; it becomes the next turn when there is none. */
const steer = (opened: Opened, attempts: Attempts, input: PromptInput & { readonly turnId: string }): Call =>
  Effect.gen(function* () {
    const { connection } = opened;
    if (connection.state().turn?.id !== input.turnId)
      return yield* Effect.fail(refused("no_active_turn", `the turn ${input.turnId} is over: send it as a prompt`));
    const content = yield* contentOf(opened, input);
    const { inputId } = input;
    const message = { uuid: attempts.next(inputId), inputId, content };
    yield* connection.message(message, () => connection.state().hasLifecycle);
  });

/** What is queued inside the runtime is taken back too: nothing begins after a stop. */
const interrupt = ({ connection }: Opened): Call =>
  Effect.asVoid(connection.call({ subtype: "interrupt", cancel_queued: true }));

const withdraw = ({ connection }: Opened, attempts: Attempts, inputId: string): Call =>
  Effect.gen(function* () {
    const uuid = attempts.last(inputId);
    if (uuid === undefined) return yield* Effect.fail(refused("input_unknown", `the runtime never got ${inputId}`));
    const { cancelled } = yield* connection.call({ subtype: "cancel_async_message", message_uuid: uuid });
    if (cancelled !== true)
      return yield* Effect.fail(refused("not_queued", `${inputId} is being read already: interrupt its turn instead`));
  });

const answer = ({ connection }: Opened, request: { readonly requestId: string; readonly answer: Answer }): Call =>
  Effect.suspend(() => {
    const asked = connection.state().asked.get(request.requestId);
    if (asked === undefined || asked.answered !== undefined)
      return Effect.fail(refused("request_over", "Claude Code does not wait for this answer any more"));
    const response = responseOf(asked, request.answer);
    if (response === undefined) {
      const offered = asked.choices.map(({ option }) => option.id).join(", ");
      return Effect.fail(refused("invalid_answer", `answer with one of ${offered}`));
    }
    return connection.answer(request.requestId, response);
  });

const setModel = ({ connection, greeting, settings }: Opened, wanted: string): Call =>
  Effect.gen(function* () {
    const { model } = yield* connection.call({ subtype: "set_model", model: wanted });
    const applied = asWords(model) ?? wanted;
    settings.model = applied;
    if (!isModel(wanted, applied, greeting))
      yield* Effect.fail(refused("model", `Claude Code uses ${applied} instead of ${wanted}: choose another model`));
  });

/** What the runtime applies now; nothing from one that can't tell. */
const applied = ({ connection }: Pick<Opened, "connection">): Call<NativeObject> =>
  Effect.map(connection.call({ subtype: "get_settings" }), (body) => objectIn(body, "applied"));

const setEffort = (opened: Opened, wanted: string): Call =>
  Effect.gen(function* () {
    yield* opened.connection.call({ subtype: "apply_flag_settings", settings: { effortLevel: wanted } });
    const effort = asWords((yield* applied(opened))["effort"]);
    if (effort !== undefined) opened.settings.effort = effort;
    if (effort !== wanted)
      yield* Effect.fail(
        refused("effort", `Claude Code uses effort ${effort ?? "none"} instead of ${wanted}: choose another one`),
      );
  });

/** Skipping the checks needs a session that was started for it: elsewhere it asks, and the approval policy answers. */
const setMode = ({ connection, options, settings }: Opened): Call => {
  const mode = permissionMode(settings, maySkipPermissions(options));
  const set = (to: string) => connection.call({ subtype: "set_permission_mode", mode: to });
  const asking = mode === "bypassPermissions" ? set(mode).pipe(Effect.catch(() => set("default"))) : set(mode);
  return Effect.flatMap(asking, (body) => {
    const now = asText(body["mode"]) ?? mode;
    return now === mode || (mode === "bypassPermissions" && now === "default")
      ? Effect.void
      : Effect.fail(refused("interactionMode", `Claude Code stays in mode ${now} instead of ${mode}`));
  });
};

const configure = (opened: Opened, wanted: ConfigureOptions): Call<ConfigureOptions> =>
  Effect.gen(function* () {
    const { settings } = opened;
    const { model, effort, serviceTier, approvalMode, interactionMode } = wanted;
    if (serviceTier !== undefined) yield* Effect.fail(refused("serviceTier", "Claude Code has no service tiers"));
    if (model !== undefined && model !== settings.model) yield* setModel(opened, model);
    if (effort !== undefined && effort !== settings.effort) yield* setEffort(opened, effort);
    if (approvalMode !== undefined || interactionMode !== undefined) {
      Object.assign(settings, defined({ approvalMode, interactionMode }));
      yield* setMode(opened);
    }
    return {
      ...defined({ approvalMode, interactionMode }),
      ...defined({ model: settings.model, effort: settings.effort }),
    };
  });

/** The fork begins when it is opened: the runtime copies a conversation only into a session that runs. */
export const forkId = (parentId: string, sessionId: string): string => `fork:${parentId}:${sessionId}`;

const fork = (
  { sessionId }: Opened,
  { atTurnId }: { readonly atTurnId?: string },
): Call<{ readonly nativeSessionId: string }> =>
  atTurnId === undefined
    ? Effect.sync(() => ({ nativeSessionId: forkId(sessionId, crypto.randomUUID()) }))
    : Effect.fail(
        new RuntimeCallError({
          reason: "unsupported",
          failure: {
            class: "validation",
            code: "atTurnId",
            message: "Claude Code forks a conversation at its end only",
            retryable: false,
          },
        }),
      );

/**
 * Idle, it ends soon after its input, with at most 3 s for hooks; in a turn it goes on until the turn is over (observed), so
 * it is not waited for.
 */
const IDLE_GRACE = "4 seconds";
const BUSY_GRACE = "200 millis";

const close = ({ connection, agent }: Opened): Effect.Effect<void> =>
  Effect.gen(function* () {
    connection.asking("close");
    const isBusy = connection.state().turn !== undefined;
    yield* agent.endInput;
    yield* Effect.timeoutOrElse(agent.exit, {
      duration: isBusy ? BUSY_GRACE : IDLE_GRACE,
      orElse: () => Effect.void,
    });
    yield* agent.end();
    yield* connection.ended;
  });

/** `terminate` asks and does not wait; ending what does not listen is the next step, `kill`. */
const signal = ({ connection, agent }: Opened, kind: "terminate" | "kill", scope: Scope.Scope): Effect.Effect<void> =>
  Effect.suspend(() => {
    connection.asking("signal");
    return kind === "kill"
      ? Effect.asVoid(agent.end({ grace: 0 }))
      : Effect.asVoid(Effect.forkIn(agent.end({ grace: "1 hour" }), scope));
  });

/** Puts the controls together. */
export const makeSession = (
  opened: Opened,
  facts: Pick<RuntimeSession, "resumed" | "capabilities" | "cwd">,
  scope: Scope.Scope,
): RuntimeSession => {
  const attempts = new Attempts(opened.options.generation);
  return {
    ...facts,
    nativeSessionId: opened.sessionId,
    ...defined({ model: opened.settings.model, effort: opened.settings.effort }),
    prompt: (input) => prompt(opened, attempts, input),
    steer: (input) => steer(opened, attempts, input),
    interrupt: () => interrupt(opened),
    answer: (request) => answer(opened, request),
    configure: (wanted) => configure(opened, wanted),
    fork: (from) => fork(opened, from),
    withdraw: ({ inputId }) => withdraw(opened, attempts, inputId),
    close: close(opened),
    signal: (kind) => signal(opened, kind, scope),
  };
};
