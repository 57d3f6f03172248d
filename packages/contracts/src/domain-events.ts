/**
 * Stored events (design section 6): the facts of the domain. History is never rewritten; a reader skips types it does
 * not know (I18).
 */
import { Schema } from "effect";
import { Failure } from "./failure.ts";
import { AgentPath, Generation, Id, InputId, Instant, ItemId, RequestId, TaskId, TurnId } from "./ids.ts";
import { Amount, Count, Json, opt } from "./json.ts";
import { RecordPosition } from "./runtime-events.ts";
import {
  Actor,
  Answer,
  ApprovalMode,
  Attachment,
  Capabilities,
  CostBasis,
  Delivery,
  FileChange,
  InteractionMode,
  ItemStatus,
  ItemType,
  Location,
  McpServer,
  Origin,
  PlanStep,
  requestFields,
  RuntimeOption,
  StopReason,
  TextDelivery,
  Usage,
  UsageBasis,
} from "./values.ts";

/** `system`: we concluded it (the process is gone, the turn is over); the runtime did not say so. */
const settledBy = opt(Schema.Literal("system"));

/** Where a piece of text belongs; present on the first append of a message or reasoning piece, at offset 0. */
const TextStart = Schema.Struct({
  turnId: opt(TurnId),
  agentPath: AgentPath,
  itemId: ItemId,
  segment: Count,
  generation: Generation,
});
export type TextStart = typeof TextStart.Type;

/** Command output in the log: a window. `append` grows the head; `tail` closes it, after `omitted` code units. */
const OutputWindow = Schema.Struct({
  append: opt(Schema.String),
  tail: opt(Schema.String),
  omitted: opt(Count),
  /** Code units seen in all, once ended. */
  size: opt(Count),
});
export type OutputWindow = typeof OutputWindow.Type;

/** A value too large for the log: its true size in UTF-16 code units, and the journal record that holds the whole. */
const Cut = Schema.Struct({ field: Schema.String, size: Count, record: opt(RecordPosition) });

const activityFields = {
  status: opt(ItemStatus),
  title: opt(Schema.String),
  detail: opt(Schema.String),
  input: opt(Json),
  output: opt(Json),
  exitCode: opt(Schema.Int),
  locations: opt(Schema.Array(Location)),
  changes: opt(Schema.Array(FileChange)),
  /** Accumulated command output (stream `command_output`). */
  commandOutput: opt(OutputWindow),
  cut: opt(Schema.Array(Cut)),
};

const taskFields = {
  title: opt(Schema.String),
  status: opt(ItemStatus),
  summary: opt(Schema.String),
  usage: opt(Usage),
};

const threadSettings = {
  model: opt(Schema.String),
  effort: opt(Schema.String),
  serviceTier: opt(Schema.String),
  approvalMode: opt(ApprovalMode),
  interactionMode: opt(InteractionMode),
  textDelivery: opt(TextDelivery),
};

const generation = { generation: Generation };
const input = { inputId: InputId };
const request = { requestId: RequestId };

export const InputMode = Schema.Literals(["prompt", "steer", "queue"]);
export type InputMode = typeof InputMode.Type;

/** Payload schema of every stored event type. */
export const domainPayloads = {
  "project.created": Schema.Struct({ root: Schema.String, title: Schema.String }),
  "project.updated": Schema.Struct({ title: Schema.String }),
  "project.deleted": Schema.Struct({}),

  "thread.created": Schema.Struct({
    projectId: Id,
    cwd: Schema.String,
    instance: Id,
    title: opt(Schema.String),
    ...threadSettings,
    approvalMode: ApprovalMode,
    interactionMode: InteractionMode,
    textDelivery: TextDelivery,
    systemPrompt: opt(Schema.String),
    /** Secret values masked: names only. */
    mcpServers: opt(Schema.Array(McpServer)),
    disallowedTools: opt(Schema.Array(Schema.String)),
    resume: opt(Schema.Struct({ nativeSessionId: Id })),
  }),
  "thread.renamed": Schema.Struct({ title: Schema.String, by: Schema.Literals(["client", "runtime"]) }),
  "thread.configured": Schema.Struct({
    ...threadSettings,
    /** When it takes effect on the runtime. */
    applies: Schema.Literals(["now", "next_turn", "reopening"]),
  }),
  "thread.archived": Schema.Struct({}),
  "thread.unarchived": Schema.Struct({}),
  "thread.deleted": Schema.Struct({}),
  "thread.purged": Schema.Struct({}),

  /** Also when an unconfirmed or failed input is resubmitted: then `again` is true. */
  "input.queued": Schema.Struct({
    ...input,
    text: Schema.String,
    attachments: opt(Schema.Array(Attachment)),
    /** What was asked. */
    delivery: Delivery,
    /** What it became. */
    mode: InputMode,
    origin: Origin,
    planId: opt(Id),
    again: opt(Schema.Boolean),
  }),
  "input.edited": Schema.Struct({ ...input, text: Schema.String }),
  /** The attempt: from here on the runtime may have read it. The user message enters the timeline. */
  "input.handed_over": Schema.Struct({ ...input, ...generation, mode: Schema.Literals(["prompt", "steer"]) }),
  "input.started": Schema.Struct({
    ...input,
    turnId: opt(TurnId),
    how: Schema.Literals(["started", "folded"]),
  }),
  "input.done": Schema.Struct({ ...input, turnId: opt(TurnId) }),
  "input.withdrawn": Schema.Struct({ ...input, reason: opt(Schema.String) }),
  "input.failed": Schema.Struct({ ...input, error: Failure }),
  "input.unconfirmed": Schema.Struct({ ...input, reason: Schema.String }),
  "input.discarded": Schema.Struct(input),
  /** A person wants back what the runtime holds and has not read yet; `input.withdrawn` follows, or the failure. */
  "input.withdraw_requested": Schema.Struct(input),
  /** It stays with the runtime: being read already, or nobody knows. */
  "input.withdraw_failed": Schema.Struct({ ...input, error: Failure }),
  "queue.held": Schema.Struct({
    reason: Schema.Literals(["failed", "interrupted", "lost"]),
    turnId: opt(TurnId),
  }),
  "queue.resumed": Schema.Struct({}),

  "session.opening": Schema.Struct({ ...generation, resume: opt(Id), marker: opt(Schema.String) }),
  "session.started": Schema.Struct({
    ...generation,
    nativeSessionId: Id,
    resumed: Schema.Boolean,
    cwd: opt(Schema.String),
    model: opt(Schema.String),
    effort: opt(Schema.String),
    capabilities: Capabilities,
  }),
  "session.configured": Schema.Struct({
    ...generation,
    /** The runtime goes on under another native session from here on: it is the one to resume. */
    nativeSessionId: opt(Id),
    model: opt(Schema.String),
    effort: opt(Schema.String),
    serviceTier: opt(Schema.String),
    options: opt(Schema.Array(RuntimeOption)),
  }),
  "session.exited": Schema.Struct({
    ...generation,
    kind: Schema.Literals(["graceful", "crash", "killed"]),
    exitCode: opt(Schema.Int),
    signal: opt(Schema.String),
    reason: opt(Schema.String),
    stderrTail: opt(Schema.String),
    recoverable: Schema.Boolean,
    settledBy,
  }),
  "session.released": Schema.Struct({ ...generation, reason: Schema.Literals(["asked", "idle", "deleted"]) }),
  "session.failed": Schema.Struct({ ...generation, error: Failure }),
  /** A person chose to go on without what the agent remembers: the next session begins anew. */
  "session.forgotten": Schema.Struct({ nativeSessionId: Id }),

  "turn.started": Schema.Struct({
    turnId: TurnId,
    ...generation,
    inputIds: Schema.Array(InputId),
    model: opt(Schema.String),
    effort: opt(Schema.String),
    origin: Schema.Literals(["input", "runtime"]),
  }),
  "turn.ended": Schema.Struct({
    turnId: TurnId,
    state: Schema.Literals(["completed", "failed", "interrupted", "superseded", "lost"]),
    stopReason: opt(StopReason),
    error: opt(Failure),
    usage: opt(Usage),
    costUsd: opt(Amount),
    costBasis: opt(CostBasis),
    settledBy,
  }),
  "turn.plan_updated": Schema.Struct({
    turnId: opt(TurnId),
    agentPath: AgentPath,
    steps: Schema.Array(PlanStep),
    explanation: opt(Schema.String),
  }),
  /** `unifiedDiff` is cumulative for the turn; above the cap it is a blob and only `blob` is set (4.11). */
  "turn.diff_updated": Schema.Struct({
    turnId: TurnId,
    unifiedDiff: opt(Schema.String),
    blob: opt(Schema.String),
    size: Count,
  }),

  "message.appended": Schema.Struct({
    messageId: Id,
    /** UTF-16 code units before this piece. */
    offset: Count,
    text: Schema.String,
    start: opt(TextStart),
  }),
  "message.completed": Schema.Struct({ messageId: Id, length: Count, settledBy }),
  "message.replaced": Schema.Struct({ messageId: Id, text: Schema.String }),
  "message.retracted": Schema.Struct({ messageId: Id, reason: Schema.String }),
  "reasoning.appended": Schema.Struct({
    reasoningId: Id,
    kind: Schema.Literals(["full", "summary"]),
    offset: Count,
    text: Schema.String,
    start: opt(TextStart),
  }),
  "reasoning.completed": Schema.Struct({ reasoningId: Id, length: Count, settledBy }),

  "activity.started": Schema.Struct({
    activityId: Id,
    itemId: ItemId,
    itemType: ItemType,
    turnId: opt(TurnId),
    agentPath: AgentPath,
    ...generation,
    ...activityFields,
  }),
  /** Fields replace; only `commandOutput.append` appends. */
  "activity.updated": Schema.Struct({ activityId: Id, ...activityFields }),
  "activity.ended": Schema.Struct({
    activityId: Id,
    ...activityFields,
    status: Schema.Literals(["completed", "failed", "declined", "interrupted"]),
    settledBy,
  }),

  "task.started": Schema.Struct({
    taskId: TaskId,
    kind: Schema.Literals(["subagent", "background"]),
    turnId: opt(TurnId),
    /** The spawning agent's path. */
    agentPath: AgentPath,
    /** The child's own path. */
    childPath: opt(AgentPath),
    itemId: opt(ItemId),
    ...generation,
    ...taskFields,
  }),
  "task.updated": Schema.Struct({ taskId: TaskId, ...taskFields }),
  "task.ended": Schema.Struct({
    taskId: TaskId,
    ...taskFields,
    status: Schema.Literals(["completed", "failed", "declined", "interrupted"]),
    settledBy,
  }),

  "request.opened": Schema.Struct({
    ...request,
    turnId: opt(TurnId),
    agentPath: AgentPath,
    itemId: opt(ItemId),
    ...generation,
    /** Pins what was asked: an answer that names another hash is `request_changed`. */
    subjectHash: Schema.String,
    ...requestFields,
  }),
  /** The first answer, about to be given to the runtime. Values of secret questions are masked here and go to the runtime only. */
  "request.answering": Schema.Struct({ ...request, answer: Answer, by: Actor }),
  "request.answered": Schema.Struct({
    ...request,
    answer: opt(Answer),
    by: opt(Actor),
    /** `unconfirmed`: written, or perhaps written, and nothing shows that it was read. */
    delivery: Schema.Literals(["confirmed", "unconfirmed"]),
  }),
  "request.withdrawn": Schema.Struct({ ...request, reason: Schema.String }),
  "request.expired": Schema.Struct({ ...request, reason: Schema.String }),
  /** Nothing was written, with certainty: pending again. */
  "request.delivery_failed": Schema.Struct({ ...request, error: Failure }),

  "plan.proposed": Schema.Struct({
    planId: Id,
    turnId: opt(TurnId),
    agentPath: AgentPath,
    markdown: Schema.String,
  }),
  "plan.resolved": Schema.Struct({
    planId: Id,
    outcome: Schema.Literals(["accepted", "rejected", "superseded"]),
  }),
  "usage.recorded": Schema.Struct({
    turnId: opt(TurnId),
    agentPath: AgentPath,
    ...Usage.fields,
    basis: UsageBasis,
  }),
  "context.compacted": Schema.Struct({
    turnId: opt(TurnId),
    state: Schema.Literals(["started", "completed", "failed"]),
    trigger: opt(Schema.String),
    beforeTokens: opt(Count),
    afterTokens: opt(Count),
  }),
  "notice.recorded": Schema.Struct({
    noticeId: Id,
    turnId: opt(TurnId),
    level: Schema.Literals(["info", "warning", "error"]),
    code: Id,
    message: Schema.String,
    detail: opt(Schema.String),
  }),
  "model.rerouted": Schema.Struct({
    turnId: opt(TurnId),
    from: Schema.String,
    to: Schema.String,
    reason: opt(Schema.String),
  }),
  "interrupt.requested": Schema.Struct({ turnId: opt(TurnId), inputId: opt(InputId), ...generation }),
  "interrupt.escalated": Schema.Struct({
    turnId: opt(TurnId),
    inputId: opt(InputId),
    ...generation,
    step: Schema.Literals(["native", "terminate", "kill"]),
  }),
} as const;

export type DomainPayloads = { readonly [T in keyof typeof domainPayloads]: (typeof domainPayloads)[T]["Type"] };
export type DomainEventType = keyof DomainPayloads;

export type DomainEventOf<T extends DomainEventType> = { readonly type: T; readonly payload: DomainPayloads[T] };
/** A domain event as a decider makes it, before the store numbers it. */
export type DomainEvent = { readonly [T in DomainEventType]: DomainEventOf<T> }[DomainEventType];

export const isDomainEventType = (type: string): type is DomainEventType => Object.hasOwn(domainPayloads, type);

/** Makes a domain event; the type ties the payload. */
export const event = <T extends DomainEventType>(type: T, payload: DomainPayloads[T]): DomainEventOf<T> => ({
  type,
  payload,
});

/** The newest payload version this build writes. Older ones are upcast when read. */
export const schemaVersion = 1;

/** What the log keeps beside a payload. */
export const EventEnvelope = Schema.Struct({
  /** Global, gap-free, rising: the only order (I3). */
  sequence: Count,
  /** The thread's or project's id. */
  streamId: Id,
  /** Gap-free and rising inside the stream, from 1. */
  version: Count,
  eventId: Id,
  schemaVersion: Count,
  /** Server clock; informational. */
  occurredAt: Instant,
  commandId: opt(Id),
  correlationId: opt(Id),
  causationId: Schema.NullOr(Id),
  actor: Actor,
  /** The journal record that made it. */
  record: opt(RecordPosition),
});
export type EventEnvelope = typeof EventEnvelope.Type;

/** An event of the log. */
export type StoredEvent = EventEnvelope & DomainEvent;
export type StoredEventOf<T extends DomainEventType> = EventEnvelope & DomainEventOf<T>;

/** An event whose type this build does not know: preserved, skipped (I18). */
export type UnknownStoredEvent = EventEnvelope & { readonly type: string; readonly payload: Json };

/** The whole-event schema of one type. */
export const storedEventSchema = <T extends DomainEventType>(type: T) =>
  Schema.Struct({ ...EventEnvelope.fields, type: Schema.Literal(type), payload: domainPayloads[type] });
