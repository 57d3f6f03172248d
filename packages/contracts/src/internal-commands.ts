/**
 * Internal commands: what ingestion, the engine's reactors and reconciliation tell the decider. Accepted by no wire,
 * without receipts: a checkpoint or the aggregate's own state is their idempotence. Plain types, never decoded.
 */
import type { DomainPayloads, InputMode, TextStart } from "./domain-events.ts";
import type { Failure } from "./failure.ts";
import type { AgentPath, Generation } from "./ids.ts";
import type { RuntimePayloads } from "./runtime-events.ts";
import type { Actor, Answer, Capabilities, Usage } from "./values.ts";

/** Where a runtime's report belongs. */
interface Scope {
  readonly generation: Generation;
  readonly turnId?: string;
  readonly agentPath: AgentPath;
}

type Ended = "completed" | "failed" | "declined" | "interrupted";

export type InternalCommand =
  // sessions
  | {
      readonly type: "session.open";
      readonly generation: Generation;
      readonly resume?: string;
      readonly marker?: string;
    }
  | {
      readonly type: "session.opened";
      readonly generation: Generation;
      readonly nativeSessionId: string;
      readonly resumed: boolean;
      readonly cwd?: string;
      readonly model?: string;
      readonly effort?: string;
      readonly capabilities: Capabilities;
    }
  | { readonly type: "session.fail"; readonly generation: Generation; readonly error: Failure }
  | ({
      readonly type: "session.configure";
      readonly generation: Generation;
      /** Of a runtime that goes on under another native session (a cleared context). */
      readonly nativeSessionId?: string;
    } & RuntimePayloads["session.configured"])
  /** The generation is over: settles everything (4.10). `host_restart`: it ended while we were not there. */
  | ({
      readonly type: "session.exit";
      readonly generation: Generation;
      readonly seen: "runtime" | "host_restart";
      /** The engine says it, and no runtime. */
      readonly settledBy?: "system";
    } & RuntimePayloads["session.exited"])
  /** Idle care lets go of an unused session. */
  | { readonly type: "session.idle"; readonly generation: Generation }
  // turns
  | ({
      readonly type: "turn.start";
      readonly turnId: string;
      readonly generation: Generation;
    } & RuntimePayloads["turn.started"])
  /** Settles the turn (4.10). `turnId` absent: refused, because nobody can know which turn it ends (4.3). */
  | ({
      readonly type: "turn.end";
      readonly turnId?: string;
      readonly generation: Generation;
      /** The engine says it, and no runtime. */
      readonly settledBy?: "system";
    } & RuntimePayloads["turn.completed"])
  | ({ readonly type: "turn.plan" } & Scope & RuntimePayloads["turn.plan"])
  | ({ readonly type: "turn.diff"; readonly generation: Generation } & DomainPayloads["turn.diff_updated"])
  // text. The caller keeps offsets; the decider checks them against what is committed (I4).
  | {
      readonly type: "message.append";
      readonly messageId: string;
      readonly start?: TextStart;
      readonly offset: number;
      readonly text: string;
    }
  | { readonly type: "message.complete"; readonly messageId: string }
  | { readonly type: "message.replace"; readonly messageId: string; readonly text: string }
  | { readonly type: "message.retract"; readonly messageId: string; readonly reason: string }
  | {
      readonly type: "reasoning.append";
      readonly reasoningId: string;
      readonly kind: "full" | "summary";
      readonly start?: TextStart;
      readonly offset: number;
      readonly text: string;
    }
  | { readonly type: "reasoning.complete"; readonly reasoningId: string }
  // activities and tasks
  | ({ readonly type: "activity.start" } & DomainPayloads["activity.started"])
  | ({ readonly type: "activity.update" } & DomainPayloads["activity.updated"])
  | ({ readonly type: "activity.end" } & Omit<DomainPayloads["activity.ended"], "settledBy">)
  | ({ readonly type: "task.start" } & DomainPayloads["task.started"])
  | ({ readonly type: "task.update" } & DomainPayloads["task.updated"])
  | {
      readonly type: "task.end";
      readonly taskId: string;
      readonly status: Ended;
      readonly title?: string;
      readonly summary?: string;
      readonly usage?: Usage;
    }
  // requests
  | ({ readonly type: "request.open" } & DomainPayloads["request.opened"])
  /** The runtime says the request is over. */
  | ({ readonly type: "request.resolve"; readonly requestId: string } & RuntimePayloads["request.resolved"])
  /** What became of handing the answer over. */
  | {
      readonly type: "request.deliver";
      readonly requestId: string;
      readonly outcome: "confirmed" | "unconfirmed";
    }
  | { readonly type: "request.not_delivered"; readonly requestId: string; readonly error: Failure }
  /** The approval policy answers for the person (approvalMode). */
  | { readonly type: "request.auto_answer"; readonly requestId: string; readonly answer: Answer; readonly by: Actor }
  | { readonly type: "request.expire"; readonly requestId: string; readonly reason: string }
  // inputs
  | {
      readonly type: "input.hand_over";
      readonly inputId: string;
      readonly mode: Exclude<InputMode, "queue">;
      readonly generation: Generation;
    }
  /** Evidence from the runtime, or from a call's success. */
  | {
      readonly type: "input.evidence";
      readonly inputId: string;
      readonly state: RuntimePayloads["input.state"]["state"];
      readonly turnId?: string;
      readonly reason?: string;
    }
  | { readonly type: "input.fail"; readonly inputId: string; readonly error: Failure }
  | { readonly type: "input.lose"; readonly inputId: string; readonly reason: string }
  | { readonly type: "input.withdraw_fail"; readonly inputId: string; readonly error: Failure }
  // the rest
  | ({ readonly type: "plan.propose" } & DomainPayloads["plan.proposed"])
  | ({ readonly type: "usage.record" } & DomainPayloads["usage.recorded"])
  | ({ readonly type: "context.compact" } & DomainPayloads["context.compacted"])
  | ({ readonly type: "notice.record" } & DomainPayloads["notice.recorded"])
  | ({ readonly type: "model.reroute" } & DomainPayloads["model.rerouted"])
  | { readonly type: "thread.title"; readonly title: string }
  | { readonly type: "interrupt.escalate"; readonly step: "native" | "terminate" | "kill" }
  | { readonly type: "thread.purge" };

export type InternalCommandType = InternalCommand["type"];
export type InternalCommandOf<T extends InternalCommandType> = Extract<InternalCommand, { readonly type: T }>;
