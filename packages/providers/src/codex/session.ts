/** The controls of an open Codex session. */
import {
  type Answer,
  type ConfigureOptions,
  type OpenOptions,
  type PromptInput,
  RuntimeCallError,
  type RuntimeSession,
} from "@tributary/contracts";
import { Effect, type Scope } from "effect";
import { asId, asObject, asObjects, asText, defined, rowOf, type NativeObject } from "../native.ts";
import type { AgentHandle } from "../process/index.ts";
import type { Secrets } from "../secrets.ts";
import type { Connection } from "./connection.ts";
import { type Model, unknownChoice } from "./models.ts";
import { activeRootTurn } from "./place.ts";
import { type CodexOptions, collaborationMode, settingsChange, type ThreadSettings, unmet } from "./settings.ts";
import type { Asked, CodexState } from "./state.ts";

/** What the controls work on. */
export interface Opened {
  readonly connection: Connection;
  readonly agent: AgentHandle;
  readonly secrets: Secrets;
  readonly own: CodexOptions;
  readonly options: OpenOptions;
  readonly threadId: string;
  /** Settings as Codex said them at the opening. */
  readonly first: ThreadSettings;
  /** What the instance offers; empty where it was not told. */
  readonly models: ReadonlyArray<Model>;
}

type Call<A = void> = Effect.Effect<A, RuntimeCallError>;

/** An interrupt can hang (upstream issue 36926): below the 5 s after which the host ends the process. */
const INTERRUPT_DEADLINE = "3 seconds";
const CLEAN_DEADLINE = "2 seconds";
const SETTINGS_DEADLINE = "2 seconds";

const refuse = (code: string, message: string, reason: RuntimeCallError["reason"] = "refused"): RuntimeCallError =>
  new RuntimeCallError({ reason, failure: { class: "validation", code, message, retryable: false } });

export const currentSettings = ({ connection, first }: Opened): ThreadSettings => connection.settings() ?? first;

/** Images are given by their path; anything else that is attached can't be. */
const inputOf = ({ options }: Opened, input: PromptInput): Call<ReadonlyArray<NativeObject>> => {
  const parts: Array<NativeObject> = [{ type: "text", text: input.text, text_elements: [] }];
  for (const attachment of input.attachments ?? []) {
    const { name = attachment.id } = attachment;
    const isImage = attachment.mimeType?.startsWith("image/") ?? false;
    if (!isImage)
      return Effect.fail(refuse("attachments", `Codex takes images only: leave out ${name}`, "unsupported"));
    const path = options.attachmentPath?.(attachment.id);
    if (path === undefined)
      return Effect.fail(refuse("attachments", `The attachment ${name} is not there any more: attach it again`));
    parts.push({ type: "localImage", path });
  }
  return Effect.succeed(parts);
};

/** Model, effort and mode of one turn; Codex keeps them for the turns after it. */
const overrides = (opened: Opened, input: PromptInput): NativeObject => {
  const current = currentSettings(opened);
  const { interactionMode: mode } = input;
  return {
    ...defined({ model: input.model, effort: input.effort }),
    ...(mode === undefined || mode === current.mode
      ? {}
      : { collaborationMode: collaborationMode(mode, current, defined({ model: input.model, effort: input.effort })) }),
  };
};

const prompt = (opened: Opened, input: PromptInput): Call =>
  Effect.flatMap(inputOf(opened, input), (parts) =>
    Effect.asVoid(
      opened.connection.call("turn/start", {
        threadId: opened.threadId,
        clientUserMessageId: input.inputId,
        input: parts,
        ...overrides(opened, input),
      }),
    ),
  );

const steer = (opened: Opened, input: PromptInput & { readonly turnId: string }): Call =>
  Effect.flatMap(inputOf(opened, input), (parts) =>
    Effect.asVoid(
      opened.connection.call("turn/steer", {
        threadId: opened.threadId,
        expectedTurnId: input.turnId,
        clientUserMessageId: input.inputId,
        input: parts,
      }),
    ),
  );

/** A turn that runs, and the native thread it runs in. */
interface Running {
  readonly threadId: string;
  readonly turnId: string;
}

/** The commands of a turn that have not ended. */
const openCommands = (state: CodexState, { turnId }: Running): ReadonlySet<string> =>
  new Set(
    [...state.items.values()]
      .filter((item) => item.turnId === turnId && item.type === "commandExecution")
      .map(({ itemId }) => itemId),
  );

/**
 * Ends the commands of an interrupted turn, which Codex leaves running (observed), and only those: a server that the agent
 * started in an earlier turn stays. Where they can't be listed, all of the thread's are ended.
 */
const endCommands = (
  { connection }: Opened,
  { threadId }: Running,
  commands: ReadonlySet<string>,
): Effect.Effect<void> => {
  if (commands.size === 0) return Effect.void;
  const precisely = Effect.gen(function* () {
    const { data } = yield* connection.call("thread/backgroundTerminals/list", { threadId }, CLEAN_DEADLINE);
    for (const terminal of asObjects(data)) {
      if (!commands.has(asText(terminal["itemId"]) ?? "")) continue;
      const { processId } = terminal;
      yield* connection.call("thread/backgroundTerminals/terminate", { threadId, processId }, CLEAN_DEADLINE);
    }
  });
  const all = connection.call("thread/backgroundTerminals/clean", { threadId }, CLEAN_DEADLINE);
  return precisely.pipe(
    Effect.catch(() => all),
    Effect.ignore,
  );
};

const interruptOne = (opened: Opened, running: Running): Call =>
  Effect.gen(function* () {
    const commands = openCommands(opened.connection.state(), running);
    yield* opened.connection.call("turn/interrupt", { ...running }, INTERRUPT_DEADLINE);
    yield* endCommands(opened, running, commands);
  });

/** Sub-agents that work for the turn: an interrupt of their parent leaves them running (observed). */
const childrenOf = (state: CodexState, rootTurnId: string): ReadonlyArray<Running> =>
  [...state.turns]
    .filter(([turnId, turn]) => turn.rootTurnId === rootTurnId && turnId !== rootTurnId)
    .map(([turnId, { threadId }]) => ({ threadId, turnId }));

/** The turn that is running, or about to: its id is in the reply to `turn/start`, before `turn/started`. */
const runningTurn = (state: CodexState): string | undefined =>
  activeRootTurn(state) ?? [...state.announced.keys()].at(-1);

const interrupt = (opened: Opened, target: { readonly turnId?: string }): Call =>
  Effect.suspend(() => {
    const { connection, threadId } = opened;
    const turnId = target.turnId ?? runningTurn(connection.state());
    if (turnId === undefined) return Effect.fail(refuse("no_active_turn", "no turn is running"));
    return interruptOne(opened, { threadId, turnId }).pipe(
      // Asked for after the parent has stopped, so that it starts no more of them.
      Effect.tap(() =>
        Effect.forEach(childrenOf(connection.state(), turnId), (child) => Effect.ignore(interruptOne(opened, child)), {
          concurrency: "unbounded",
          discard: true,
        }),
      ),
    );
  });

const strings = (value: unknown): ReadonlyArray<string> =>
  (Array.isArray(value) ? value : [value]).map((one) => (typeof one === "string" ? one : JSON.stringify(one)));

const isElicitation = ({ method }: Asked): boolean => method === "mcpServer/elicitation/request";

/** The native result that an answer stands for. */
const resultOf = (asked: Asked, answer: Answer): NativeObject | undefined => {
  if ("optionId" in answer) return rowOf(asked.replies, answer.optionId);
  if (isElicitation(asked)) return { action: "accept", content: answer.answers, _meta: null };
  if (asked.method !== "item/tool/requestUserInput") return undefined;
  const answers = Object.entries(answer.answers).map(([id, value]) => [id, { answers: strings(value) }] as const);
  return { answers: Object.fromEntries(answers) };
};

const answer = (
  { connection, secrets }: Opened,
  request: { readonly requestId: string; readonly answer: Answer },
): Call =>
  Effect.suspend(() => {
    const found = [...connection.state().asked].find(([, { requestId }]) => requestId === request.requestId);
    if (found === undefined) return Effect.fail(refuse("request_over", "Codex does not wait for this answer any more"));
    const [key, asked] = found;
    const result = resultOf(asked, request.answer);
    if (result === undefined) {
      return Effect.fail(refuse("invalid_answer", `answer with one of ${Object.keys(asked.replies).join(", ")}`));
    }
    if ("answers" in request.answer) {
      const { answers } = request.answer;
      secrets.add(asked.secrets.flatMap((id) => strings(answers[id] ?? "")));
    }
    return connection.reply(key, result);
  });

/** Changes settings and reads them back: Codex says nothing of a wish that it does not follow. */
export const configure = (opened: Opened, wanted: ConfigureOptions): Call<ConfigureOptions> =>
  Effect.gen(function* () {
    const { connection, own, threadId, models } = opened;
    const wrong = unknownChoice(models, { ...defined({ model: currentSettings(opened).model }), ...wanted });
    if (wrong !== undefined) return yield* Effect.fail(refuse(wrong.option, wrong.message));
    const change = settingsChange(currentSettings(opened), wanted, own);
    if (change !== undefined) {
      const told = connection.nextSettings();
      yield* connection.call("thread/settings/update", { threadId, ...change });
      if (settingsChange(currentSettings(opened), wanted, own) !== undefined) {
        yield* Effect.timeoutOrElse(told, { duration: SETTINGS_DEADLINE, orElse: () => Effect.void });
      }
      yield* connection.told;
    }
    const now = currentSettings(opened);
    const miss = unmet(now, wanted);
    if (miss !== undefined) {
      return yield* Effect.fail(
        refuse(miss.option, `Codex has ${miss.option} ${miss.got} instead of ${miss.wanted}: choose another one`),
      );
    }
    return {
      ...defined({ model: now.model, effort: now.effort, serviceTier: now.serviceTier }),
      ...defined({ approvalMode: wanted.approvalMode }),
      interactionMode: now.mode,
    };
  });

const fork = ({ connection, threadId }: Opened, { atTurnId }: { readonly atTurnId?: string }) =>
  Effect.gen(function* () {
    const params = { threadId, excludeTurns: true, ...defined({ lastTurnId: atTurnId }) };
    const forked = asId(asObject((yield* connection.call("thread/fork", params))["thread"])?.["id"]);
    if (forked === undefined) return yield* Effect.fail(refuse("fork", "Codex named no thread for the fork"));
    // It is opened by another process; this one need not hear of it.
    yield* Effect.ignore(connection.call("thread/unsubscribe", { threadId: forked }));
    return { nativeSessionId: forked };
  });

/** Forgets the last turns of the conversation; files stay as they are. */
const rollback = ({ connection, threadId }: Opened, { turns }: { readonly turns: number }): Call =>
  Effect.gen(function* () {
    const params = { threadId, limit: turns, sortDirection: "desc" };
    const listed = asObjects((yield* connection.call("thread/turns/list", params))["data"]);
    const beforeTurnId = asId(listed[turns - 1]?.["id"]);
    if (beforeTurnId === undefined) {
      return yield* Effect.fail(refuse("rollback", `there are ${listed.length} turns: roll back at most that many`));
    }
    yield* connection.call("thread/revert", { threadId, beforeTurnId });
  });

/** Codex exits when its input ends, at once and in the middle of a turn too (observed). */
const CLOSE_GRACE = "2 seconds";
const LAST_RECORD = "5 seconds";

const close = ({ connection, agent }: Opened): Effect.Effect<void> =>
  Effect.gen(function* () {
    connection.asking("close");
    yield* agent.endInput;
    yield* Effect.timeoutOrElse(agent.exit, { duration: CLOSE_GRACE, orElse: () => Effect.void });
    yield* agent.end();
    // Not for ever: who stops an agent must not wait for an ingestion that takes nothing.
    yield* Effect.timeoutOrElse(connection.ended, { duration: LAST_RECORD, orElse: () => Effect.void });
  });

/** `terminate` asks and does not wait; ending what does not listen is the next step, `kill`. */
const signal = ({ connection, agent }: Opened, kind: "terminate" | "kill", scope: Scope.Scope): Effect.Effect<void> =>
  Effect.suspend(() => {
    connection.asking("signal");
    return kind === "kill"
      ? Effect.asVoid(agent.end({ grace: 0 }))
      : Effect.asVoid(Effect.forkIn(agent.end({ grace: "1 hour" }), scope));
  });

/** Puts the controls together. Sessions of Codex have all of them but a queue. */
export const makeSession = (
  opened: Opened,
  facts: Pick<RuntimeSession, "resumed" | "capabilities" | "cwd">,
  scope: Scope.Scope,
): RuntimeSession => ({
  ...facts,
  nativeSessionId: opened.threadId,
  ...defined({ model: currentSettings(opened).model, effort: currentSettings(opened).effort }),
  prompt: (input) => prompt(opened, input),
  steer: (input) => steer(opened, input),
  interrupt: (target) => interrupt(opened, target),
  answer: (request) => answer(opened, request),
  configure: (wanted) => configure(opened, wanted),
  fork: (from) => fork(opened, from),
  rollback: (how) => rollback(opened, how),
  close: close(opened),
  signal: (kind) => signal(opened, kind, scope),
});
