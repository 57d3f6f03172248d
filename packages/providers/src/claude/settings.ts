/** What a session is opened with: arguments, the first control request, and whether the runtime follows. */
import type { ApprovalMode, InteractionMode, McpServer, OpenOptions } from "@tributary/contracts";
import { Schema } from "effect";
import { asObjects, asText, asTexts, asWords, type NativeObject } from "../native.ts";
import { wireArguments } from "./program.ts";

/** The instance's own settings of this runtime. */
export const ClaudeOptions = Schema.Struct({
  /** What a thread's `systemPrompt` does: added to Claude Code's own instructions (default), or put in their place. */
  systemPrompt: Schema.optionalKey(Schema.Literals(["append", "replace"])),
});
export type ClaudeOptions = typeof ClaudeOptions.Type;

/** As root the program refuses to skip its checks, unless it is told that this is a sandbox (observed 2.1.332). */
export const maySkipPermissions = ({ instance }: Pick<OpenOptions, "instance">): boolean =>
  process.getuid?.() !== 0 || instance.env?.["IS_SANDBOX"] === "1";

/** Where the runtime can't skip its checks it asks, and the approval policy answers. */
export const permissionMode = (
  modes: { readonly approvalMode: ApprovalMode; readonly interactionMode: InteractionMode },
  canSkip: boolean,
): string => {
  if (modes.interactionMode === "plan") return "plan";
  switch (modes.approvalMode) {
    case "ask":
      return "default";
    case "accept_edits":
      return "acceptEdits";
    case "full_access":
      return canSkip ? "bypassPermissions" : "default";
  }
};

/** How the conversation begins. */
export type Beginning =
  | { readonly kind: "new"; readonly sessionId: string }
  | { readonly kind: "resume"; readonly sessionId: string }
  | { readonly kind: "fork"; readonly parentId: string; readonly sessionId: string };

const beginningArguments = (beginning: Beginning): ReadonlyArray<string> => {
  switch (beginning.kind) {
    case "new":
      return ["--session-id", beginning.sessionId];
    case "resume":
      return ["--resume", beginning.sessionId];
    case "fork":
      return ["--resume", beginning.parentId, "--fork-session", "--session-id", beginning.sessionId];
  }
};

/**
 * The first value that the program could take for an option of its own. Whoever may begin a thread may not thereby switch
 * off its questions, or start programs by `--mcp-config` or `--settings`.
 */
export const misreadOption = ({ model, effort, disallowedTools = [], resume }: OpenOptions): string | undefined => {
  const values: ReadonlyArray<readonly [string, ReadonlyArray<string | undefined>]> = [
    ["model", [model]],
    ["effort", [effort]],
    ["disallowedTools", disallowedTools],
    // `fork:<parent>:<own>` has two.
    ["resume", resume?.nativeSessionId.split(":") ?? []],
  ];
  return values.find(([, all]) => all.some((value) => value?.trimStart().startsWith("-")))?.[0];
};

export const sessionArguments = (
  options: OpenOptions,
  beginning: Beginning,
  mcpConfig: string | undefined,
): ReadonlyArray<string> => {
  const canSkip = maySkipPermissions(options);
  const { model, effort, disallowedTools = [] } = options;
  return [
    ...wireArguments,
    "--include-partial-messages",
    "--replay-user-messages",
    "--permission-prompt-tool",
    "stdio",
    // So that a session which was not opened for full access can be switched to it.
    ...(canSkip ? ["--allow-dangerously-skip-permissions"] : []),
    ...(model === undefined ? [] : ["--model", model]),
    ...(effort === undefined ? [] : ["--effort", effort]),
    // Takes any number of values: another option has to follow.
    ...(disallowedTools.length === 0 ? [] : ["--disallowed-tools", ...disallowedTools]),
    ...(mcpConfig === undefined ? [] : ["--mcp-config", mcpConfig]),
    "--permission-mode",
    permissionMode(options, canSkip),
    ...beginningArguments(beginning),
  ];
};

/**
 * The first control request. The prompt of an earlier process stands in the transcript and would be sent again as it was;
 * what is given now replaces it only when nothing is recorded (observed 2.1.332).
 */
export const initializeRequest = (options: OpenOptions, own: ClaudeOptions): NativeObject => {
  const { systemPrompt, resume } = options;
  const prompt =
    systemPrompt === undefined
      ? {}
      : own.systemPrompt === "replace"
        ? { systemPrompt: [systemPrompt] }
        : { appendSystemPrompt: systemPrompt };
  return {
    subtype: "initialize",
    hooks: null,
    forwardSubagentText: true,
    ...prompt,
    ...(systemPrompt === undefined || resume === undefined ? {} : { systemPromptSnapshot: false }),
  };
};

const serverConfig = (server: McpServer): NativeObject =>
  server.transport === "stdio"
    ? { type: "stdio", command: server.command ?? "", args: server.args ?? [], env: server.env ?? {} }
    : { type: "http", url: server.url ?? "", headers: server.headers ?? {} };

/** The content of the file that `--mcp-config` names. It holds secrets. */
export const mcpConfigText = (servers: ReadonlyArray<McpServer>): string =>
  JSON.stringify({ mcpServers: Object.fromEntries(servers.map((server) => [server.name, serverConfig(server)])) });

/** What the reply to `initialize` says. */
export interface Greeting {
  readonly version?: string;
  readonly account: NativeObject;
  readonly models: ReadonlyArray<NativeObject>;
}

export const modelIds = ({ models }: Greeting): ReadonlyArray<string> =>
  models.flatMap((model) => asWords(model["value"]) ?? []);

const effortsOf = (model: NativeObject): ReadonlyArray<string> => asTexts(model["supportedEffortLevels"]);

/** The efforts of a model; of all models where none is named. */
export const effortsFor = ({ models }: Greeting, model: string | undefined): ReadonlyArray<string> => {
  const named = models.filter((one) => model === undefined || one["value"] === model || one["resolvedModel"] === model);
  return [...new Set(named.flatMap(effortsOf))];
};

/** Whether `applied` is what `wanted` stands for: itself, or the model behind an alias. */
export const isModel = (wanted: string, applied: string, { models }: Greeting): boolean =>
  applied === wanted ||
  models.some((model) => asText(model["value"]) === wanted && asText(model["resolvedModel"]) === applied);

export const readGreeting = (body: NativeObject): Greeting => {
  const version = asWords(body["claude_code_version"]);
  const account = body["account"];
  return {
    account: typeof account === "object" && account !== null ? (account as NativeObject) : {},
    models: asObjects(body["models"]),
    ...(version === undefined ? {} : { version }),
  };
};
