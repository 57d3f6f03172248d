/**
 * One row a thread: what its shell shows and no row table can tell at once. Every event of a thread changes exactly this
 * one row of it. Counts of open inputs, requests and tasks are not kept here: an event does not say what it left, and
 * partial indexes over what is open answer in time that follows what is open (I12).
 */
import type { DomainEventType, DomainPayloads, Failure, StoredEvent, StoredEventOf } from "@tributary/contracts";
import type { RowChange, TableSpec } from "@tributary/store";
import { jsonCell, textCell, type Cells } from "../cells.ts";
import { patch, put } from "../changes.ts";
import { promptTitle } from "../title.ts";

const table: TableSpec = {
  name: "threads",
  columns: [
    ["thread_id", "TEXT NOT NULL"],
    ["project_id", "TEXT NOT NULL"],
    ["cwd", "TEXT NOT NULL"],
    ["instance", "TEXT NOT NULL"],
    ["title", "TEXT"],
    // Of the first prompt, for a thread that nobody named.
    ["prompt_title", "TEXT"],
    // Wished or read back, whichever came last, and the sequence that said so.
    ["model", "TEXT"],
    ["model_as_of", "INTEGER"],
    ["effort", "TEXT"],
    ["effort_as_of", "INTEGER"],
    ["service_tier", "TEXT"],
    ["service_tier_as_of", "INTEGER"],
    ["approval_mode", "TEXT NOT NULL"],
    ["interaction_mode", "TEXT NOT NULL"],
    ["text_delivery", "TEXT NOT NULL"],
    ["archived", "INTEGER NOT NULL"],
    ["deleted", "INTEGER NOT NULL"],
    ["queue_held", "TEXT"],
    // Of the newest session.
    ["generation", "INTEGER"],
    ["session_state", "TEXT"],
    ["session_at", "TEXT"],
    ["native_session_id", "TEXT"],
    ["last_error", "TEXT"],
    // What somebody last asked to stop, and when: it matters while a turn runs that it names, itself or by an input.
    ["interrupt_at", "TEXT"],
    ["interrupt_turn", "TEXT"],
    ["interrupt_input", "TEXT"],
    ["status_as_of", "INTEGER NOT NULL"],
    ["context_tokens", "INTEGER"],
    ["context_window", "INTEGER"],
    ["context_as_of", "INTEGER"],
    ["last_position", "INTEGER NOT NULL"],
    ["created_seq", "INTEGER NOT NULL"],
    ["created_at", "TEXT NOT NULL"],
    ["updated_at", "TEXT NOT NULL"],
    // The sequence of the newest event: lists are ordered by it.
    ["updated_seq", "INTEGER NOT NULL"],
  ],
  key: ["thread_id"],
  indexes: [
    { name: "list", columns: ["archived", "updated_seq"], where: "deleted = 0" },
    { name: "project_list", columns: ["project_id", "archived", "updated_seq"], where: "deleted = 0" },
  ],
};

export const threadTables: ReadonlyArray<TableSpec> = [table];

/** The one change of a thread's row that an event of the thread makes. */
export const threadChange = (event: StoredEvent): RowChange => {
  if (event.type === "thread.created") return created(event);
  const key = { thread_id: event.streamId };
  const touched = { updated_at: event.occurredAt, updated_seq: event.sequence };
  const status = statusEvents.has(event.type) ? { status_as_of: event.sequence } : undefined;
  // The table ties each function to its type; TypeScript cannot follow that through the lookup.
  const cells = sets[event.type] as ((event: StoredEvent) => Cells) | undefined;
  const set = { ...touched, ...status, ...cells?.(event) };
  if (event.type === "input.queued") {
    const title = promptTitle(event.payload.text);
    return patch("threads", key, set, title === undefined ? {} : { setIfNull: { prompt_title: textCell(title) } });
  }
  if (event.type !== "session.exited") return patch("threads", key, set);
  const failure = exitFailure(event.payload);
  // A session's death does not hide the error that its turn already told.
  return patch(
    "threads",
    key,
    set,
    failure === undefined ? {} : { setIfNull: { last_error: JSON.stringify(failure) } },
  );
};

const created = (event: StoredEventOf<"thread.created">): RowChange =>
  put("threads", {
    thread_id: event.streamId,
    project_id: event.payload.projectId,
    cwd: event.payload.cwd,
    instance: event.payload.instance,
    title: event.payload.title === undefined ? undefined : textCell(event.payload.title),
    ...settings(event.payload, event.sequence),
    archived: 0,
    deleted: 0,
    status_as_of: event.sequence,
    last_position: 0,
    created_seq: event.sequence,
    created_at: event.occurredAt,
    updated_at: event.occurredAt,
    updated_seq: event.sequence,
  });

type Settings = Omit<DomainPayloads["thread.configured"], "applies">;

const settings = (payload: Settings, sequence: number): Cells => ({
  ...models(payload, sequence),
  ...(payload.serviceTier === undefined ? {} : { service_tier: payload.serviceTier, service_tier_as_of: sequence }),
  approval_mode: payload.approvalMode,
  interaction_mode: payload.interactionMode,
  text_delivery: payload.textDelivery,
});

const models = (payload: { readonly model?: string; readonly effort?: string }, sequence: number): Cells => ({
  ...(payload.model === undefined ? {} : { model: payload.model, model_as_of: sequence }),
  ...(payload.effort === undefined ? {} : { effort: payload.effort, effort_as_of: sequence }),
});

/** A row of the timeline begins with this event. */
const row = (event: { readonly sequence: number }): Cells => ({ last_position: event.sequence });
const textRow = (event: StoredEventOf<"message.appended" | "reasoning.appended">): Cells =>
  event.payload.start === undefined ? {} : row(event);

const context = (tokens: number | undefined, window: number | undefined, sequence: number): Cells =>
  tokens === undefined && window === undefined
    ? {}
    : { context_tokens: tokens, context_window: window, context_as_of: sequence };

/** An end that the runtime made itself is no failure; one that nobody saw says nothing about the runtime. */
const exitFailure = (exit: DomainPayloads["session.exited"]): Failure | undefined =>
  exit.kind !== "graceful" && exit.settledBy !== "system"
    ? {
        class: "transport",
        message: exit.reason ?? `The runtime ended unexpectedly${exitCode(exit)}. Send a message to start it again.`,
        retryable: exit.recoverable,
      }
    : undefined;

const exitCode = ({ exitCode, signal }: DomainPayloads["session.exited"]): string => {
  if (signal !== undefined) return ` (signal ${signal})`;
  return exitCode === undefined ? "" : ` (exit code ${exitCode})`;
};

/** What the kinds of events set beside `updated_*` and `status_as_of`. */
const sets: { readonly [T in DomainEventType]?: (event: StoredEventOf<T>) => Cells } = {
  "thread.renamed": ({ payload }) => ({ title: textCell(payload.title) }),
  "thread.configured": ({ payload, sequence }) => settings(payload, sequence),
  "thread.archived": () => ({ archived: 1 }),
  "thread.unarchived": () => ({ archived: 0 }),
  "thread.deleted": () => ({ deleted: 1 }),

  "input.handed_over": row,
  "queue.held": ({ payload }) => ({ queue_held: payload.reason }),
  "queue.resumed": () => ({ queue_held: null }),

  "session.opening": ({ payload, occurredAt }) => ({
    generation: payload.generation,
    session_state: "opening",
    session_at: occurredAt,
    native_session_id: payload.resume ?? null,
    last_error: null,
  }),
  "session.started": ({ payload, sequence, occurredAt }) => ({
    generation: payload.generation,
    session_state: "ready",
    session_at: occurredAt,
    native_session_id: payload.nativeSessionId,
    ...models(payload, sequence),
  }),
  "session.configured": ({ payload, sequence }) => ({
    ...settings(payload, sequence),
    native_session_id: payload.nativeSessionId,
  }),
  "session.exited": ({ occurredAt }) => ({ session_state: "exited", session_at: occurredAt }),
  "session.released": ({ occurredAt }) => ({ session_state: "released", session_at: occurredAt }),
  "session.failed": ({ payload, occurredAt }) => ({
    session_state: "failed",
    session_at: occurredAt,
    last_error: jsonCell(payload.error),
  }),
  "session.forgotten": () => ({ native_session_id: null }),

  "turn.started": ({ payload, sequence }) => ({
    ...models(payload, sequence),
    last_error: null,
  }),
  "turn.ended": ({ payload, sequence }) => ({
    ...(payload.error === undefined ? {} : { last_error: jsonCell(payload.error) }),
    ...context(payload.usage?.contextTokens, payload.usage?.contextWindow, sequence),
  }),
  "interrupt.requested": ({ payload, occurredAt }) => ({
    interrupt_at: occurredAt,
    interrupt_turn: payload.turnId ?? null,
    interrupt_input: payload.inputId ?? null,
  }),

  "message.appended": textRow,
  "reasoning.appended": textRow,
  "activity.started": row,
  "task.started": row,
  "request.opened": row,
  "plan.proposed": row,
  "notice.recorded": row,

  // A sub-agent's context is its own.
  "usage.recorded": ({ payload, sequence }) =>
    payload.agentPath.length > 0 ? {} : context(payload.contextTokens, payload.contextWindow, sequence),
  "context.compacted": ({ payload, sequence }) =>
    payload.state === "completed" ? context(payload.afterTokens, undefined, sequence) : {},
  "model.rerouted": ({ payload, sequence }) => models({ model: payload.to }, sequence),
};

/** After these the status may be another. */
const statusEvents = new Set<DomainEventType>([
  "thread.archived",
  "thread.unarchived",
  "input.queued",
  "input.handed_over",
  "input.started",
  "input.done",
  "input.withdrawn",
  "input.failed",
  "input.unconfirmed",
  "input.discarded",
  "queue.held",
  "queue.resumed",
  "session.opening",
  "session.started",
  "session.exited",
  "session.released",
  "session.failed",
  "turn.started",
  "turn.ended",
  "request.opened",
  "request.answering",
  "request.answered",
  "request.withdrawn",
  "request.expired",
  "request.delivery_failed",
]);
