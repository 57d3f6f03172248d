/** Values that canonical events, stored events, commands and views share. */
import { Schema } from "effect";
import { Amount, ClientJson, Count, Json, opt } from "./json.ts";
import { Id, Instant } from "./ids.ts";

/** What an item is. A sub-agent is a task; the call that spawned it is a `tool`. */
export const ItemType = Schema.Literals([
  "assistant_message",
  "reasoning",
  "user_message",
  "command",
  "file_change",
  "file_read",
  "search",
  "web",
  "mcp_tool",
  "tool",
  "hook",
  "image",
  "review",
]);
export type ItemType = typeof ItemType.Type;

export const ItemStatus = Schema.Literals(["in_progress", "completed", "failed", "declined", "interrupted"]);
export type ItemStatus = typeof ItemStatus.Type;

/** One touched path. `diff` is a unified diff; never cut (4.11). */
export const FileChange = Schema.Struct({
  path: Schema.String,
  oldPath: opt(Schema.String),
  kind: Schema.Literals(["add", "update", "delete", "move"]),
  diff: opt(Schema.String),
  /** Content hash of a diff that is too large for an event: then `diff` is absent. Set by ingestion, never by adapters. */
  blob: opt(Schema.String),
});
export type FileChange = typeof FileChange.Type;

export const Location = Schema.Struct({ path: Schema.String, line: opt(Count) });
export type Location = typeof Location.Type;

export const PlanStep = Schema.Struct({
  text: Schema.String,
  status: Schema.Literals(["pending", "in_progress", "completed"]),
});
export type PlanStep = typeof PlanStep.Type;

export const CostBasis = Schema.Literals(["billed", "list", "estimated"]);

/** Token counts. What a runtime did not say is absent: never zero for unknown. */
export const Usage = Schema.Struct({
  contextTokens: opt(Count),
  contextWindow: opt(Count),
  inputTokens: opt(Count),
  cachedInputTokens: opt(Count),
  cacheWriteTokens: opt(Count),
  outputTokens: opt(Count),
  reasoningTokens: opt(Count),
  costUsd: opt(Amount),
  costBasis: opt(CostBasis),
  model: opt(Schema.String),
});
export type Usage = typeof Usage.Type;

/** What usage counts over: one turn, the whole runtime session, or it was not said. */
export const UsageBasis = Schema.Literals(["turn", "session", "unknown"]);

export const StopReason = Schema.Literals(["end", "max_tokens", "max_steps", "refusal", "other"]);

export const ApprovalMode = Schema.Literals(["ask", "accept_edits", "full_access"]);
export type ApprovalMode = typeof ApprovalMode.Type;
export const InteractionMode = Schema.Literals(["default", "plan"]);
export type InteractionMode = typeof InteractionMode.Type;
/** `streaming`: text enters the log at least every second. `buffered`: only when its segment ends or the cap is reached. */
export const TextDelivery = Schema.Literals(["streaming", "buffered"]);
export type TextDelivery = typeof TextDelivery.Type;

export const RequestKind = Schema.Literals(["approval", "user_input"]);
export type RequestKind = typeof RequestKind.Type;

export const ApprovalAction = Schema.Literals([
  "command",
  "file_read",
  "file_change",
  "network",
  "mcp_tool",
  "tool",
  "plan_exit",
]);
export type ApprovalAction = typeof ApprovalAction.Type;

/** What exactly is asked to be allowed; people see it, `subjectHash` pins it. */
export const ApprovalSubject = Schema.Struct({
  command: opt(Schema.String),
  cwd: opt(Schema.String),
  paths: opt(Schema.Array(Schema.String)),
  changes: opt(Schema.Array(FileChange)),
  url: opt(Schema.String),
  tool: opt(Schema.String),
  input: opt(Json),
  truncated: opt(Schema.Boolean),
});
export type ApprovalSubject = typeof ApprovalSubject.Type;

export const OptionScope = Schema.Literals(["once", "session", "project", "user"]);
export type OptionScope = typeof OptionScope.Type;

/** One way to answer an approval. `grants` says what a wider scope allows from now on. */
export const ApprovalOption = Schema.Struct({
  id: Id,
  label: Schema.String,
  effect: Schema.Literals(["allow", "reject", "cancel"]),
  scope: OptionScope,
  grants: opt(Schema.String),
});
export type ApprovalOption = typeof ApprovalOption.Type;

export const Question = Schema.Struct({
  id: Id,
  header: opt(Schema.String),
  text: Schema.String,
  options: Schema.Array(Schema.Struct({ label: Schema.String, description: opt(Schema.String) })),
  multiple: Schema.Boolean,
  freeText: Schema.Boolean,
  secret: opt(Schema.Boolean),
});
export type Question = typeof Question.Type;

/** What a request asks for; the same fields travel in the canonical event, the stored event and the view. */
export const requestFields = {
  kind: RequestKind,
  blocking: opt(Schema.Boolean),
  action: opt(ApprovalAction),
  title: opt(Schema.String),
  subject: opt(ApprovalSubject),
  options: opt(Schema.Array(ApprovalOption)),
  questions: opt(Schema.Array(Question)),
  form: opt(Json),
  url: opt(Schema.String),
  expiresAt: opt(Instant),
};

/** An answer: one option of an approval, or values by question id (or form field). */
export const Answer = Schema.Union([
  Schema.Struct({ optionId: Id, message: opt(Schema.String) }),
  Schema.Struct({ answers: Schema.Record(Schema.String, ClientJson) }),
]);
export type Answer = typeof Answer.Type;

export const Delivery = Schema.Literals(["prompt", "steer", "queue", "auto"]);
export type Delivery = typeof Delivery.Type;

/** Who said an input: a person, or something acting for one. */
export const Origin = Schema.Struct({
  kind: Schema.Literals(["user", "notification", "automation"]),
  source: opt(Schema.String),
});
export type Origin = typeof Origin.Type;

/** A stored attachment's id with what it is. */
export const Attachment = Schema.Struct({ id: Id, name: opt(Schema.String), mimeType: opt(Schema.String) });
export type Attachment = typeof Attachment.Type;

/** Who acted: a client (its device or token id), a runtime (its instance) or Tributary itself. */
export const Actor = Schema.Struct({ kind: Schema.Literals(["client", "runtime", "system"]), id: Schema.String });
export type Actor = typeof Actor.Type;

/**
 * An MCP server to hand to the runtime. Values of `env` and `headers` are secrets (I16): they are held in memory for the
 * runtime only; what is stored keeps their names.
 */
export const McpServer = Schema.Struct({
  name: Id,
  transport: Schema.Literals(["stdio", "http"]),
  command: opt(Schema.String),
  args: opt(Schema.Array(Schema.String)),
  env: opt(Schema.Record(Schema.String, Schema.String)),
  url: opt(Schema.String),
  headers: opt(Schema.Record(Schema.String, Schema.String)),
});
export type McpServer = typeof McpServer.Type;

/** A runtime's own setting that it lets us read and change. */
export const RuntimeOption = Schema.Struct({
  id: Id,
  category: Schema.Literals(["mode", "model", "effort", "other"]),
  label: Schema.String,
  value: Json,
  choices: opt(Schema.Array(Json)),
});

/** What a session of an instance can do (section 7). Absent knowledge is absent. */
export const Capabilities = Schema.Struct({
  steer: Schema.Boolean,
  queue: Schema.Struct({ durable: Schema.Boolean, withdraw: Schema.Boolean }),
  approvals: Schema.Boolean,
  userInput: Schema.Boolean,
  images: Schema.Boolean,
  attribution: Schema.Literals(["none", "opaque", "attributed", "nested"]),
  resume: Schema.Struct({ survivesKill: Schema.Boolean, replaysHistory: Schema.Boolean }),
  usage: Schema.Boolean,
  models: opt(Schema.Array(Schema.String)),
  efforts: opt(Schema.Array(Schema.String)),
  serviceTiers: opt(Schema.Array(Schema.String)),
  mcp: Schema.Struct({ stdio: Schema.Boolean, http: Schema.Boolean, listChanged: Schema.Boolean }),
  maxContextTokens: opt(Count),
  /** option → why this runtime cannot honour it; such an option is refused before opening. */
  refusedOptions: Schema.Record(Schema.String, Schema.String),
});
export type Capabilities = typeof Capabilities.Type;

/** Of a runtime that takes prompts and nothing else. */
export const noCapabilities: Capabilities = {
  steer: false,
  queue: { durable: false, withdraw: false },
  approvals: false,
  userInput: false,
  images: false,
  attribution: "none",
  resume: { survivesKill: false, replaysHistory: false },
  usage: false,
  mcp: { stdio: false, http: false, listChanged: false },
  refusedOptions: {},
};
