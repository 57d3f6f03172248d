/** What clients read (design section 10): shells, rows of the timeline, and the folds with what they are based on. */
import { Schema } from "effect";
import { InputMode } from "./domain-events.ts";
import { Failure } from "./failure.ts";
import { AgentPath, Id, Instant } from "./ids.ts";
import { Count, Json, opt } from "./json.ts";
import {
  Actor,
  Answer,
  ApprovalMode,
  Attachment,
  Delivery,
  FileChange,
  InteractionMode,
  ItemStatus,
  ItemType,
  Location,
  Origin,
  PlanStep,
  requestFields,
  RequestKind,
  TextDelivery,
  Usage,
  UsageBasis,
} from "./values.ts";

/** A folded value and the sequence of the event it stands on. */
export const folded = <S extends Schema.Top>(value: S) => Schema.Struct({ value, asOf: Count });

export const ThreadStatus = Schema.Literals(["idle", "starting", "working", "needs_you", "error", "archived"]);
export type ThreadStatus = typeof ThreadStatus.Type;

/** `running` and `waiting` are derived from the turn and its requests. */
export const SessionState = Schema.Literals(["opening", "ready", "running", "waiting", "exited", "released", "failed"]);
export type SessionState = typeof SessionState.Type;

export const TurnState = Schema.Literals(["running", "completed", "failed", "interrupted", "superseded", "lost"]);
export type TurnState = typeof TurnState.Type;

export const InputState = Schema.Literals([
  "queued",
  "handed_over",
  "started",
  "done",
  "withdrawn",
  "failed",
  "unconfirmed",
  "discarded",
]);
export type InputState = typeof InputState.Type;

export const RequestState = Schema.Literals(["pending", "answering", "answered", "withdrawn", "expired"]);
export type RequestState = typeof RequestState.Type;

export const SessionView = Schema.Struct({
  state: SessionState,
  generation: Count,
  nativeSessionId: opt(Schema.String),
  activeTurnId: opt(Id),
  lastError: opt(Failure),
});
export type SessionView = typeof SessionView.Type;

export const TurnView = Schema.Struct({
  id: Id,
  state: TurnState,
  error: opt(Failure),
  stopReason: opt(Schema.String),
  usage: opt(Usage),
  costUsd: opt(Schema.Finite),
  startedAt: Instant,
  endedAt: opt(Instant),
  hasDiff: opt(Schema.Boolean),
});
export type TurnView = typeof TurnView.Type;

/** A thread as a list shows it. */
export const ThreadShell = Schema.Struct({
  threadId: Id,
  projectId: Id,
  title: opt(Schema.String),
  /** Nobody named the thread: `title` is the first line of its first prompt, at most 80 code units. */
  titleFrom: opt(Schema.Literal("prompt")),
  instance: Id,
  runtime: opt(Schema.String),
  cwd: Schema.String,
  model: opt(folded(Schema.String)),
  effort: opt(folded(Schema.String)),
  serviceTier: opt(folded(Schema.String)),
  approvalMode: ApprovalMode,
  interactionMode: InteractionMode,
  textDelivery: TextDelivery,
  status: folded(ThreadStatus),
  session: opt(SessionView),
  phase: opt(Schema.Struct({ kind: Schema.String, title: opt(Schema.String), since: Instant })),
  activeTurnId: opt(Id),
  pendingRequests: Schema.Array(Schema.Struct({ id: Id, kind: RequestKind, title: opt(Schema.String) })),
  queued: Count,
  queueHeld: opt(Schema.String),
  unconfirmed: Count,
  runningTasks: Count,
  lastTurn: opt(TurnView),
  preview: opt(Schema.Struct({ role: Schema.Literals(["user", "assistant"]), text: Schema.String })),
  context: opt(folded(Schema.Struct({ tokens: opt(Count), window: opt(Count) }))),
  usage: opt(folded(Schema.Struct({ ...Usage.fields, basis: UsageBasis }))),
  changes: opt(Schema.Struct({ files: Count, added: Count, removed: Count })),
  readTo: Count,
  lastPosition: Count,
  createdAt: Instant,
  updatedAt: Instant,
});
export type ThreadShell = typeof ThreadShell.Type;

const row = { rowId: Id, position: Count, turnId: opt(Id), agentPath: AgentPath, at: Instant };

export const MessageRow = Schema.Struct({
  kind: Schema.Literal("message"),
  ...row,
  role: Schema.Literals(["user", "assistant"]),
  text: Schema.String,
  /** Code units of the whole; `text` may be a cut when a page would grow too large. */
  length: Count,
  streaming: Schema.Boolean,
  attachments: opt(Schema.Array(Attachment)),
  inputState: opt(InputState),
});
export const ReasoningRow = Schema.Struct({
  kind: Schema.Literal("reasoning"),
  ...row,
  reasoning: Schema.Literals(["full", "summary"]),
  text: Schema.String,
  length: Count,
  streaming: Schema.Boolean,
});
export const ActivityRow = Schema.Struct({
  kind: Schema.Literal("activity"),
  ...row,
  itemId: Id,
  type: ItemType,
  status: ItemStatus,
  title: opt(Schema.String),
  detail: opt(Schema.String),
  input: opt(Json),
  output: opt(Json),
  exitCode: opt(Schema.Int),
  locations: opt(Schema.Array(Location)),
  changes: opt(Schema.Array(FileChange)),
  /** Head and tail of a command's output. */
  commandOutput: opt(Schema.Struct({ head: Schema.String, omitted: Count, tail: Schema.String, size: opt(Count) })),
  cut: opt(Schema.Array(Json)),
  settledBy: opt(Schema.Literal("system")),
  endedAt: opt(Instant),
});
export const TaskRow = Schema.Struct({
  kind: Schema.Literal("task"),
  ...row,
  taskId: Id,
  taskKind: Schema.Literals(["subagent", "background"]),
  childPath: opt(AgentPath),
  itemId: opt(Id),
  status: ItemStatus,
  title: opt(Schema.String),
  summary: opt(Schema.String),
  usage: opt(Usage),
  settledBy: opt(Schema.Literal("system")),
});
export const RequestRow = Schema.Struct({
  kind: Schema.Literal("request"),
  ...row,
  requestId: Id,
  threadId: Id,
  request: Schema.Struct(requestFields),
  state: RequestState,
  subjectHash: Schema.String,
  answer: opt(Answer),
  by: opt(Actor),
  delivery: opt(Schema.Literals(["confirmed", "unconfirmed"])),
  reason: opt(Schema.String),
  error: opt(Failure),
});
export type RequestRow = typeof RequestRow.Type;
export const PlanRow = Schema.Struct({
  kind: Schema.Literal("plan"),
  ...row,
  planId: Id,
  markdown: Schema.String,
  state: Schema.Literals(["proposed", "accepted", "rejected", "superseded"]),
});
export const NoticeRow = Schema.Struct({
  kind: Schema.Literal("notice"),
  ...row,
  level: Schema.Literals(["info", "warning", "error"]),
  code: Schema.String,
  message: Schema.String,
  detail: opt(Schema.String),
});

/** A row of the one merged timeline, ordered by `position`: the sequence of its first event. */
export const TimelineRow = Schema.Union([
  MessageRow,
  ReasoningRow,
  ActivityRow,
  TaskRow,
  RequestRow,
  PlanRow,
  NoticeRow,
]);
export type TimelineRow = typeof TimelineRow.Type;

export const InputView = Schema.Struct({
  id: Id,
  state: InputState,
  mode: InputMode,
  delivery: Delivery,
  origin: Origin,
  turnId: opt(Id),
  text: Schema.String,
  attachments: opt(Schema.Array(Attachment)),
  /** The proposed plan that it accepts. */
  planId: opt(Id),
  error: opt(Failure),
  /** Why it is as it is; of one that the runtime holds: what became of taking it back. */
  reason: opt(Schema.String),
  position: Count,
});
export type InputView = typeof InputView.Type;

/** A page of a thread: its newest whole turns, limited by bytes. */
export const ThreadPage = Schema.Struct({
  thread: ThreadShell,
  /** Everything up to this sequence is in the page; follow the live stream after it (I10). */
  sequence: Count,
  rows: Schema.Array(TimelineRow),
  turns: Schema.Array(TurnView),
  /** Not yet terminal, in order. */
  inputs: Schema.Array(InputView),
  plan: opt(Schema.Struct({ turnId: opt(Id), steps: Schema.Array(PlanStep), explanation: opt(Schema.String) })),
  /** Cursor for the page of older rows; absent at the beginning. */
  before: opt(Schema.String),
  /** Cursor for newer rows; absent at the end. */
  after: opt(Schema.String),
});
export type ThreadPage = typeof ThreadPage.Type;

export const ProjectView = Schema.Struct({
  projectId: Id,
  root: Schema.String,
  title: Schema.String,
  createdAt: Instant,
  updatedAt: Instant,
});
export type ProjectView = typeof ProjectView.Type;

/** Why a record's event was not applied: recorded and counted, never silent (4.3). */
export const RefusalReason = Schema.Literals([
  "other_generation",
  "session_over",
  "no_session",
  "turn_active",
  "turn_over",
  "turn_unknown",
  "not_active_turn",
  "no_active_turn",
  "item_over",
  "request_unknown",
  "request_over",
  "request_exists",
  "task_over",
  "input_unknown",
  "thread_unknown",
  "thread_deleted",
  "undecodable",
  "invalid",
]);
export type RefusalReason = typeof RefusalReason.Type;

export const Refusal = Schema.Struct({
  threadId: Id,
  generation: Count,
  seq: Count,
  type: Schema.String,
  reason: RefusalReason,
  /** How many events this is about; absent: one. Text that was held is refused as a whole, under its first record. */
  events: opt(Count),
});
export type Refusal = typeof Refusal.Type;
