/** Threads as lists show them. */
import type { Failure, SessionView, ThreadShell, TurnView } from "@tributary/contracts";
import { compact, literalOf, numberOf, optJson, optNumber, optString, optText, stringOf, type Row } from "../cells.ts";
import { threadStatus } from "../status.ts";
import type { Reader } from "./reader.ts";
import { shellFacts, type OpenRequest, type ShellFacts } from "./shell-facts.ts";

/** What a shell shows that is in no event: read markers are no history, instances are configuration. */
export interface ShellExtras {
  /** A person's marker; where several people read, whoever serves one of them puts that person's in instead. */
  readonly readTo: (threadId: string) => number;
  readonly runtimeOf: (instance: string) => string | undefined;
}

export const noExtras: ShellExtras = { readTo: () => 0, runtimeOf: () => undefined };

export interface ShellQuery {
  readonly projectId?: string;
  /** `true`: only archived ones; `false`: only others; absent: both. */
  readonly archived?: boolean;
  /** The `updated` sequence to go back from. */
  readonly before?: number;
  readonly limit: number;
}

export interface ShellList {
  /** The most recently changed first. */
  readonly shells: ReadonlyArray<ThreadShell>;
  /** To go back from, when there are more. */
  readonly before: number | undefined;
}

/** A page of shells. Threads that are deleted are not among them. */
export const shells = (reader: Reader, query: ShellQuery, extras: ShellExtras): ShellList => {
  const states = query.archived === undefined ? [0, 1] : [query.archived ? 1 : 0];
  const rows = states
    .flatMap((archived) => listed(reader, query, archived))
    .toSorted((a, b) => numberOf(b, "updated_seq") - numberOf(a, "updated_seq"));
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return {
    shells: shellsOf(reader, page, extras),
    before: rows.length > page.length && last !== undefined ? numberOf(last, "updated_seq") : undefined,
  };
};

/** One more than asked for: whether there are more shows by it. */
const listed = (reader: Reader, query: ShellQuery, archived: number): ReadonlyArray<Row> => {
  const before = query.before ?? Number.MAX_SAFE_INTEGER;
  return query.projectId === undefined
    ? reader.all(
        `SELECT * FROM {threads} WHERE deleted = 0 AND archived = ? AND updated_seq < ? ORDER BY updated_seq DESC LIMIT ?`,
        archived,
        before,
        query.limit + 1,
      )
    : reader.all(
        `SELECT * FROM {threads} WHERE deleted = 0 AND project_id = ? AND archived = ? AND updated_seq < ?
          ORDER BY updated_seq DESC LIMIT ?`,
        query.projectId,
        archived,
        before,
        query.limit + 1,
      );
};

/** A thread's shell; undefined when there is no such thread or it is deleted. */
export const shell = (reader: Reader, threadId: string, extras: ShellExtras): ThreadShell | undefined => {
  const row = reader.get("SELECT * FROM {threads} WHERE thread_id = ? AND deleted = 0", threadId);
  return row === undefined ? undefined : shellsOf(reader, [row], extras)[0];
};

const shellsOf = (reader: Reader, rows: ReadonlyArray<Row>, extras: ShellExtras): ReadonlyArray<ThreadShell> => {
  if (rows.length === 0) return [];
  const facts = shellFacts(
    reader,
    rows.map((row) => stringOf(row, "thread_id")),
  );
  return rows.map((row) => shellOf(row, facts, extras));
};

const shellOf = (row: Row, facts: ShellFacts, extras: ShellExtras): ThreadShell => {
  const threadId = stringOf(row, "thread_id");
  const instance = stringOf(row, "instance");
  const inputs = facts.inputs(threadId);
  const requests = facts.requests(threadId);
  const asked = requests.find((request) => request.blocking);
  const turn = facts.turn(threadId);
  const activeTurnId = turn?.state === "running" ? turn.id : undefined;
  const session = sessionOf(row, activeTurnId, asked !== undefined);
  const archived = numberOf(row, "archived") === 1;
  const queueHeld = optString(row, "queue_held");
  const status = threadStatus({
    archived,
    asked: asked !== undefined,
    turn,
    inputs,
    queueHeld: queueHeld !== undefined,
    session: optString(row, "session_state") as SessionView["state"] | undefined,
  });
  return compact({
    threadId,
    projectId: stringOf(row, "project_id"),
    ...titleOf(row),
    instance,
    runtime: extras.runtimeOf(instance),
    cwd: stringOf(row, "cwd"),
    model: fold(row, "model"),
    effort: fold(row, "effort"),
    serviceTier: fold(row, "service_tier"),
    approvalMode: literalOf<ThreadShell["approvalMode"]>(row, "approval_mode"),
    interactionMode: literalOf<ThreadShell["interactionMode"]>(row, "interaction_mode"),
    textDelivery: literalOf<ThreadShell["textDelivery"]>(row, "text_delivery"),
    status: { value: status, asOf: numberOf(row, "status_as_of") },
    session,
    phase: phaseOf(row, asked, turn, facts),
    activeTurnId,
    pendingRequests: requests.map(({ id, kind, title }) => compact({ id, kind, title })),
    queued: inputs.filter((input) => input.state === "queued").length,
    queueHeld,
    unconfirmed: inputs.filter((input) => input.state === "unconfirmed").length,
    runningTasks: facts.runningTasks(threadId),
    lastTurn: turn,
    preview: facts.preview(threadId),
    context: contextOf(row),
    usage: facts.usage(threadId),
    changes: facts.changes(threadId),
    readTo: extras.readTo(threadId),
    lastPosition: numberOf(row, "last_position"),
    createdAt: stringOf(row, "created_at"),
    updatedAt: stringOf(row, "updated_at"),
  });
};

/** As somebody named it, else as its first prompt begins. */
const titleOf = (row: Row): Pick<ThreadShell, "title" | "titleFrom"> => {
  const title = optText(row, "title");
  if (title !== undefined) return { title };
  const prompt = optText(row, "prompt_title");
  return prompt === undefined ? {} : { title: prompt, titleFrom: "prompt" };
};

const fold = (row: Row, column: "model" | "effort" | "service_tier") => {
  const value = optString(row, column);
  return value === undefined ? undefined : { value, asOf: numberOf(row, `${column}_as_of`) };
};

const contextOf = (row: Row): ThreadShell["context"] => {
  const asOf = optNumber(row, "context_as_of");
  if (asOf === undefined) return undefined;
  return {
    value: compact({ tokens: optNumber(row, "context_tokens"), window: optNumber(row, "context_window") }),
    asOf,
  };
};

/** `running` and `waiting` come from the turn and what the agent waits for. */
const sessionOf = (row: Row, activeTurnId: string | undefined, asked: boolean): SessionView | undefined => {
  const state = optString(row, "session_state") as SessionView["state"] | undefined;
  if (state === undefined) return undefined;
  const working = activeTurnId === undefined ? state : "running";
  const busy = asked ? "waiting" : working;
  return compact({
    state: state === "ready" ? busy : state,
    generation: numberOf(row, "generation"),
    nativeSessionId: optString(row, "native_session_id"),
    activeTurnId,
    lastError: optJson<Failure>(row, "last_error"),
  });
};

/** What happens just now, while something does: the runtime opens, waits for a person, is being stopped, or works. */
const phaseOf = (
  row: Row,
  asked: OpenRequest | undefined,
  turn: TurnView | undefined,
  facts: ShellFacts,
): ThreadShell["phase"] => {
  if (row["session_state"] === "opening") return { kind: "opening", since: stringOf(row, "session_at") };
  if (turn?.state !== "running") return undefined;
  const threadId = stringOf(row, "thread_id");
  if (isStopping(row, turn.id, facts.turnInputs(threadId)))
    return { kind: "interrupting", since: stringOf(row, "interrupt_at") };
  if (asked !== undefined) return compact({ kind: "waiting", title: asked.title, since: asked.at });
  const work = facts.work(threadId);
  return work === undefined ? { kind: "working", since: turn.startedAt } : compact({ ...work });
};

/** Whether what was last asked to stop is the turn, or an input that it began with. */
const isStopping = (row: Row, turnId: string, inputIds: ReadonlyArray<string>): boolean => {
  const input = optString(row, "interrupt_input");
  return optString(row, "interrupt_turn") === turnId || (input !== undefined && inputIds.includes(input));
};
