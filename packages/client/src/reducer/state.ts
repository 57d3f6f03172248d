/** What the reducer keeps of a thread: its rows, and the facts that its shell is made of. Immutable. */
import type { DomainPayloads, Failure, InputView, SessionState, ThreadShell, TurnView } from "@tributary/contracts";
import type { LiveText } from "@tributary/contracts/api";
import type { Timeline } from "./timeline.ts";

export type Folded<A> = { readonly value: A; readonly asOf: number };
type UsageValue = NonNullable<ThreadShell["usage"]>["value"];
export type UsageBasis = UsageValue["basis"];

/** A request that waits for an answer. */
export interface Ask {
  readonly id: string;
  readonly kind: "approval" | "user_input";
  readonly title: string | undefined;
  readonly blocking: boolean;
  readonly at: string;
  /** `answering` ones are shown, and count no more. */
  readonly pending: boolean;
}

/** A row that streams or runs just now. */
export interface Work {
  readonly key: string;
  readonly kind: string;
  readonly title: string | undefined;
  readonly since: string;
  readonly position: number;
}

/** What completed activities of one turn changed, the newest first. */
export interface ChangeList {
  readonly paths: ReadonlyArray<string>;
  readonly added: number;
  readonly removed: number;
  readonly next: ChangeList | undefined;
}

/** Which of the turns changed files last, and how that is known. */
export interface ChangeFacts {
  readonly diff:
    | {
        readonly turnId: string;
        readonly position: number;
        readonly files: number;
        readonly added: number;
        readonly removed: number;
      }
    | undefined;
  readonly activities:
    | { readonly turnId: string | undefined; readonly position: number; readonly list: ChangeList }
    | undefined;
  /** Nothing changed since the snapshot: its own word holds. */
  readonly asOpened: ThreadShell["changes"] | "computed";
}

/** What the shell is computed from. */
export interface Facts {
  /** What no event changes; `runtime` and `readTo` are no history and come with a snapshot or a shell frame. */
  readonly fixed: Pick<ThreadShell, "threadId" | "projectId" | "instance" | "cwd" | "createdAt" | "readTo" | "runtime">;
  readonly title: string | undefined;
  /** The first line of the first prompt: the title of a thread that nobody named. */
  readonly promptTitle: string | undefined;
  readonly model: Folded<string> | undefined;
  readonly effort: Folded<string> | undefined;
  readonly serviceTier: Folded<string> | undefined;
  readonly approvalMode: ThreadShell["approvalMode"];
  readonly interactionMode: ThreadShell["interactionMode"];
  readonly textDelivery: ThreadShell["textDelivery"];
  readonly archived: boolean;
  readonly queueHeld: string | undefined;
  readonly generation: number;
  /** Never `running` or `waiting`: those follow from the turn and what it waits for. */
  readonly session: SessionState | undefined;
  readonly sessionAt: string;
  readonly nativeSessionId: string | undefined;
  readonly lastError: Failure | undefined;
  readonly interrupt:
    | { readonly at: string; readonly turnId?: string | undefined; readonly inputId?: string | undefined }
    | undefined;
  readonly statusAsOf: number;
  readonly context: Folded<{ readonly tokens?: number; readonly window?: number }> | undefined;
  readonly usage: { readonly [B in UsageBasis]?: Folded<UsageValue> };
  readonly asks: ReadonlyArray<Ask>;
  readonly tasks: ReadonlySet<string>;
  /** Running tasks whose rows are older than what was loaded. */
  readonly otherTasks: number;
  /** What the newest turn began with, and when. */
  readonly turnInputs: ReadonlyArray<string>;
  readonly turnStart: { readonly turnId: string; readonly position: number } | undefined;
  readonly work: ReadonlyArray<Work>;
  readonly preview:
    | { readonly rowId: string; readonly position: number; readonly role: "user" | "assistant"; readonly text: string }
    | undefined;
  readonly changes: ChangeFacts;
  readonly lastPosition: number;
  readonly updatedAt: string;
}

/** An input of this device that the log does not have yet. */
export interface LocalInput {
  readonly input: InputView;
  /** The call's answer came and named this sequence. */
  readonly acceptedAt?: number;
  /** Why it was not taken. */
  readonly error?: LocalError;
}

/** Why an input was not taken: what `TributaryError` says. */
export interface LocalError {
  readonly code: string;
  readonly detail: string;
  readonly userAction?: string;
}

/** Text of one row that is not in the log: it begins at `offset` (UTF-16 code units of the row). */
export interface LiveEntry {
  readonly frame: Omit<LiveText, "text" | "offset">;
  readonly revision: number;
  readonly offset: number;
  readonly text: string;
  readonly at: string;
}

/** Rows below a position that were read at a later sequence than the rest: events up to it are in them. */
export interface Ahead {
  readonly below: number;
  readonly upTo: number;
}

export interface State {
  readonly threadId: string;
  /** Everything up to here is in it. */
  readonly sequence: number;
  /** Where the live stream goes on. */
  readonly cursor: string | undefined;
  /** Absent until the thread is known: a state that began without a snapshot. */
  readonly facts: Facts | undefined;
  readonly timeline: Timeline;
  /** By rising start. */
  readonly turns: ReadonlyArray<TurnView>;
  /** Those that are not terminal, in order. */
  readonly inputs: ReadonlyArray<InputView>;
  readonly plan: Omit<DomainPayloads["turn.plan_updated"], "agentPath"> | undefined;
  /** Cursor of the page of older rows; absent when all are loaded. */
  readonly before: string | undefined;
  readonly ahead: ReadonlyArray<Ahead>;
  readonly live: ReadonlyMap<string, LiveEntry>;
  /** Live text whose log has not been seen yet. */
  readonly early: ReadonlyArray<LiveText>;
  readonly locals: ReadonlyArray<LocalInput>;
  readonly deleted: boolean;
}

type Absent<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];
type Defined<T> = { [K in Exclude<keyof T, Absent<T>>]: T[K] } & { [K in Absent<T>]?: Exclude<T[K], undefined> };

/** The object without its absent fields, as the wire has it. */
export const defined = <T extends object>(value: T): Defined<T> => {
  const result: Partial<T> = {};
  for (const name in value) if (value[name] !== undefined) result[name] = value[name];
  // What is missing from `T` is what may be.
  return result as Defined<T>;
};
