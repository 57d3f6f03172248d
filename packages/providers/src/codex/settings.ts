/** What Tributary asks for, in Codex's words (vendor schema `ThreadStartParams`, `ThreadSettingsUpdateParams`). Pure. */
import type { ApprovalMode, ConfigureOptions, InteractionMode, McpServer, OpenOptions } from "@tributary/contracts";
import { Schema } from "effect";
import { asObject, asText, asWords, defined, type NativeObject } from "../native.ts";
import { MASK } from "../secrets.ts";

/** The adapter's own settings of an instance (`options` in the configuration). */
export const CodexOptions = Schema.Struct({
  /** Where commands may write without asking again; for hosts where Codex's sandbox can't work. Default workspace-write. */
  sandbox: Schema.optionalKey(Schema.Literals(["read-only", "workspace-write", "danger-full-access"])),
});
export type CodexOptions = typeof CodexOptions.Type;

interface Policy {
  readonly approvalPolicy: string;
  readonly sandbox: NonNullable<CodexOptions["sandbox"]>;
}

/**
 * `accept_edits` is `ask` with a policy of ours that answers file changes: what Codex offers in between (`on-request`) also
 * runs any command in its sandbox without asking.
 */
export const policyOf = (mode: ApprovalMode, { sandbox = "workspace-write" }: CodexOptions): Policy =>
  mode === "full_access"
    ? { approvalPolicy: "never", sandbox: "danger-full-access" }
    : { approvalPolicy: "untrusted", sandbox };

/** The same sandbox as turns and settings spell it. */
export const sandboxPolicy = (sandbox: Policy["sandbox"]): NativeObject => {
  if (sandbox === "danger-full-access") return { type: "dangerFullAccess" };
  if (sandbox === "read-only") return { type: "readOnly", networkAccess: false };
  return {
    type: "workspaceWrite",
    writableRoots: [],
    networkAccess: false,
    excludeTmpdirEnvVar: false,
    excludeSlashTmp: false,
  };
};

const serverConfig = (server: McpServer): NativeObject =>
  server.transport === "stdio"
    ? defined({ command: server.command, args: server.args, env: server.env })
    : defined({ url: server.url, http_headers: server.headers });

/** Names that Codex takes as keys of its configuration. */
export const isServerName = (name: string): boolean => /^[A-Za-z0-9_-]+$/.test(name);

const configOf = (options: OpenOptions): NativeObject | undefined => {
  const servers = options.mcpServers ?? [];
  // On resume an effort given as configuration would rebuild the thread: it is set afterwards.
  const effort = options.resume === undefined ? options.effort : undefined;
  if (servers.length === 0 && effort === undefined) return undefined;
  return defined({
    model_reasoning_effort: effort,
    mcp_servers:
      servers.length === 0
        ? undefined
        : Object.fromEntries(servers.map((server) => [server.name, serverConfig(server)])),
  });
};

/** Parameters of `thread/start`, or of `thread/resume`. */
export const openParams = (options: OpenOptions, own: CodexOptions): NativeObject => ({
  ...(options.resume === undefined ? {} : { threadId: options.resume.nativeSessionId, excludeTurns: true }),
  cwd: options.cwd,
  ...policyOf(options.approvalMode, own),
  ...defined({
    model: options.model,
    serviceTier: options.serviceTier,
    // A resumed thread keeps the instructions that it was started with.
    baseInstructions: options.resume === undefined ? options.systemPrompt : undefined,
    config: configOf(options),
  }),
});

/** Values of MCP `env` and `headers` reach Codex, but no record (I16). */
export const maskConfig = (frame: NativeObject): NativeObject => {
  const params = asObject(frame["params"]);
  const config = asObject(params?.["config"]);
  const servers = asObject(config?.["mcp_servers"]);
  if (params === undefined || servers === undefined) return frame;
  const masked = Object.entries(servers).map(([name, server]) => {
    const secret = Object.entries(asObject(server) ?? {}).map(([field, value]) => {
      if (field !== "env" && field !== "http_headers") return [field, value] as const;
      return [field, Object.fromEntries(Object.keys(asObject(value) ?? {}).map((key) => [key, MASK]))] as const;
    });
    return [name, Object.fromEntries(secret)] as const;
  });
  return { ...frame, params: { ...params, config: { ...config, mcp_servers: Object.fromEntries(masked) } } };
};

/** What a thread is set to, as Codex last said. */
export interface ThreadSettings {
  readonly model?: string;
  readonly effort?: string;
  readonly serviceTier?: string;
  readonly approvalPolicy?: string;
  readonly mode: InteractionMode;
}

const modeOf = (native: unknown): InteractionMode =>
  asText(asObject(native)?.["mode"]) === "plan" ? "plan" : "default";

/** From the reply to `thread/start` or `thread/resume`. */
export const settingsOfReply = (reply: NativeObject): ThreadSettings => ({
  ...defined({
    model: asWords(reply["model"]),
    effort: asWords(reply["reasoningEffort"]),
    serviceTier: asWords(reply["serviceTier"]),
    approvalPolicy: asWords(reply["approvalPolicy"]),
  }),
  mode: modeOf(reply["collaborationMode"]),
});

/** From `thread/settings/updated`. */
export const settingsOfUpdate = (settings: NativeObject): ThreadSettings => ({
  ...defined({
    model: asWords(settings["model"]),
    effort: asWords(settings["effort"]),
    serviceTier: asWords(settings["serviceTier"]),
    approvalPolicy: asWords(settings["approvalPolicy"]),
  }),
  mode: modeOf(settings["collaborationMode"]),
});

/** A mode carries model and effort along: those that the thread has, unless others are wanted. */
export const collaborationMode = (
  mode: InteractionMode,
  current: Pick<ThreadSettings, "model" | "effort">,
  wanted: { readonly model?: string; readonly effort?: string },
): NativeObject => ({
  mode,
  settings: {
    model: wanted.model ?? current.model ?? "",
    reasoning_effort: wanted.effort ?? current.effort ?? null,
    developer_instructions: null,
  },
});

/** What of `wanted` is not so yet, as parameters of `thread/settings/update`; nothing where all is. */
export const settingsChange = (
  current: ThreadSettings,
  wanted: ConfigureOptions,
  own: CodexOptions,
): NativeObject | undefined => {
  const policy = wanted.approvalMode === undefined ? undefined : policyOf(wanted.approvalMode, own);
  const isNewMode = wanted.interactionMode !== undefined && wanted.interactionMode !== current.mode;
  const change: NativeObject = {
    ...(wanted.model !== undefined && wanted.model !== current.model ? { model: wanted.model } : {}),
    ...(wanted.effort !== undefined && wanted.effort !== current.effort ? { effort: wanted.effort } : {}),
    ...(wanted.serviceTier !== undefined && wanted.serviceTier !== current.serviceTier
      ? { serviceTier: wanted.serviceTier }
      : {}),
    ...(policy !== undefined && policy.approvalPolicy !== current.approvalPolicy
      ? { approvalPolicy: policy.approvalPolicy, sandboxPolicy: sandboxPolicy(policy.sandbox) }
      : {}),
    ...(isNewMode
      ? { collaborationMode: collaborationMode(wanted.interactionMode ?? "default", current, wanted) }
      : {}),
  };
  return Object.keys(change).length === 0 ? undefined : change;
};

/** The first wish that Codex did not follow, with what it has instead. */
export const unmet = (
  current: ThreadSettings,
  wanted: Pick<ConfigureOptions, "model" | "effort" | "serviceTier" | "interactionMode">,
): { readonly option: string; readonly wanted: string; readonly got: string } | undefined => {
  const pairs = [
    ["model", wanted.model, current.model],
    ["effort", wanted.effort, current.effort],
    ["serviceTier", wanted.serviceTier, current.serviceTier],
    ["interactionMode", wanted.interactionMode, current.mode],
  ] as const;
  for (const [option, want, got] of pairs) {
    if (want !== undefined && want !== got) return { option, wanted: want, got: got ?? "none" };
  }
  return undefined;
};
