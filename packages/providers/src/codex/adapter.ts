/** The adapter of Codex: `codex app-server` over stdio (docs/runtimes/codex.md). */
import {
  type Adapter,
  OpenError,
  type OpenOptions,
  type RuntimeCallError,
  type RuntimeSession,
} from "@tributary/contracts";
import { Effect, Schema, type Scope } from "effect";
import { asId, asObject, asText, defined, type NativeObject } from "../native.ts";
import type { AgentHandle } from "../process/index.ts";
import { environmentSecrets, Secrets } from "../secrets.ts";
import { capabilities } from "./capabilities.ts";
import { connect, type Connection, exited } from "./connection.ts";
import { installation } from "./installation.ts";
import { listModels, modelCapabilities } from "./models.ts";
import { greeting, GREETING_DEADLINE, locateCodex, notFound, oneAtFirst, spawnCodex, unavailable } from "./process.ts";
import { configure, makeSession, type Opened } from "./session.ts";
import { CodexOptions, isServerName, openParams, settingsOfReply, unmet } from "./settings.ts";

/** Starting MCP servers belongs to it. */
const OPEN_DEADLINE = "60 seconds";

const openError = (code: OpenError["code"], message: string, option?: string): OpenError =>
  new OpenError({
    code,
    failure: { class: "validation", ...(option === undefined ? {} : { code: option }), message, retryable: false },
  });

const unsupported = (option: string, why: string): OpenError =>
  openError("unsupported_option", `${option}: ${why}`, option);

/** What can't be honoured is refused before anything is started. */
const refuse = (options: OpenOptions): Effect.Effect<void, OpenError> => {
  if ((options.disallowedTools ?? []).length > 0) {
    const why = capabilities.refusedOptions["disallowedTools"] ?? "not supported";
    return Effect.fail(unsupported("disallowedTools", why));
  }
  const unnamed = options.mcpServers?.find(({ name }) => !isServerName(name));
  return unnamed === undefined
    ? Effect.void
    : Effect.fail(
        unsupported("mcpServers", `Codex takes names of letters, digits, "_" and "-": rename ${unnamed.name}`),
      );
};

const readOptions = (options: OpenOptions): Effect.Effect<CodexOptions, OpenError> =>
  Effect.mapError(Schema.decodeUnknownEffect(CodexOptions)(options.instance.options ?? {}), (error) =>
    unavailable(`the options of instance ${options.instance.id} are wrong (${error.message}): correct them`),
  );

const secretsOf = ({ instance, mcpServers = [] }: OpenOptions): Secrets =>
  new Secrets([
    ...environmentSecrets(instance.env),
    ...mcpServers.flatMap(({ env, headers }) => [...Object.values(env ?? {}), ...Object.values(headers ?? {})]),
  ]);

/** A call of the opening that failed: the runtime said no, or its process ended. */
const toOpenError =
  (refusedAs: OpenError["code"], { agent, secrets }: { readonly agent: AgentHandle; readonly secrets: Secrets }) =>
  ({ reason, failure }: RuntimeCallError): Effect.Effect<never, OpenError> =>
    reason === "refused"
      ? Effect.fail(new OpenError({ code: refusedAs, failure }))
      : Effect.flatMap(agent.stderrTail, (tail) => {
          const words = secrets.text(tail).trim();
          const message = words === "" ? failure.message : `${failure.message} (it said: ${words})`;
          return Effect.fail(new OpenError({ code: "runtime_exited", failure: { ...failure, message } }));
        });

/** `thread/start`, or `thread/resume`. A session that can't be resumed is told, never replaced by a fresh one. */
const openThread = (
  connection: Connection,
  options: OpenOptions,
  own: CodexOptions,
  failing: { readonly agent: AgentHandle; readonly secrets: Secrets },
): Effect.Effect<NativeObject & { readonly threadId: string }, OpenError> => {
  const isResumed = options.resume !== undefined;
  const method = isResumed ? "thread/resume" : "thread/start";
  return connection.call(method, openParams(options, own), OPEN_DEADLINE).pipe(
    Effect.catch(toOpenError(isResumed ? "session_unavailable" : "runtime_refused", failing)),
    Effect.flatMap((reply) => {
      const threadId = asId(asObject(reply["thread"])?.["id"]);
      return threadId === undefined
        ? Effect.fail(openError("runtime_refused", `Codex named no thread in its reply to ${method}: update Codex`))
        : Effect.succeed({ ...reply, threadId });
    }),
  );
};

/** Reads back what was wished, and sets what can only be set afterwards. */
const settle = (opened: Opened): Effect.Effect<void, OpenError> =>
  Effect.gen(function* () {
    const { options, first } = opened;
    const { model, effort, serviceTier, interactionMode } = options;
    const isResumed = options.resume !== undefined;
    const miss = unmet(first, defined({ model, serviceTier, effort: isResumed ? undefined : effort }));
    if (miss !== undefined) {
      return yield* Effect.fail(unsupported(miss.option, `Codex opened with ${miss.got} instead of ${miss.wanted}`));
    }
    yield* configure(opened, { ...defined({ effort, serviceTier }), interactionMode }).pipe(
      Effect.mapError(({ failure }) => unsupported(failure.code ?? "option", failure.message)),
    );
  });

const open = Effect.fnUntraced(function* (
  options: OpenOptions,
): Effect.fn.Return<RuntimeSession, OpenError, Scope.Scope> {
  yield* refuse(options);
  const own = yield* readOptions(options);
  const { instance, cwd, marker, generation, onSpawned } = options;
  const { path } = locateCodex(instance);
  if (path === undefined) return yield* Effect.fail(unavailable(notFound(instance)));
  const secrets = secretsOf(options);
  const scope = yield* Effect.scope;
  const agent = yield* spawnCodex({ instance, path, args: ["app-server"], cwd, marker, onSpawned });
  const connection = yield* connect({ agent, generation, secrets, emit: options.emit });
  // Runs before the scope takes the connection apart: the exit must still be told.
  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      agent.end(),
      Effect.timeoutOrElse(connection.ended, { duration: "5 seconds", orElse: () => Effect.void }),
    ),
  );
  const failing = { agent, secrets };
  const opening = Effect.gen(function* () {
    const greet = Effect.andThen(
      connection.call("initialize", greeting, GREETING_DEADLINE),
      connection.notify("initialized"),
    );
    yield* oneAtFirst(instance, greet).pipe(Effect.catch(toOpenError("runtime_unavailable", failing)));
    const reply = yield* openThread(connection, options, own, failing);
    const first = settingsOfReply(reply);
    // What models there are must not keep a session from opening.
    const models = yield* listModels((params) => connection.call("model/list", params, "5 seconds")).pipe(
      Effect.catch(() => Effect.succeed([])),
    );
    const opened: Opened = { connection, agent, secrets, own, options, threadId: reply.threadId, first, models };
    yield* settle(opened);
    if (!connection.begin()) return yield* toOpenError("runtime_exited", failing)(exited);
    return makeSession(
      opened,
      {
        resumed: options.resume !== undefined,
        cwd: asText(reply["cwd"]) ?? cwd,
        capabilities: { ...capabilities, ...modelCapabilities(models, first.model) },
      },
      scope,
    );
  });
  // A session that did not open leaves nothing running, whatever becomes of the scope.
  return yield* Effect.onError(opening, () => agent.end());
});

/** The adapter as the registry holds it. */
export const codex: Adapter = { runtime: "codex", installation, open };
