/**
 * What a script may say: the schema of the scripted runtime's "program". Documented with examples in this folder's README.
 * A script is one JSON object, or NDJSON whose first line is the object without `turns` and each later line one turn.
 */
import {
  ApprovalAction,
  ApprovalOption,
  ApprovalSubject,
  FailureClass,
  FileChange,
  Id,
  Instant,
  ItemStatus,
  ItemType,
  Location,
  PlanStep,
  Question,
  StopReason,
  Usage,
  UsageBasis,
} from "@tributary/contracts";
import { Schema } from "effect";

const opt = Schema.optionalKey;
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0));

/** How streamed text is cut: `chunk` UTF-16 code units a delta (default: all at once), `delayMs` before each delta. */
const streaming = { chunk: opt(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))), delayMs: opt(Count) };

const approvalFields = {
  /** How later text refers to the answer: `{{approval.<name>}}`. Default `last`. */
  name: opt(Id),
  action: opt(ApprovalAction),
  title: opt(Schema.String),
  subject: opt(ApprovalSubject),
  /** Default: allow once, allow for the session, reject. */
  options: opt(Schema.Array(ApprovalOption)),
  blocking: opt(Schema.Boolean),
  expiresAt: opt(Instant),
};

const ApprovalFields = Schema.Struct(approvalFields);
export type ApprovalFields = typeof ApprovalFields.Type;

const struct = <D extends string, F extends Schema.Struct.Fields>(name: D, fields: F) =>
  Schema.Struct({ do: Schema.Literal(name), ...fields });

const plainSteps = [
  /** An assistant message, or a piece of one when `item` names one that was left open with `end: false`. */
  struct("text", {
    text: Schema.String,
    ...streaming,
    item: opt(Id),
    end: opt(Schema.Boolean),
    /** The authoritative whole on completion: the streamed text (default), another text, or none at all (`false`). */
    whole: opt(Schema.Union([Schema.String, Schema.Literal(false)])),
  }),
  struct("reasoning", {
    text: Schema.String,
    ...streaming,
    stream: opt(Schema.Literals(["reasoning", "reasoning_summary"])),
    item: opt(Id),
    end: opt(Schema.Boolean),
  }),
  /** The runtime takes back what it streamed for an item; default: the last text item. */
  struct("retract", { reason: Schema.String, item: opt(Id) }),
  /** A tool call with streamed output. `ask` puts an approval before it runs; a refusal ends it `declined`. */
  struct("tool", {
    itemType: opt(ItemType),
    title: opt(Schema.String),
    detail: opt(Schema.String),
    input: opt(Schema.Unknown),
    output: opt(Schema.String),
    /** A shell command that is really run, in the thread's folder; its output and exit code are the tool's. */
    run: opt(Schema.String),
    ...streaming,
    exitCode: opt(Schema.Int),
    status: opt(ItemStatus),
    changes: opt(Schema.Array(FileChange)),
    locations: opt(Schema.Array(Location)),
    ask: opt(ApprovalFields),
    /** `false`: it never ends, as of a runtime that forgets. */
    end: opt(Schema.Boolean),
    item: opt(Id),
  }),
  struct("plan", { steps: Schema.Array(PlanStep), explanation: opt(Schema.String) }),
  struct("proposedPlan", { markdown: Schema.String, ...streaming, planId: opt(Id) }),
  struct("diff", { unifiedDiff: Schema.String }),
  struct("usage", { ...Usage.fields, basis: opt(UsageBasis) }),
  struct("notice", {
    level: opt(Schema.Literals(["info", "warning", "error"])),
    code: Id,
    message: Schema.String,
    detail: opt(Schema.String),
  }),
  /** Any canonical event, as it is; `turnId` and `agentPath` are filled in unless they are there. */
  struct("emit", { event: Schema.Record(Schema.String, Schema.Unknown) }),
  /** A line that is no frame: in a process it goes to stdout as it is. */
  struct("noise", { line: Schema.String }),
  struct("wait", { ms: Count }),
  /** Nothing more, until somebody interrupts. */
  struct("silence", {}),
  /** Connects to a Unix socket and waits until its other end closes: a test holds the turn where it wants. */
  struct("gate", { socket: Schema.String }),
  /** Waits until an input was steered into the turn; its text is `{{steer}}` afterwards. */
  struct("awaitSteer", {}),
  struct("flood", {
    count: Count,
    text: opt(Schema.String),
    stream: opt(Schema.Literals(["assistant_text", "reasoning", "command_output"])),
  }),
  /** Ends the turn as failed. */
  struct("fail", {
    class: opt(FailureClass),
    code: opt(Schema.String),
    message: opt(Schema.String),
    retryable: opt(Schema.Boolean),
    retryAt: opt(Instant),
  }),
  /** Ends the turn here. */
  struct("end", {
    outcome: opt(Schema.Literals(["completed", "interrupted"])),
    stopReason: opt(StopReason),
    usage: opt(Usage),
  }),
  /** The process goes, without a word: with an exit code, or by a signal. */
  struct("exit", { code: opt(Schema.Int), signal: opt(Schema.String), stderr: opt(Schema.String) }),
] as const;

type PlainStep = (typeof plainSteps)[number]["Type"];

/** Asks for an approval and goes on with the branch of the chosen option's id, else `otherwise`. */
export interface ApprovalStep extends ApprovalFields {
  readonly do: "approval";
  readonly on?: { readonly [optionId: string]: ReadonlyArray<Step> };
  readonly otherwise?: ReadonlyArray<Step>;
}

/** Asks questions and goes on with the first case whose values all are among the answers, else `otherwise`. */
export interface QuestionStep {
  readonly do: "question";
  readonly name?: string;
  readonly title?: string;
  readonly questions?: ReadonlyArray<typeof Question.Type>;
  readonly form?: unknown;
  readonly url?: string;
  readonly blocking?: boolean;
  readonly expiresAt?: string;
  readonly cases?: ReadonlyArray<{
    readonly when: { readonly [questionId: string]: unknown };
    readonly steps: ReadonlyArray<Step>;
  }>;
  readonly otherwise?: ReadonlyArray<Step>;
}

/** A sub-agent with steps of its own; `background`: it lives on when the turn ends. */
export interface AgentStep {
  readonly do: "agent";
  readonly name: string;
  readonly title?: string;
  readonly background?: boolean;
  readonly summary?: string;
  readonly status?: typeof ItemStatus.Type;
  readonly steps: ReadonlyArray<Step>;
}

/** All branches at the same time; their frames interleave as their delays say. */
export interface ParallelStep {
  readonly do: "parallel";
  readonly branches: ReadonlyArray<ReadonlyArray<Step>>;
}

export interface RepeatStep {
  readonly do: "repeat";
  readonly times: number;
  readonly steps: ReadonlyArray<Step>;
}

export type Step = PlainStep | ApprovalStep | QuestionStep | AgentStep | ParallelStep | RepeatStep;
export type StepOf<D extends Step["do"]> = Extract<Step, { readonly do: D }>;

export const Step: Schema.Codec<Step, unknown> = Schema.suspend(() => AnyStep);
const Steps = Schema.Array(Step);

const AnyStep: Schema.Codec<Step, unknown> = Schema.Union([
  ...plainSteps,
  struct("approval", {
    ...approvalFields,
    on: opt(Schema.Record(Schema.String, Steps)),
    otherwise: opt(Steps),
  }),
  struct("question", {
    name: opt(Id),
    title: opt(Schema.String),
    questions: opt(Schema.Array(Question)),
    form: opt(Schema.Unknown),
    url: opt(Schema.String),
    blocking: opt(Schema.Boolean),
    expiresAt: opt(Instant),
    cases: opt(Schema.Array(Schema.Struct({ when: Schema.Record(Schema.String, Schema.Unknown), steps: Steps }))),
    otherwise: opt(Steps),
  }),
  struct("agent", {
    name: Id,
    title: opt(Schema.String),
    background: opt(Schema.Boolean),
    summary: opt(Schema.String),
    status: opt(ItemStatus),
    steps: Steps,
  }),
  struct("parallel", { branches: Schema.Array(Steps) }),
  struct("repeat", { times: Count, steps: Steps }),
]);

/** Why a call fails: a reason of `RuntimeCallError`, or for `open` a code of `OpenError`. */
const Fail = Schema.Struct({
  fail: Schema.String,
  message: opt(Schema.String),
  class: opt(FailureClass),
  code: opt(Schema.String),
  retryable: opt(Schema.Boolean),
});

/**
 * How a call is taken. `accept`: done and answered. `hang`: neither done nor answered. `mute`: done, never answered.
 * `ignore`: answered, not done.
 */
const Behaviour = Schema.Union([Schema.Literals(["accept", "hang", "mute", "ignore"]), Fail]);
export type Behaviour = typeof Behaviour.Type;

/** One behaviour for every call, or one a call in turn (the last one stays). */
const Behaviours = Schema.Union([Behaviour, Schema.Array(Behaviour)]);
export type Behaviours = typeof Behaviours.Type;

/** Whether the process goes when it is asked to, or by TERM. KILL can't be ignored by a process; in process it can. */
const Obedience = Schema.Literals(["accept", "hang"]);

export const Controls = Schema.Struct({
  open: opt(Behaviours),
  prompt: opt(Behaviours),
  steer: opt(Behaviours),
  answer: opt(Behaviours),
  configure: opt(Behaviours),
  interrupt: opt(Behaviours),
  close: opt(Obedience),
  terminate: opt(Obedience),
  kill: opt(Obedience),
  /** `hang`: a child lives on when its host is gone, as agents do that nobody ends. */
  eof: opt(Obedience),
});
export type Controls = typeof Controls.Type;

const Turn = Schema.Struct({
  /**
   * A regular expression on the input's text, case-insensitive; its groups are `{{match.1}}` and so on in texts. Absent:
   * the turn is used once, in order.
   */
  match: opt(Schema.String),
  steps: Steps,
});

export const Script = Schema.Struct({
  name: opt(Schema.String),
  /** Fields of `Capabilities` that differ from `defaultCapabilities`. */
  capabilities: opt(Schema.Record(Schema.String, Schema.Unknown)),
  /** What the session reports as its model, whatever was asked for; asking for another one then fails to open. */
  model: opt(Schema.String),
  /** Default `scripted-<threadId>`. */
  nativeSessionId: opt(Id),
  /** `unavailable`: a session can't be resumed. */
  resume: opt(Schema.Literals(["accept", "unavailable"])),
  /** How long `open` takes, milliseconds. */
  openDelayMs: opt(Count),
  on: opt(Controls),
  /** Left out in NDJSON, where each line after the first is one. */
  turns: opt(Schema.Array(Turn)),
  /** For an input that no turn is left for. Default: a text that says so. */
  otherwise: opt(Steps),
});
export type Script = typeof Script.Type;
