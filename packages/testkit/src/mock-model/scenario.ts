import type { Conversation } from "./conversation.ts";

/** What a model wants done, before it is known which tool of the runtime does it. */
export type Intent =
  | { readonly purpose: "shell"; readonly command: string }
  | { readonly purpose: "write"; readonly path: string; readonly content: string }
  | { readonly purpose: "read"; readonly path: string }
  | { readonly purpose: "edit"; readonly path: string; readonly before: string; readonly after: string }
  | { readonly purpose: "question"; readonly questions: ReadonlyArray<Question> }
  | {
      readonly purpose: "plan";
      readonly steps: ReadonlyArray<PlanStep>;
      /** The list as it was told last; absent for the first one. */
      readonly previous?: ReadonlyArray<PlanStep>;
    }
  | { readonly purpose: "exit_plan"; readonly plan: string }
  | { readonly purpose: "subagent"; readonly title: string; readonly prompt: string }
  | { readonly purpose: "wait_subagent" }
  | { readonly purpose: "named"; readonly tool: string; readonly input: unknown };

export type Purpose = Intent["purpose"];

export interface Question {
  readonly id: string;
  readonly header: string;
  readonly text: string;
  readonly options: ReadonlyArray<{ readonly label: string; readonly description: string }>;
  readonly multiple: boolean;
}

export interface PlanStep {
  readonly text: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** Why a model service refuses; each dialect writes it in its own words. */
export interface ModelError {
  readonly kind:
    | "bad_request"
    | "context"
    | "auth"
    | "billing"
    | "forbidden"
    | "not_found"
    | "rate_limit"
    | "quota"
    | "server"
    | "overloaded";
  readonly status: number;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** One piece of a model reply. */
export type Part =
  | { readonly kind: "reasoning"; readonly text: string }
  /** `chunk` in UTF-16 code units a delta, `delayMs` before each of them. */
  | { readonly kind: "text"; readonly text: string; readonly chunk?: number; readonly delayMs?: number }
  | { readonly kind: "tool"; readonly intent: Intent }
  /** As the first part an HTTP error, later one inside the stream. Ends the reply. */
  | { readonly kind: "error"; readonly error: ModelError }
  /** The connection is cut in the middle of the stream. Ends the reply. */
  | { readonly kind: "cut" }
  /** Holds the stream until the test releases the gate of this name. */
  | { readonly kind: "gate"; readonly name: string };

/** What the model says to one request. No parts: a well-formed empty answer. */
export interface Reply {
  readonly parts: ReadonlyArray<Part>;
  /** The reply holds for the first `times` attempts at the same request, `later` for every one after them. */
  readonly attempts?: { readonly times: number; readonly later: ReadonlyArray<Part> };
}

/** The replies to one user message, one a model request; tool results lead from one to the next. */
export interface Scenario {
  /** One line for the list that `main.ts --list` prints. */
  readonly usage: string;
  readonly replies: (arg: string, conversation: Conversation) => ReadonlyArray<Reply>;
}
