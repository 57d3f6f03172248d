/**
 * The decider's state of one thread: what is still open, and nothing else. Terminal turns, inputs, requests and items
 * leave it and are looked up by key (`Lookups`), so its size follows what is open, never history (I11, I12).
 * It is stored as JSON in the transaction of the events that made it: plain data only, no class, no Map, no undefined.
 */
import type {
  Answer,
  Actor,
  Attachment,
  ApprovalMode,
  ApprovalOption,
  ApprovalAction,
  Capabilities,
  DomainEvent,
  Failure,
  InputMode,
  InteractionMode,
  ItemType,
  Origin,
  Question,
  Receipt,
  Rejection,
  RefusalReason,
  RequestKind,
  RuntimePayloads,
  TextDelivery,
} from "@tributary/contracts";

export interface SessionState {
  readonly generation: number;
  readonly state: "opening" | "ready" | "exited" | "released" | "failed";
  readonly nativeSessionId?: string;
  readonly capabilities?: Capabilities;
  readonly model?: string;
  readonly effort?: string;
  readonly serviceTier?: string;
  readonly error?: Failure;
}

export interface TurnState {
  readonly turnId: string;
  readonly generation: number;
  readonly inputIds: ReadonlyArray<string>;
}

/** An input that is not terminal. Its text is in the log and in a row, not here. */
export interface InputState {
  readonly inputId: string;
  readonly state: "queued" | "handed_over" | "started" | "unconfirmed" | "failed";
  readonly mode: InputMode;
  /** Set once handed over. */
  readonly generation?: number;
  /** Set once started. */
  readonly turnId?: string;
  /** A person asked the runtime for it back, and has no answer yet. */
  readonly isWithdrawing?: true;
}

export interface RequestState {
  readonly requestId: string;
  readonly kind: RequestKind;
  readonly state: "pending" | "answering";
  readonly generation: number;
  readonly turnId?: string;
  readonly agentPath: ReadonlyArray<string>;
  readonly blocking: boolean;
  readonly action?: ApprovalAction;
  readonly subjectHash: string;
  readonly options?: ReadonlyArray<ApprovalOption>;
  readonly questions?: ReadonlyArray<Question>;
  readonly form?: RuntimePayloads["request.opened"]["form"];
  readonly expiresAt?: string;
  readonly answer?: Answer;
  readonly by?: Actor;
}

/** A message or reasoning piece that still streams. */
export interface OpenText {
  readonly id: string;
  readonly kind: "message" | "full" | "summary";
  readonly turnId?: string;
  readonly agentPath: ReadonlyArray<string>;
  readonly itemId: string;
  readonly segment: number;
  readonly generation: number;
  /** UTF-16 code units committed. */
  readonly length: number;
}

export interface OpenActivity {
  readonly activityId: string;
  readonly itemId: string;
  readonly itemType: ItemType;
  readonly turnId?: string;
  readonly agentPath: ReadonlyArray<string>;
  readonly generation: number;
}

export interface OpenTask {
  readonly taskId: string;
  readonly kind: "subagent" | "background";
  readonly turnId?: string;
  readonly childPath?: ReadonlyArray<string>;
  readonly generation: number;
}

/** Somebody asked to stop; `step` is how far it went. Cleared when what it names is over. */
export interface InterruptState {
  readonly turnId?: string;
  readonly inputId?: string;
  readonly generation: number;
  readonly step: "requested" | "native" | "terminate" | "kill";
}

/** A thread as its decider sees it. */
export interface ThreadState {
  readonly threadId: string;
  readonly projectId: string;
  readonly cwd: string;
  readonly instance: string;
  readonly title?: string;
  readonly titleBy?: "client" | "runtime";
  readonly model?: string;
  readonly effort?: string;
  readonly serviceTier?: string;
  readonly approvalMode: ApprovalMode;
  readonly interactionMode: InteractionMode;
  readonly textDelivery: TextDelivery;
  readonly archived: boolean;
  readonly deleted: boolean;
  /** The native id to resume with: of the newest session that had a turn, or given at creation. */
  readonly nativeSessionId?: string;
  readonly session?: SessionState;
  readonly turn?: TurnState;
  /** How the newest turn that is over ended; cleared when the next one starts. */
  readonly lastTurnState?: "completed" | "failed" | "interrupted" | "superseded" | "lost";
  /** In the order of submission. */
  readonly inputs: ReadonlyArray<InputState>;
  readonly queueHeld?: "failed" | "interrupted" | "lost";
  readonly requests: ReadonlyArray<RequestState>;
  readonly texts: ReadonlyArray<OpenText>;
  readonly activities: ReadonlyArray<OpenActivity>;
  readonly tasks: ReadonlyArray<OpenTask>;
  /** Proposed plans without an outcome. */
  readonly plans: ReadonlyArray<string>;
  readonly interrupt?: InterruptState;
  /** Payloads, journal and blobs of this deleted thread are erased. */
  readonly purged?: true;
  /** Events of this stream so far. */
  readonly version: number;
}

export interface ProjectState {
  readonly projectId: string;
  readonly root: string;
  readonly title: string;
  readonly deleted: boolean;
  readonly version: number;
}

/** What is remembered of something that is over. */
export type Closed =
  | { readonly kind: "turn"; readonly id: string; readonly state: string; readonly generation: number }
  | { readonly kind: "input"; readonly id: string; readonly state: string; readonly turnId?: string }
  | {
      readonly kind: "request";
      readonly id: string;
      readonly state: "answered" | "withdrawn" | "expired";
      readonly by?: Actor;
      readonly answer?: Answer;
    }
  | { readonly kind: "text"; readonly id: string; readonly length: number; readonly retracted: boolean }
  | { readonly kind: "activity"; readonly id: string; readonly status: string }
  | { readonly kind: "task"; readonly id: string; readonly status: string };

export type ClosedKind = Closed["kind"];

/**
 * What a decider may look up by key: committed facts and those that the same group made before. Synchronous, by key
 * only: the cost of a decision does not grow with the thread (I12).
 */
export interface Lookups {
  readonly closed: <K extends ClosedKind>(kind: K, id: string) => Extract<Closed, { readonly kind: K }> | undefined;
}

/** What the decider of a client's command may look up beside that. */
export interface ClientLookups extends Lookups {
  /** What an uploaded attachment is, by what was found out about it; undefined: it was never uploaded, or is gone. */
  readonly attachment: (id: string) => Attachment | undefined;
}

/** What a person said, as its row keeps it: the decider's state holds no text. */
export interface InputContent {
  readonly text: string;
  readonly attachments?: ReadonlyArray<Attachment>;
  readonly origin: Origin;
  readonly planId?: string;
}

/** What was resolved before `decide`: clock, actor, real paths, fresh ids. */
export interface DecideContext {
  /** ISO 8601. */
  readonly now: string;
  readonly actor: Actor;
  /** For `thread.create`: the real cwd, and the project whose root holds it; or why there is none. */
  readonly place?:
    | { readonly projectId: string; readonly cwd: string }
    | { readonly refused: "cwd_missing" | "cwd_outside_roots" | "project_not_found"; readonly detail: string };
  /** For `project.create`: the real root, whether it exists, and whether another live project has it. */
  readonly root?: { readonly path: string; readonly exists: boolean; readonly takenBy?: string };
  /** For `thread.create`: whether the instance is configured, and which options its runtime refuses and why. */
  readonly instance?: { readonly known: boolean; readonly refusedOptions: Readonly<Record<string, string>> };
  /** For `project.delete`: how many threads that are not deleted live in it. */
  readonly threads?: number;
  /** For `input.resubmit`: what the input says. It cannot change while an input is failed or unconfirmed. */
  readonly input?: InputContent;
}

/** What an internal command is decided with. */
export type InternalContext = Pick<DecideContext, "now" | "actor">;

/** What a decider says: events (perhaps none), or a refusal with its reason. */
export type Decision =
  | { readonly ok: true; readonly events: ReadonlyArray<DomainEvent> }
  | { readonly ok: false; readonly rejection: Rejection };

type Told = Extract<Receipt, { readonly status: "accepted" }>;

/** A decision about a thread; an accepted one may tell the receipt how an input goes or when a setting takes effect. */
export type ThreadDecision = Decision & Partial<Pick<Told, "mode" | "applies">>;

/** An internal command's outcome; a refusal is recorded by whoever sent it. */
export type InternalDecision =
  | { readonly ok: true; readonly events: ReadonlyArray<DomainEvent> }
  | { readonly ok: false; readonly reason: RefusalReason };
