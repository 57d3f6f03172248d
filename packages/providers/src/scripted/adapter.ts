/** The adapter of the scripted runtime: an agent that does what a script says, for tests, demonstrations and benches. */
import { OpenError, RuntimeCallError } from "@tributary/contracts";
import type {
  Adapter,
  ConfigureOptions,
  Failure,
  OpenOptions,
  PromptInput,
  RuntimeEvent,
  RuntimeRecord,
  RuntimeSession,
} from "@tributary/contracts";
import { Deferred, Effect, type Scope } from "effect";
import { Calls, exitedError } from "./link.ts";
import type { Link, LinkExit } from "./link.ts";
import { linkChild } from "./link-child.ts";
import { linkInProcess } from "./link-in-process.ts";
import { loadScript } from "./load.ts";
import type { LoadedScript } from "./load.ts";
import type { ReadFrame } from "./protocol.ts";
import { translate } from "./translate.ts";

const runtimeName = "scripted";

/** Makes the adapter. It remembers how far each native session got in its script, for as long as it lives. */
export const makeScripted = (): Adapter => {
  /** By native session id: how many of the script's ordered turns are used up. */
  const progress = new Map<string, number>();
  return {
    runtime: runtimeName,
    installation: (instance) =>
      Effect.match(loadScript(instance.options), {
        onFailure: ({ message }) => ({ available: false, problem: message }),
        onSuccess: ({ capabilities }) => ({
          available: true,
          version: "1",
          account: { state: "ok" as const },
          capabilities,
          ...(capabilities.models === undefined ? {} : { models: capabilities.models.map((id) => ({ id })) }),
        }),
      }),
    open: (options) => open(options, progress),
  };
};

/** The adapter as the registry holds it. */
export const scripted: Adapter = makeScripted();

const open = Effect.fnUntraced(function* (
  options: OpenOptions,
  progress: Map<string, number>,
): Effect.fn.Return<RuntimeSession, OpenError, Scope.Scope> {
  const loaded = yield* Effect.mapError(loadScript(options.instance.options), ({ message }) =>
    openError("runtime_unavailable", { class: "validation", message, retryable: false }),
  );
  yield* refuse(options, loaded);
  const { script, capabilities } = loaded;
  const controls = script.on ?? {};
  const nativeSessionId =
    options.resume?.nativeSessionId ?? script.nativeSessionId ?? `${runtimeName}-${options.threadId}`;

  const secrets = new Map<string, ReadonlySet<string>>();
  const emit = (record: RuntimeRecord): Effect.Effect<void> => {
    for (const event of record.events) rememberSecrets(event, secrets);
    return options.emit(record);
  };
  const incoming = (frame: ReadFrame): Effect.Effect<void> =>
    // The record first: whoever waits for the reply finds it in the journal.
    Effect.andThen(
      emit(translate(frame)),
      Effect.sync(() => {
        if ("reply" in frame) calls.settle(frame);
      }),
    );
  const link: Link = yield* loaded.inProcess
    ? linkInProcess(controls, incoming)
    : Effect.mapError(linkChild(options, incoming), (error) =>
        openError("runtime_unavailable", { class: "transport", message: error.message, retryable: true }),
      );
  const calls = new Calls(link, emit);

  let signalled = false;
  let isOpen = false;
  let isOver = false;
  const ended = Deferred.makeUnsafe<void>();
  yield* Effect.forkScoped(
    Effect.flatMap(link.exit, (exit) =>
      calls.abandon.pipe(
        Effect.andThen(
          Effect.suspend(() => {
            isOver = true;
            return emit(exitRecord(exit, { signalled, recoverable: capabilities.resume.survivesKill, isOpen }));
          }),
        ),
        Effect.andThen(Deferred.succeed(ended, undefined)),
      ),
    ),
  );
  yield* Effect.mapError(
    calls.call("open", {
      script,
      threadId: options.threadId,
      generation: options.generation,
      cwd: options.cwd,
      turnsUsed: options.resume === undefined ? 0 : (progress.get(nativeSessionId) ?? 0),
      ...(options.model === undefined ? {} : { model: options.model }),
    }),
    toOpenError,
  );
  if (isOver) return yield* toOpenError(exitedError("open"));
  isOpen = true;
  const model = script.model ?? options.model;
  /** What is attached is never left out in silence. */
  const takesAll = ({ attachments = [] }: PromptInput): boolean => attachments.length === 0 || capabilities.images;
  return {
    nativeSessionId,
    resumed: options.resume !== undefined,
    cwd: options.cwd,
    ...(model === undefined ? {} : { model }),
    ...(options.effort === undefined ? {} : { effort: options.effort }),
    capabilities,
    prompt: (input) =>
      Effect.map(takesAll(input) ? calls.call("prompt", input) : Effect.fail(noImages), (result) => {
        if (isPromptResult(result)) progress.set(nativeSessionId, result.turnsUsed);
      }),
    steer: (input) => {
      if (!takesAll(input)) return Effect.fail(noImages);
      return capabilities.steer ? Effect.asVoid(calls.call("steer", input)) : Effect.fail(unsupported("steer"));
    },
    answer: (request) => Effect.asVoid(calls.call("answer", request, secrets.get(request.requestId))),
    configure: (change) => Effect.map(calls.call("configure", change), (result) => (result ?? {}) as ConfigureOptions),
    interrupt: (target) => Effect.asVoid(calls.call("interrupt", target)),
    close: Effect.andThen(Effect.ignore(link.write({ method: "close" })), Deferred.await(ended)),
    signal: (signal) =>
      Effect.suspend(() => {
        signalled = true;
        return link.signal(signal);
      }),
  };
});

/** What can't be honoured is refused before anything is started (design section 7). */
const refuse = (options: OpenOptions, { script, capabilities }: LoadedScript): Effect.Effect<void, OpenError> => {
  for (const [option, reason] of Object.entries(capabilities.refusedOptions)) {
    if (!(option in options)) continue;
    return Effect.fail(unsupportedOption(option, reason));
  }
  const { model } = options;
  if (model !== undefined && script.model !== undefined && model !== script.model)
    return Effect.fail(unsupportedOption("model", `the runtime would run ${script.model} instead of ${model}`));
  if (model !== undefined && capabilities.models !== undefined && !capabilities.models.includes(model))
    return Effect.fail(unsupportedOption("model", `${model} is none of ${capabilities.models.join(", ")}`));
  if (options.resume !== undefined && script.resume === "unavailable")
    return Effect.fail(
      openError("session_unavailable", {
        class: "validation",
        message: `The session ${options.resume.nativeSessionId} can't be resumed: the script says so. Start a new thread.`,
        retryable: false,
      }),
    );
  return Effect.void;
};

const openError = (code: OpenError["code"], failure: Failure): OpenError => new OpenError({ code, failure });
const unsupportedOption = (option: string, reason: string): OpenError =>
  openError("unsupported_option", {
    class: "validation",
    code: option,
    message: `${option}: ${reason}`,
    retryable: false,
  });

const openCodes = ["runtime_unavailable", "runtime_refused", "session_unavailable", "unsupported_option"] as const;

const toOpenError = ({ reason, failure }: RuntimeCallError): OpenError =>
  openError(
    reason === "exited" ? "runtime_exited" : (openCodes.find((code) => code === failure.code) ?? "runtime_refused"),
    failure,
  );

const unsupported = (method: string): RuntimeCallError =>
  new RuntimeCallError({
    reason: "unsupported",
    failure: { class: "validation", message: `The script declares no ${method}.`, retryable: false },
  });

const noImages = new RuntimeCallError({
  reason: "unsupported",
  failure: {
    class: "validation",
    code: "attachments",
    message: "This scripted agent takes no attachments (its script declares no `images`): send the input without them.",
    retryable: false,
  },
});

const isPromptResult = (result: unknown): result is { readonly turnsUsed: number } =>
  typeof result === "object" && result !== null && "turnsUsed" in result && typeof result.turnsUsed === "number";

/**
 * The last record of a session. By a signal is `killed`; a code other than 0, or none, `crash`. What did not open has no
 * exit: its failure says everything.
 */
const exitRecord = (
  exit: LinkExit,
  session: { readonly signalled: boolean; readonly recoverable: boolean; readonly isOpen: boolean },
): RuntimeRecord => {
  const { code, signal, stderrTail } = exit;
  const { signalled, recoverable, isOpen } = session;
  const kind = signalled || signal !== undefined ? "killed" : code === 0 ? "graceful" : "crash";
  const facts = {
    ...(code === undefined ? {} : { exitCode: code }),
    ...(signal === undefined ? {} : { signal }),
    ...(stderrTail === undefined ? {} : { stderrTail }),
  };
  return {
    kind: "frame",
    native: { kind: "exit", frame: facts },
    events: isOpen ? [{ type: "session.exited", payload: { kind, ...facts, recoverable } }] : [],
  };
};

const rememberSecrets = (event: RuntimeEvent, secrets: Map<string, ReadonlySet<string>>): void => {
  if (event.requestId === undefined) return;
  if (event.type === "request.resolved") secrets.delete(event.requestId);
  if (event.type !== "request.opened") return;
  const ids = (event.payload.questions ?? []).filter(({ secret }) => secret === true).map(({ id }) => id);
  if (ids.length > 0) secrets.set(event.requestId, new Set(ids));
};
