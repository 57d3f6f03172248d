/** The adapter of Claude Code: `claude -p` with stream-json over stdio (docs/runtimes/claude.md). */
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Adapter,
  OpenError,
  type OpenOptions,
  type RuntimeCallError,
  type RuntimeSession,
} from "@tributary/contracts";
import { Effect, Schema, Scope } from "effect";
import { asWords, defined } from "../native.ts";
import type { AgentHandle } from "../process/index.ts";
import { environmentSecrets, Secrets } from "../secrets.ts";
import { capabilities } from "./capabilities.ts";
import { connect, type Connection, gone } from "./connection.ts";
import { installation } from "./installation.ts";
import { objectIn } from "./place.ts";
import { configFolder, locateClaude, notFound, spawnClaude, unavailable } from "./program.ts";
import { forkId, makeSession, type Opened, type SessionSettings } from "./session.ts";
import {
  type Beginning,
  ClaudeOptions,
  effortsFor,
  type Greeting,
  initializeRequest,
  isModel,
  mcpConfigText,
  misreadOption,
  modelIds,
  readGreeting,
  sessionArguments,
} from "./settings.ts";

/** Hooks of the person and MCP servers start within it. */
const OPEN_DEADLINE = "60 seconds";
/** Facts that are good to have. */
const FACTS_DEADLINE = "10 seconds";

const openError = (code: OpenError["code"], message: string, detail?: string): OpenError =>
  new OpenError({
    code,
    failure: { class: "validation", ...(detail === undefined ? {} : { code: detail }), message, retryable: false },
  });

const unsupported = (option: string, why: string): OpenError =>
  openError("unsupported_option", `${option}: ${why}`, option);

/** What can't be honoured, or would be no value, is refused before anything is started. */
const refuse = (options: OpenOptions): Effect.Effect<void, OpenError> => {
  const { serviceTier, mcpServers = [] } = options;
  const misread = misreadOption(options);
  if (misread !== undefined)
    return Effect.fail(unsupported(misread, "a value that begins with “-” would be read as an option"));
  if (serviceTier !== undefined)
    return Effect.fail(unsupported("serviceTier", capabilities.refusedOptions["serviceTier"] ?? "not supported"));
  const broken = mcpServers.find(
    ({ transport, command, url }) => (transport === "stdio" ? command : url) === undefined,
  );
  return broken === undefined
    ? Effect.void
    : Effect.fail(
        unsupported("mcpServers", `${broken.name} has no ${broken.transport === "stdio" ? "command" : "url"}`),
      );
};

const readOptions = (options: OpenOptions): Effect.Effect<ClaudeOptions, OpenError> =>
  Effect.mapError(Schema.decodeUnknownEffect(ClaudeOptions)(options.instance.options ?? {}), (error) =>
    unavailable(`the options of instance ${options.instance.id} are wrong (${error.message}): correct them`),
  );

const secretsOf = ({ instance, mcpServers = [] }: OpenOptions): Secrets =>
  new Secrets([
    ...environmentSecrets(instance.env),
    ...mcpServers.flatMap(({ env, headers }) => [...Object.values(env ?? {}), ...Object.values(headers ?? {})]),
  ]);

/** MCP servers go in by a file that only this user can read, and that is gone when the runtime has read it. */
const writeMcpConfig = (options: OpenOptions): Effect.Effect<string | undefined, OpenError, Scope.Scope> => {
  const { mcpServers = [] } = options;
  if (mcpServers.length === 0) return Effect.succeed(undefined);
  const write = Effect.tryPromise({
    try: async () => {
      const folder = await mkdtemp(join(tmpdir(), "tributary-mcp-"));
      await chmod(folder, 0o700);
      const file = join(folder, "mcp.json");
      await writeFile(file, mcpConfigText(mcpServers), { mode: 0o600, flag: "wx" });
      return { folder, file };
    },
    catch: (cause) =>
      unavailable(`the MCP servers could not be handed over (${String(cause)}): free the temporary folder`),
  });
  const remove = ({ folder }: { readonly folder: string }) =>
    Effect.promise(() => rm(folder, { recursive: true, force: true }).catch(() => undefined));
  return Effect.map(Effect.acquireRelease(write, remove), ({ file }) => file);
};

/** Whether the runtime has a transcript of that name, in whatever folder. */
const hasTranscript = (options: OpenOptions, sessionId: string): Effect.Effect<boolean> => {
  const projects = join(configFolder(options.instance), "projects");
  return Effect.promise(async () => {
    const list = (folder: string): Promise<ReadonlyArray<string>> => readdir(folder).catch(() => []);
    for (const folder of await list(projects)) {
      if ((await list(join(projects, folder))).includes(`${sessionId}.jsonl`)) return true;
    }
    return false;
  });
};

const forkPattern = /^fork:([^:]+):([^:]+)$/;

/** `unused`: sessions of this host that nobody said anything in: there is nothing to resume, and nothing is lost. */
const beginningOf = (options: OpenOptions, unused: ReadonlySet<string>): Effect.Effect<Beginning> => {
  const id = options.resume?.nativeSessionId;
  if (id === undefined) return Effect.sync(() => ({ kind: "new", sessionId: crypto.randomUUID() }));
  if (unused.has(id)) return Effect.succeed({ kind: "new", sessionId: id });
  const [, parentId, sessionId] = forkPattern.exec(id) ?? [];
  if (parentId === undefined || sessionId === undefined) return Effect.succeed({ kind: "resume", sessionId: id });
  return Effect.map(hasTranscript(options, sessionId), (isBegun) =>
    isBegun ? { kind: "resume", sessionId } : { kind: "fork", parentId, sessionId },
  );
};

/** Startup failures (vendor schema) by what they mean here. */
const startReasons: Readonly<Record<string, OpenError["code"]>> = {
  session_held_by_background: "session_unavailable",
  worktree_resume_refused: "session_unavailable",
  worktree_unverified: "session_unavailable",
};

/** The process ended before it was ready. What it said decides what that is called. */
const notOpened = (
  connection: Connection,
  agent: AgentHandle,
  options: OpenOptions,
  secrets: Secrets,
  error: RuntimeCallError,
): Effect.Effect<never, OpenError> =>
  Effect.flatMap(agent.stderrTail, (tail) => {
    const failed = connection.startFailure();
    const words = secrets.text(failed?.message ?? tail).trim();
    const message = words === "" ? error.failure.message : words;
    const isMissing = options.resume !== undefined && /No conversation found/i.test(message);
    const code = isMissing ? "session_unavailable" : (startReasons[failed?.reason ?? ""] ?? "runtime_exited");
    const detail = isMissing
      ? `The conversation ${options.resume?.nativeSessionId} is not there any more (${message}): start a new thread`
      : message;
    return Effect.fail(openError(error.reason === "refused" ? "runtime_refused" : code, detail, failed?.reason));
  });

/** Model and effort as the runtime applies them. Older ones can't tell: their first turn will. */
const readBack = (
  connection: Connection,
  options: OpenOptions,
  greeting: Greeting,
): Effect.Effect<SessionSettings, OpenError> =>
  Effect.gen(function* () {
    const { model, effort, approvalMode, interactionMode } = options;
    const body = yield* connection
      .call({ subtype: "get_settings" }, { deadline: FACTS_DEADLINE })
      .pipe(Effect.catch(() => Effect.succeed({})));
    const applied = objectIn(body, "applied");
    const now = defined({ model: asWords(applied["model"]), effort: asWords(applied["effort"]) });
    if (model !== undefined && now.model !== undefined && !isModel(model, now.model, greeting))
      yield* Effect.fail(unsupported("model", `Claude Code uses ${now.model} instead of ${model}`));
    if (effort !== undefined && now.model !== undefined && now.effort !== effort) {
      const known = effortsFor(greeting, now.model).join(", ");
      const instead = now.effort ?? "none";
      const why = `Claude Code uses ${instead} instead of ${effort} with ${now.model}`;
      yield* Effect.fail(unsupported("effort", known === "" ? why : `${why}; it has ${known}`));
    }
    return { ...defined({ model: now.model ?? model, effort: now.effort ?? effort }), approvalMode, interactionMode };
  });

const sessionCapabilities = (greeting: Greeting, model: string | undefined) => {
  const models = modelIds(greeting);
  const efforts = effortsFor(greeting, model);
  return {
    ...capabilities,
    ...(models.length === 0
      ? {}
      : { models: model === undefined || models.includes(model) ? models : [...models, model] }),
    ...(efforts.length === 0 ? {} : { efforts }),
  };
};

const makeOpen = (unused: Set<string>) =>
  Effect.fnUntraced(function* (options: OpenOptions): Effect.fn.Return<RuntimeSession, OpenError, Scope.Scope> {
    yield* refuse(options);
    const own = yield* readOptions(options);
    const { instance, cwd, marker, generation, onSpawned } = options;
    const { path } = locateClaude(instance);
    if (path === undefined) return yield* Effect.fail(unavailable(notFound(instance)));
    const beginning = yield* beginningOf(options, unused);
    const secrets = secretsOf(options);
    const scope = yield* Effect.scope;

    const start = Effect.gen(function* () {
      const mcpConfig = yield* writeMcpConfig(options);
      const args = sessionArguments(options, beginning, mcpConfig);
      const spawning = spawnClaude({ instance, path, args, cwd, marker, onSpawned });
      const agent = yield* Scope.provide(spawning, scope);
      const connecting = connect({
        agent,
        generation,
        isResumed: options.resume !== undefined,
        secrets,
        emit: options.emit,
      });
      const connection = yield* Scope.provide(connecting, scope);
      // A session that did not open leaves nothing running, whatever becomes of the scope.
      const greet = connection.call(initializeRequest(options, own), { deadline: OPEN_DEADLINE }).pipe(
        Effect.catch((error) => notOpened(connection, agent, options, secrets, error)),
        Effect.onError(() => agent.end()),
      );
      return { agent, connection, greeting: readGreeting(yield* greet) };
    });
    // The file with the MCP servers lives as long as this: the runtime has read it by its first reply (observed).
    const { agent, connection, greeting } = yield* Effect.scoped(start);
    // Runs before the scope takes the connection apart: the exit must still be told.
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        agent.end(),
        Effect.timeoutOrElse(connection.ended, { duration: "5 seconds", orElse: () => Effect.void }),
      ),
    );

    const opening = Effect.gen(function* () {
      const settings = yield* readBack(connection, options, greeting);
      // What it has cost before is the base of what the next turn costs.
      if (options.resume !== undefined)
        yield* Effect.ignore(connection.call({ subtype: "get_usage" }, { deadline: FACTS_DEADLINE }));
      const sessionId =
        beginning.kind === "fork"
          ? forkId(beginning.parentId, beginning.sessionId)
          : (options.resume?.nativeSessionId ?? beginning.sessionId);
      if (!connection.begin()) yield* notOpened(connection, agent, options, secrets, gone);
      if (beginning.kind === "new") unused.add(sessionId);
      const opened: Opened = {
        connection,
        agent,
        options,
        greeting,
        sessionId,
        settings,
        onUsed: () => unused.delete(sessionId),
      };
      const facts = {
        resumed: options.resume !== undefined,
        cwd,
        capabilities: sessionCapabilities(greeting, settings.model),
      };
      return makeSession(opened, facts, scope);
    });
    return yield* Effect.onError(opening, () => agent.end());
  });

/** Makes the adapter. It remembers which of its sessions nobody has said anything in yet. */
export const makeClaude = (): Adapter => ({ runtime: "claude", installation, open: makeOpen(new Set()) });

/** The adapter as the registry holds it. */
export const claude: Adapter = makeClaude();
