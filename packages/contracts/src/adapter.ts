/** The types a runtime adapter implements (design section 7). Behaviour lives in `packages/providers/<runtime>`. */
import { Schema } from "effect";
import type { Effect, Scope } from "effect";
import { Failure } from "./failure.ts";
import { Id } from "./ids.ts";
import type { Generation } from "./ids.ts";
import { ClientJson, opt } from "./json.ts";
import type { RuntimeRecord } from "./runtime-events.ts";
import { Capabilities } from "./values.ts";
import type { Answer, ApprovalMode, Attachment, InteractionMode, McpServer } from "./values.ts";

/** One configured use of a runtime: own home, account, environment. Kept in the data folder's configuration file. */
export const InstanceConfig = Schema.Struct({
  id: Id,
  /** Which adapter: `codex`, `claude`, `scripted`, … */
  runtime: Id,
  label: opt(Schema.String),
  enabled: opt(Schema.Boolean),
  /** The program to run, when it is not the one found on the path. */
  command: opt(Schema.String),
  args: opt(Schema.Array(Schema.String)),
  /** The runtime's own home folder, so that instances share nothing. */
  home: opt(Schema.String),
  /** Values are secrets (I16). */
  env: opt(Schema.Record(Schema.String, Schema.String)),
  /** The runtime's own settings, by its adapter's schema (the scripted runtime's `script`, …). */
  options: opt(Schema.Record(Schema.String, ClientJson)),
});
export type InstanceConfig = typeof InstanceConfig.Type;

/** What is known of an instance without opening a session. */
export const Installation = Schema.Struct({
  available: Schema.Boolean,
  /** Why not, and what to do. */
  problem: opt(Schema.String),
  path: opt(Schema.String),
  version: opt(Schema.String),
  /** Other copies on the path that are shadowed by `path`. */
  shadowed: opt(Schema.Array(Schema.String)),
  account: opt(Schema.Struct({ state: Schema.Literals(["ok", "missing", "unknown"]), label: opt(Schema.String) })),
  models: opt(Schema.Array(Schema.Struct({ id: Schema.String, label: opt(Schema.String) }))),
  capabilities: opt(Capabilities),
});
export type Installation = typeof Installation.Type;

/**
 * Why a call to a runtime did not succeed. `refused`: it said no and did nothing. `not_written`: it never got it, with
 * certainty. `unconfirmed`: it may have got it. `unsupported`: it has no such control. `exited`: its process is gone.
 */
export class RuntimeCallError extends Schema.TaggedError<RuntimeCallError>()("RuntimeCallError", {
  reason: Schema.Literals(["refused", "not_written", "unconfirmed", "unsupported", "exited"]),
  failure: Failure,
}) {}

/** Why a session could not be opened. `code` is the rejection a client sees. */
export class OpenError extends Schema.TaggedError<OpenError>()("OpenError", {
  code: Schema.Literals([
    "runtime_unavailable",
    "runtime_refused",
    "runtime_exited",
    "session_unavailable",
    "unsupported_option",
  ]),
  failure: Failure,
}) {}

/** Identifies a process for good: a reused pid has another start time; a reboot another boot id. */
export const ProcessIdentity = Schema.Struct({
  pid: Schema.Int,
  startTime: Schema.String,
  bootId: Schema.String,
});
export type ProcessIdentity = typeof ProcessIdentity.Type;

export interface OpenOptions {
  readonly threadId: string;
  readonly generation: Generation;
  readonly instance: InstanceConfig;
  /** Absolute, real. */
  readonly cwd: string;
  readonly model?: string;
  readonly effort?: string;
  readonly serviceTier?: string;
  readonly approvalMode: ApprovalMode;
  readonly interactionMode: InteractionMode;
  readonly systemPrompt?: string;
  readonly mcpServers?: ReadonlyArray<McpServer>;
  readonly disallowedTools?: ReadonlyArray<string>;
  readonly resume?: { readonly nativeSessionId: string };
  /** Goes into the child's environment as TRIBUTARY_MARKER; stored before the spawn. */
  readonly marker: string;
  /** To be run as soon as a process exists, before it is talked to. */
  readonly onSpawned: (identity: ProcessIdentity) => Effect.Effect<void>;
  /** Where the bytes of an attachment are: an absolute path that stays while the session is open. */
  readonly attachmentPath?: (attachmentId: string) => string | undefined;
  /**
   * Hands one record to ingestion, in the order of the wire. Suspends while ingestion is full, so that the pipe and the
   * agent wait. Never fails; after the session's end records are taken and refused.
   */
  readonly emit: (record: RuntimeRecord) => Effect.Effect<void>;
}

export interface PromptInput {
  readonly inputId: string;
  readonly text: string;
  readonly attachments?: ReadonlyArray<Attachment>;
  readonly model?: string;
  readonly effort?: string;
  readonly interactionMode?: InteractionMode;
}

export interface ConfigureOptions {
  readonly model?: string;
  readonly effort?: string;
  readonly serviceTier?: string;
  readonly approvalMode?: ApprovalMode;
  readonly interactionMode?: InteractionMode;
}

type Call<A = void> = Effect.Effect<A, RuntimeCallError>;

/**
 * An open runtime session. Success of `prompt` and `steer` means that the runtime took the input; evidence that it began
 * comes as records. When the process ends, for whatever reason, the adapter emits `session.exited` as its last record; of
 * a session that did not open it emits none, so that nothing races with the failure of `open`.
 */
export interface RuntimeSession {
  readonly nativeSessionId: string;
  readonly resumed: boolean;
  readonly cwd?: string;
  readonly model?: string;
  readonly effort?: string;
  readonly capabilities: Capabilities;
  readonly prompt: (input: PromptInput) => Call;
  /** Asks the runtime to stop the turn; success means that it heard. */
  readonly interrupt: (target: { readonly turnId?: string }) => Call;
  /** Orderly end: the runtime is asked to go, then its tree is ended. Idempotent. */
  readonly close: Effect.Effect<void>;
  /** TERM, or KILL, to the whole tree, leftover shells in sessions of their own included. Idempotent. */
  readonly signal: (signal: "terminate" | "kill") => Effect.Effect<void>;
  readonly steer?: (input: PromptInput & { readonly turnId: string }) => Call;
  readonly answer?: (request: { readonly requestId: string; readonly answer: Answer }) => Call;
  readonly configure?: (options: ConfigureOptions) => Call<ConfigureOptions>;
  readonly fork?: (options: { readonly atTurnId?: string }) => Call<{ readonly nativeSessionId: string }>;
  readonly rollback?: (options: { readonly turns: number }) => Call;
  readonly queue?: (input: PromptInput) => Call;
  readonly withdraw?: (input: { readonly inputId: string }) => Call;
}

/** One runtime: how to find it and how to open sessions of it. The session lives in the scope it was opened in. */
export interface Adapter {
  readonly runtime: string;
  readonly installation: (instance: InstanceConfig) => Effect.Effect<Installation>;
  readonly open: (options: OpenOptions) => Effect.Effect<RuntimeSession, OpenError, Scope.Scope>;
}
