/**
 * Client commands (design section 5): what people and programs ask for. Each carries a client-made `commandId` and gets
 * one receipt, whoever repeats it (I2).
 */
import { Schema } from "effect";
import { CommandId, Id, InputId, Instant, ProjectId, RequestId, ThreadId, TurnId } from "./ids.ts";
import { Count, opt } from "./json.ts";
import {
  Answer,
  ApprovalMode,
  Attachment,
  Delivery,
  InteractionMode,
  McpServer,
  Origin,
  TextDelivery,
} from "./values.ts";

const base = { commandId: CommandId };
const thread = { ...base, threadId: ThreadId };

/** The fields of one input as a person sends it. Text up to 1 MiB. */
export const inputFields = {
  inputId: InputId,
  text: Schema.String.check(Schema.isMaxLength(1_048_576)),
  /** Uploaded before (`POST /attachments`); what they are is known here: name and type need not be said. */
  attachments: opt(Schema.Array(Attachment).check(Schema.isMaxLength(32))),
  /** Default `auto`. */
  delivery: opt(Delivery),
  /** Default {kind: "user"}. */
  origin: opt(Origin),
  /** The proposed plan that this input accepts. */
  planId: opt(Id),
};

const settings = {
  model: opt(Schema.String),
  effort: opt(Schema.String),
  serviceTier: opt(Schema.String),
  approvalMode: opt(ApprovalMode),
  interactionMode: opt(InteractionMode),
  textDelivery: opt(TextDelivery),
};

const struct = <T extends string, F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), ...fields });

/** Schema of every client command, by type. */
export const commandSchemas = {
  "project.create": struct("project.create", {
    ...base,
    projectId: ProjectId,
    root: Schema.String,
    title: opt(Schema.String),
  }),
  "project.update": struct("project.update", { ...base, projectId: ProjectId, title: Schema.String }),
  "project.delete": struct("project.delete", { ...base, projectId: ProjectId }),

  "thread.create": struct("thread.create", {
    ...thread,
    cwd: Schema.String,
    instance: Id,
    title: opt(Schema.String),
    ...settings,
    systemPrompt: opt(Schema.String),
    mcpServers: opt(Schema.Array(McpServer)),
    disallowedTools: opt(Schema.Array(Schema.String)),
    resume: opt(Schema.Struct({ nativeSessionId: Id })),
    /** The first input, atomic with the thread. */
    input: opt(Schema.Struct(inputFields)),
  }),
  "thread.rename": struct("thread.rename", { ...thread, title: Schema.String }),
  "thread.archive": struct("thread.archive", thread),
  "thread.unarchive": struct("thread.unarchive", thread),
  "thread.delete": struct("thread.delete", thread),
  /** `cwd` and `instance` are named here only to be refused with `cwd_immutable` or `unsupported_option`. */
  "thread.configure": struct("thread.configure", {
    ...thread,
    ...settings,
    cwd: opt(Schema.String),
    instance: opt(Id),
  }),
  /** Marks rows up to a position as read, per person, monotone. Makes no event: reading must not write history. */
  "thread.read": struct("thread.read", { ...thread, upTo: Count }),

  "input.submit": struct("input.submit", { ...thread, ...inputFields }),
  "input.edit": struct("input.edit", { ...thread, inputId: InputId, text: inputFields.text }),
  "input.withdraw": struct("input.withdraw", { ...thread, inputId: InputId }),
  "input.resubmit": struct("input.resubmit", { ...thread, inputId: InputId }),
  "input.discard": struct("input.discard", { ...thread, inputId: InputId }),
  "queue.resume": struct("queue.resume", thread),

  /** Names what it stops; neither named means the active turn. */
  "turn.interrupt": struct("turn.interrupt", { ...thread, turnId: opt(TurnId), inputId: opt(InputId) }),
  "request.answer": struct("request.answer", {
    ...thread,
    requestId: RequestId,
    answer: Answer,
    /** Of what the person saw; absent means: whatever it is now. */
    subjectHash: opt(Schema.String),
  }),
  "session.release": struct("session.release", thread),
  /** The next session begins anew, without the native context of those before; for when it is lost. */
  "session.forget": struct("session.forget", thread),
} as const;

export type ClientCommandType = keyof typeof commandSchemas;
export type ClientCommandOf<T extends ClientCommandType> = (typeof commandSchemas)[T]["Type"];
/** A client command. Discriminated by `type`. */
export type ClientCommand = { readonly [T in ClientCommandType]: ClientCommandOf<T> }[ClientCommandType];
export type ProjectCommand = Extract<ClientCommand, { readonly type: `project.${string}` }>;
export type ThreadCommand = Exclude<ClientCommand, ProjectCommand>;

export const ClientCommand = Schema.Union([
  commandSchemas["project.create"],
  commandSchemas["project.update"],
  commandSchemas["project.delete"],
  commandSchemas["thread.create"],
  commandSchemas["thread.rename"],
  commandSchemas["thread.archive"],
  commandSchemas["thread.unarchive"],
  commandSchemas["thread.delete"],
  commandSchemas["thread.configure"],
  commandSchemas["thread.read"],
  commandSchemas["input.submit"],
  commandSchemas["input.edit"],
  commandSchemas["input.withdraw"],
  commandSchemas["input.resubmit"],
  commandSchemas["input.discard"],
  commandSchemas["queue.resume"],
  commandSchemas["turn.interrupt"],
  commandSchemas["request.answer"],
  commandSchemas["session.release"],
  commandSchemas["session.forget"],
]);

/** Codes of refused commands: closed. What to do about each is in `rejections` (rejection.ts). */
export const RejectionCode = Schema.Literals([
  "busy",
  "no_active_turn",
  "not_queued",
  "unsupported",
  "unsupported_option",
  "thread_not_found",
  "thread_archived",
  "thread_deleted",
  "thread_exists",
  "input_exists",
  "project_not_found",
  "project_exists",
  "project_in_use",
  "cwd_outside_roots",
  "cwd_missing",
  "cwd_immutable",
  "unknown_request",
  "already_answered",
  "request_expired",
  "request_changed",
  "invalid_answer",
  "runtime_unavailable",
  "runtime_refused",
  "runtime_exited",
  "session_unavailable",
  "attachment_not_found",
  "command_id_conflict",
  "storage_full",
]);
export type RejectionCode = typeof RejectionCode.Type;

/** What the person should do next. */
export const UserAction = Schema.Literals(["login", "wait", "retry", "shorten", "change_model", "new_thread", "none"]);
export type UserAction = typeof UserAction.Type;

/** A refused command. `message` names the thing and the next step. */
export const Rejection = Schema.Struct({
  code: RejectionCode,
  message: Schema.String,
  userAction: UserAction,
  retryAt: opt(Instant),
  /** Whether sending the same thing again (under a new commandId) can act twice. */
  resend: Schema.Literals(["safe", "unsafe"]),
  /** Facts a program may want: who answered, which option, which root. */
  details: opt(Schema.Record(Schema.String, Schema.Unknown)),
});
export type Rejection = typeof Rejection.Type;

/** What became of a client command. Kept 30 days. */
export const Receipt = Schema.Union([
  Schema.Struct({
    status: Schema.Literal("accepted"),
    commandId: CommandId,
    /** The last event the command made; for one that changed nothing, the log's newest at that time. */
    sequence: Count,
    /** How an input will be delivered. */
    mode: opt(Schema.Literals(["prompt", "steer", "queue"])),
    /** When a changed setting takes effect. */
    applies: opt(Schema.Literals(["now", "next_turn", "reopening"])),
  }),
  Schema.Struct({ status: Schema.Literal("rejected"), commandId: CommandId, rejection: Rejection }),
]);
export type Receipt = typeof Receipt.Type;
