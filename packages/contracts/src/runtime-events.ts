/**
 * Canonical runtime events (design section 3): what adapters say happened inside a runtime.
 * What a runtime did not say is absent, never guessed.
 */
import { Schema } from "effect";
import { Failure, FailureClass } from "./failure.ts";
import { AgentPath, Generation, Id, InputId, Instant, ItemId, RequestId, TaskId, TurnId } from "./ids.ts";
import { Amount, Count, Json, opt } from "./json.ts";
import {
  Capabilities,
  CostBasis,
  FileChange,
  ItemStatus,
  ItemType,
  Location,
  PlanStep,
  requestFields,
  RuntimeOption,
  StopReason,
  Usage,
  UsageBasis,
} from "./values.ts";

const item = {
  itemType: ItemType,
  status: opt(ItemStatus),
  title: opt(Schema.String),
  detail: opt(Schema.String),
  input: opt(Json),
  output: opt(Json),
  exitCode: opt(Schema.Int),
  locations: opt(Schema.Array(Location)),
  changes: opt(Schema.Array(FileChange)),
  /** A completed assistant message's or reasoning's authoritative whole text. */
  text: opt(Schema.String),
};

const task = {
  taskId: TaskId,
  kind: Schema.Literals(["subagent", "background"]),
  title: opt(Schema.String),
  /** The child's own path. */
  agentPath: opt(AgentPath),
  /** The call that spawned it. */
  itemId: opt(ItemId),
  status: opt(ItemStatus),
  summary: opt(Schema.String),
  usage: opt(Usage),
};

/** Payload schema of every canonical event type. */
export const runtimePayloads = {
  "session.started": Schema.Struct({
    nativeSessionId: Id,
    resumed: Schema.Boolean,
    cwd: Schema.String,
    model: opt(Schema.String),
    effort: opt(Schema.String),
    capabilities: Capabilities,
  }),
  "session.configured": Schema.Struct({
    model: opt(Schema.String),
    effort: opt(Schema.String),
    serviceTier: opt(Schema.String),
    options: opt(Schema.Array(RuntimeOption)),
  }),
  "session.state": Schema.Struct({
    state: Schema.Literals(["starting", "ready", "error"]),
    reason: opt(Schema.String),
  }),
  "session.exited": Schema.Struct({
    kind: Schema.Literals(["graceful", "crash", "killed"]),
    exitCode: opt(Schema.Int),
    signal: opt(Schema.String),
    reason: opt(Schema.String),
    stderrTail: opt(Schema.String),
    recoverable: Schema.Boolean,
  }),
  "session.title": Schema.Struct({ title: Schema.String }),
  "turn.started": Schema.Struct({
    inputIds: opt(Schema.Array(InputId)),
    model: opt(Schema.String),
    effort: opt(Schema.String),
    origin: opt(Schema.Literals(["input", "runtime"])),
  }),
  "turn.completed": Schema.Struct({
    outcome: Schema.Literals(["completed", "failed", "interrupted"]),
    stopReason: opt(StopReason),
    error: opt(Failure),
    usage: opt(Usage),
    costUsd: opt(Amount),
    costBasis: opt(CostBasis),
  }),
  "turn.plan": Schema.Struct({ steps: Schema.Array(PlanStep), explanation: opt(Schema.String) }),
  "turn.diff": Schema.Struct({ unifiedDiff: Schema.String }),
  "proposed_plan.delta": Schema.Struct({ planId: Id, text: Schema.String }),
  "proposed_plan.completed": Schema.Struct({ planId: Id, markdown: Schema.String }),
  "item.started": Schema.Struct(item),
  "item.updated": Schema.Struct(item),
  "item.completed": Schema.Struct(item),
  "content.delta": Schema.Struct({
    stream: Schema.Literals(["assistant_text", "reasoning", "reasoning_summary", "command_output"]),
    text: Schema.String,
  }),
  /**
   * What the item streamed since its last completed piece is abandoned. `whole`: so is what was completed; the runtime
   * took the item back.
   */
  "content.retracted": Schema.Struct({ reason: Schema.String, whole: opt(Schema.Boolean) }),
  "input.state": Schema.Struct({
    inputId: InputId,
    state: Schema.Literals(["acknowledged", "held", "started", "folded", "withdrawn", "dropped", "refused"]),
    reason: opt(Schema.String),
  }),
  "request.opened": Schema.Struct(requestFields),
  "request.resolved": Schema.Struct({
    outcome: Schema.Literals(["answered", "withdrawn", "expired"]),
    optionId: opt(Id),
    by: opt(Schema.Literals(["client", "runtime"])),
  }),
  "task.started": Schema.Struct(task),
  "task.updated": Schema.Struct(task),
  "task.completed": Schema.Struct(task),
  "usage.updated": Schema.Struct({ ...Usage.fields, basis: UsageBasis }),
  "context.compacted": Schema.Struct({
    state: Schema.Literals(["started", "completed", "failed"]),
    trigger: opt(Schema.String),
    beforeTokens: opt(Count),
    afterTokens: opt(Count),
  }),
  "retry.scheduled": Schema.Struct({
    attempt: Count,
    limit: opt(Count),
    delayMs: opt(Count),
    reason: Schema.String,
  }),
  "model.rerouted": Schema.Struct({ from: Schema.String, to: Schema.String, reason: opt(Schema.String) }),
  "account.limits": Schema.Struct({
    windows: Schema.Array(
      Schema.Struct({ id: Id, label: Schema.String, usedRatio: Schema.Finite, resetsAt: opt(Instant) }),
    ),
  }),
  "mcp.status": Schema.Struct({
    servers: Schema.Array(Schema.Struct({ name: Id, state: Schema.String, error: opt(Schema.String) })),
  }),
  "commands.available": Schema.Struct({
    commands: Schema.Array(Schema.Struct({ name: Id, description: opt(Schema.String) })),
  }),
  notice: Schema.Struct({
    level: Schema.Literals(["info", "warning", "error"]),
    code: Id,
    message: Schema.String,
    detail: opt(Schema.String),
  }),
  "runtime.error": Schema.Struct({
    class: FailureClass,
    message: Schema.String,
    retryable: Schema.Boolean,
    fatal: Schema.Boolean,
  }),
  unknown: Schema.Struct({ kind: Schema.String }),
} as const;

export type RuntimePayloads = { readonly [T in keyof typeof runtimePayloads]: (typeof runtimePayloads)[T]["Type"] };
export type RuntimeEventType = keyof RuntimePayloads;

const envelope = {
  /** Deterministic from the frame where the runtime gives an identity; absent otherwise (ingestion then numbers it). */
  id: opt(Id),
  turnId: opt(TurnId),
  itemId: opt(ItemId),
  requestId: opt(RequestId),
  /** Absent means the root agent. */
  agentPath: opt(AgentPath),
  /** Informational; order comes from the journal. */
  at: opt(Instant),
  native: opt(
    Schema.Struct({
      kind: opt(Schema.String),
      turnId: opt(Schema.String),
      itemId: opt(Schema.String),
      requestId: opt(Schema.String),
    }),
  ),
  /** A runtime's own extras by runtime name, ≤ 4 KiB, never required by anyone. */
  ext: opt(Schema.Record(Schema.String, Json)),
};

const envelopeSchema = Schema.Struct(envelope);
export type RuntimeEventEnvelope = typeof envelopeSchema.Type;

export type RuntimeEventOf<T extends RuntimeEventType> = RuntimeEventEnvelope & {
  readonly type: T;
  readonly payload: RuntimePayloads[T];
};
/** A canonical event. Discriminated by `type`. */
export type RuntimeEvent = { readonly [T in RuntimeEventType]: RuntimeEventOf<T> }[RuntimeEventType];

export const isRuntimeEventType = (type: string): type is RuntimeEventType => Object.hasOwn(runtimePayloads, type);

/** The whole-event schema of one type. */
export const runtimeEventSchema = <T extends RuntimeEventType>(type: T) =>
  Schema.Struct({ ...envelope, type: Schema.Literal(type), payload: runtimePayloads[type] });

const eventTypes = Object.keys(runtimePayloads).filter(isRuntimeEventType);

// One decoder a type, built once: dispatching on `type` is many times cheaper than a union of 31 members.
const decoders = new Map<string, (input: unknown) => RuntimeEvent>(
  eventTypes.map((type) => [
    type,
    Schema.decodeUnknownSync(runtimeEventSchema(type)) as (input: unknown) => RuntimeEvent,
  ]),
);

/** A canonical event that does not fit its schema. Keep its record and count it (I18); it stops nothing. */
export interface Undecodable {
  readonly problem: string;
  readonly type?: string;
}

/**
 * Checks one canonical event at the boundary. Never throws. Unknown fields are dropped from the decoded value; the record
 * keeps them. An unknown `type` is undecodable, not fatal.
 */
export const decodeRuntimeEvent = (input: unknown): RuntimeEvent | Undecodable => {
  if (typeof input !== "object" || input === null || !("type" in input) || typeof input.type !== "string")
    return { problem: "a canonical event is an object with a string `type`" };
  const decode = decoders.get(input.type);
  if (decode === undefined) return { problem: `unknown event type "${input.type}"`, type: input.type };
  try {
    return decode(input);
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error), type: input.type };
  }
};

export const isUndecodable = (value: RuntimeEvent | Undecodable): value is Undecodable => "problem" in value;

/**
 * What crossed the boundary to a runtime, one per native frame. `frame`: it said something; `call`: one side wants a
 * result; `reply`: the answer, whose `replyTo` names the call. A frame that means nothing to us still is a record.
 */
export interface RuntimeRecord {
  readonly kind: "frame" | "call" | "reply";
  /** `in` came from the runtime (default), `out` went to it. */
  readonly dir?: "in" | "out";
  readonly native: { readonly kind: string; readonly frame: Json };
  readonly replyTo?: string;
  readonly events: ReadonlyArray<RuntimeEvent>;
}

/** The position of a record: which incarnation of which thread said it, and its number in that session's journal (from 1). */
export const RecordPosition = Schema.Struct({ threadId: Id, generation: Generation, seq: Count });
export type RecordPosition = typeof RecordPosition.Type;
