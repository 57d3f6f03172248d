/** What events do to the facts that a thread's shell is made of. Runs after the rows were changed. */
import type { DomainPayloads, Failure, TimelineRow } from "@tributary/contracts";
import type { PublicEvent } from "@tributary/contracts/api";
import { diffChanged } from "./changes.ts";
import { run, set, type Draft, type Handlers } from "./events.ts";
import { defined, type Ask, type Facts, type UsageBasis } from "./state.ts";
import { headOf, promptTitle } from "./text.ts";
import { backward, find, kindOf, keyOf, type RowKind } from "./timeline.ts";

type Settings = Omit<DomainPayloads["thread.configured"], "applies">;

const models = ({ model, effort }: { readonly model?: string; readonly effort?: string }, asOf: number) =>
  defined({
    model: model === undefined ? undefined : { value: model, asOf },
    effort: effort === undefined ? undefined : { value: effort, asOf },
  });

const settings = (payload: Settings, asOf: number): Partial<Facts> => {
  const { serviceTier, approvalMode, interactionMode, textDelivery } = payload;
  return {
    ...models(payload, asOf),
    ...defined({
      serviceTier: serviceTier === undefined ? undefined : { value: serviceTier, asOf },
      approvalMode,
      interactionMode,
      textDelivery,
    }),
  };
};

/** An end that nobody saw, or that the runtime made itself, is no failure. */
const exitFailure = (exit: DomainPayloads["session.exited"]): Failure | undefined => {
  const { kind, settledBy, reason, signal, exitCode, recoverable } = exit;
  if (kind === "graceful" || settledBy === "system") return undefined;
  const code = exitCode === undefined ? "" : ` (exit code ${exitCode})`;
  const how = signal === undefined ? code : ` (signal ${signal})`;
  const message = reason ?? `The runtime ended unexpectedly${how}. Send a message to start it again.`;
  return { class: "transport", message, retryable: recoverable };
};

const session = (state: NonNullable<Facts["session"]>, { occurredAt }: PublicEvent): Partial<Facts> => ({
  session: state,
  sessionAt: occurredAt,
});

const context = (
  draft: Draft,
  tokens: number | undefined,
  window: number | undefined,
  asOf: number,
): Partial<Facts> => {
  if (tokens === undefined && window === undefined) return {};
  return { context: { value: { ...draft.facts?.context?.value, ...defined({ tokens, window }) }, asOf } };
};

const usageNames = [
  "contextTokens",
  "contextWindow",
  "inputTokens",
  "cachedInputTokens",
  "cacheWriteTokens",
  "outputTokens",
  "reasoningTokens",
  "costUsd",
  "costBasis",
  "model",
] as const;

/** Reports merge by field: what one does not say stays. */
const usage = (draft: Draft, basis: UsageBasis, report: object, asOf: number): Partial<Facts> => {
  const counts = Object.fromEntries(
    Object.entries(report).filter(([name]) => (usageNames as ReadonlyArray<string>).includes(name)),
  );
  const before = draft.facts?.usage ?? {};
  return { usage: { ...before, [basis]: { value: { ...before[basis]?.value, ...counts, basis }, asOf } } };
};

const ask = (draft: Draft, id: string, change: Partial<Ask> | undefined): void => {
  const { facts } = draft;
  if (facts === undefined) return;
  set(draft, {
    asks:
      change === undefined
        ? facts.asks.filter((one) => one.id !== id)
        : facts.asks.map((one) => (one.id === id ? { ...one, ...change } : one)),
  });
};

const task = (draft: Draft, id: string, running: boolean): void => {
  const { facts } = draft;
  if (facts === undefined) return;
  if (running) set(draft, { tasks: new Set([...facts.tasks, id]) });
  else if (facts.tasks.has(id)) set(draft, { tasks: new Set([...facts.tasks].filter((one) => one !== id)) });
  else if (find(draft.timeline, "task", id) === undefined)
    set(draft, { otherTasks: Math.max(0, facts.otherTasks - 1) });
};

/** What streams or runs: by that the phase is told. */
const work = (draft: Draft, kind: RowKind, id: string): void => {
  const { facts } = draft;
  if (facts === undefined) return;
  const key = keyOf(kind, id);
  const row = find(draft.timeline, kind, id);
  const open = row === undefined ? undefined : workOf(row);
  const index = facts.work.findIndex((one) => one.key === key);
  if (open === undefined) {
    if (index !== -1) set(draft, { work: facts.work.toSpliced(index, 1) });
  } else if (index === -1) set(draft, { work: [...facts.work, open] });
  else if (facts.work[index]?.title !== open.title) set(draft, { work: facts.work.with(index, open) });
};

export const workOf = (row: TimelineRow): Facts["work"][number] | undefined => {
  const common = { key: keyOf(kindOf(row), row.rowId), title: undefined, since: row.at, position: row.position };
  switch (row.kind) {
    case "activity":
      return row.status === "in_progress" ? { ...common, kind: row.type, title: row.title } : undefined;
    case "message":
      return row.streaming ? { ...common, kind: "writing" } : undefined;
    case "reasoning":
      return row.streaming ? { ...common, kind: "thinking" } : undefined;
    default:
      return undefined;
  }
};

const previewUnits = 200;

/** A person's or the root agent's word: the newest is the preview. */
const isSpoken = (row: TimelineRow): row is Extract<TimelineRow, { readonly kind: "message" }> =>
  row.kind === "message" && (row.role === "user" || row.agentPath.length === 0);

const previewOf = (row: TimelineRow | undefined): Facts["preview"] =>
  row !== undefined && isSpoken(row)
    ? { rowId: row.rowId, position: row.position, role: row.role, text: headOf(row.text, previewUnits) }
    : undefined;

/** The newest of the loaded rows that is spoken. */
export const newestSpoken = (draft: Pick<Draft, "timeline">): Facts["preview"] => {
  for (const row of backward(draft.timeline)) if (isSpoken(row)) return previewOf(row);
  return undefined;
};

/** `grown`: so many code units were added, and nothing else changed. */
const spoken = (draft: Draft, kind: "input" | "message", id: string, grown = 0): void => {
  const before = draft.facts?.preview;
  const row = find(draft.timeline, kind, id);
  if (row === undefined) {
    if (before?.rowId === id) set(draft, { preview: newestSpoken(draft) });
  } else if (isSpoken(row) && row.position >= (before?.position ?? -1)) {
    // What is added to a long text is not seen; reading its beginning would copy all of it.
    if (before?.rowId === id && grown > 0 && row.length - grown > previewUnits) return;
    set(draft, { preview: previewOf(row) });
  }
};

const activity = (draft: Draft, { activityId }: { readonly activityId: string }): void =>
  work(draft, "activity", activityId);

const handlers: Handlers = {
  "thread.renamed": (draft, { title }) => set(draft, { title }),
  "thread.configured": (draft, payload, { sequence }) => set(draft, settings(payload, sequence)),
  "thread.archived": (draft) => set(draft, { archived: true }),
  "thread.unarchived": (draft) => set(draft, { archived: false }),

  "input.edited": (draft, { inputId }) => spoken(draft, "input", inputId),
  "input.queued": (draft, { inputId, text }) => {
    set(draft, { promptTitle: draft.facts?.promptTitle ?? promptTitle(text) });
    spoken(draft, "input", inputId);
  },
  "input.handed_over": (draft, { inputId }) => spoken(draft, "input", inputId),
  "input.withdrawn": (draft, { inputId }) => spoken(draft, "input", inputId),
  "queue.held": (draft, { reason }) => set(draft, { queueHeld: reason }),
  "queue.resumed": (draft) => set(draft, { queueHeld: undefined }),

  "session.opening": (draft, { generation, resume }, event) =>
    set(draft, { ...session("opening", event), generation, nativeSessionId: resume, lastError: undefined }),
  "session.started": (draft, payload, event) =>
    set(draft, {
      ...session("ready", event),
      generation: payload.generation,
      nativeSessionId: payload.nativeSessionId,
      ...models(payload, event.sequence),
    }),
  "session.configured": (draft, payload, { sequence }) => {
    const { nativeSessionId = draft.facts?.nativeSessionId } = payload;
    set(draft, { ...settings(payload, sequence), nativeSessionId });
  },
  "session.forgotten": (draft) => set(draft, { nativeSessionId: undefined }),
  // A session's death does not hide the error that its turn already told.
  "session.exited": (draft, payload, event) =>
    set(draft, { ...session("exited", event), lastError: draft.facts?.lastError ?? exitFailure(payload) }),
  "session.released": (draft, _, event) => set(draft, session("released", event)),
  "session.failed": (draft, { error }, event) => set(draft, { ...session("failed", event), lastError: error }),

  "turn.started": (draft, payload, { sequence }) => {
    const { turn: _, ...rest } = draft.facts?.usage ?? {};
    set(draft, {
      ...models(payload, sequence),
      lastError: undefined,
      turnInputs: payload.inputIds,
      turnStart: { turnId: payload.turnId, position: sequence },
      // A turn's counts begin anew with it.
      usage: rest,
    });
  },
  "turn.ended": (draft, { error, usage: counts, costUsd, costBasis }, { sequence }) => {
    if (error !== undefined) set(draft, { lastError: error });
    set(draft, context(draft, counts?.contextTokens, counts?.contextWindow, sequence));
    if (counts === undefined && costUsd === undefined) return;
    const cost = costUsd === undefined ? {} : defined({ costUsd, costBasis });
    set(draft, usage(draft, "turn", { ...counts, ...cost }, sequence));
  },
  "turn.diff_updated": (draft, payload) => diffChanged(draft, payload),
  "interrupt.requested": (draft, { turnId, inputId }, { occurredAt }) =>
    set(draft, { interrupt: { at: occurredAt, turnId, inputId } }),

  "message.appended": (draft, { messageId, text, start }) => {
    work(draft, "message", messageId);
    spoken(draft, "message", messageId, start === undefined ? text.length : 0);
  },
  "message.completed": (draft, { messageId }) => work(draft, "message", messageId),
  "message.replaced": (draft, { messageId }) => spoken(draft, "message", messageId),
  "message.retracted": (draft, { messageId }) => {
    work(draft, "message", messageId);
    spoken(draft, "message", messageId);
  },
  "reasoning.appended": (draft, { reasoningId }) => work(draft, "reasoning", reasoningId),
  "reasoning.completed": (draft, { reasoningId }) => work(draft, "reasoning", reasoningId),
  "activity.started": activity,
  "activity.updated": activity,
  "activity.ended": activity,

  "task.started": (draft, { taskId, status = "in_progress" }) => task(draft, taskId, status === "in_progress"),
  "task.updated": (draft, { taskId, status }) => {
    if (status !== undefined) task(draft, taskId, status === "in_progress");
  },
  "task.ended": (draft, { taskId }) => task(draft, taskId, false),

  "request.opened": (draft, { requestId: id, kind, title, blocking = true }, { occurredAt: at }) => {
    const asks = draft.facts?.asks.filter((one) => one.id !== id) ?? [];
    set(draft, { asks: [...asks, { id, kind, title, blocking, at, pending: true }] });
  },
  "request.answering": (draft, { requestId }) => ask(draft, requestId, { pending: false }),
  "request.answered": (draft, { requestId }) => ask(draft, requestId, undefined),
  "request.withdrawn": (draft, { requestId }) => ask(draft, requestId, undefined),
  "request.expired": (draft, { requestId }) => ask(draft, requestId, undefined),
  "request.delivery_failed": (draft, { requestId }) => ask(draft, requestId, { pending: true }),

  // A sub-agent's counts are its own.
  "usage.recorded": (draft, payload, { sequence }) => {
    if (payload.agentPath.length > 0) return;
    set(draft, usage(draft, payload.basis, payload, sequence));
    set(draft, context(draft, payload.contextTokens, payload.contextWindow, sequence));
  },
  "context.compacted": (draft, { state, afterTokens }, { sequence }) => {
    if (state === "completed") set(draft, context(draft, afterTokens, undefined, sequence));
  },
  "model.rerouted": (draft, { to }, { sequence }) => set(draft, models({ model: to }, sequence)),
};

/** A row of the timeline begins with these (text: with its first piece). */
const rowEvents: ReadonlySet<string> = new Set([
  "input.handed_over",
  "activity.started",
  "task.started",
  "request.opened",
  "plan.proposed",
  "notice.recorded",
]);
const textEvents: ReadonlySet<string> = new Set(["message.appended", "reasoning.appended"]);

const beginsRow = ({ type, payload }: PublicEvent): boolean =>
  rowEvents.has(type) || (textEvents.has(type) && (payload as DomainPayloads["message.appended"]).start !== undefined);

/** After these the status may be another. */
const statusEvents: ReadonlySet<string> = new Set([
  ...["archived", "unarchived"].map((type) => `thread.${type}`),
  ...["queued", "handed_over", "started", "done", "withdrawn", "failed", "unconfirmed", "discarded"].map(
    (type) => `input.${type}`,
  ),
  ...["held", "resumed"].map((type) => `queue.${type}`),
  ...["opening", "started", "exited", "released", "failed"].map((type) => `session.${type}`),
  ...["started", "ended"].map((type) => `turn.${type}`),
  ...["opened", "answering", "answered", "withdrawn", "expired", "delivery_failed"].map((type) => `request.${type}`),
]);

export const applyFacts = (draft: Draft, event: PublicEvent): void => {
  if (draft.facts === undefined) return;
  const { sequence, occurredAt } = event;
  set(draft, {
    updatedAt: occurredAt,
    ...(beginsRow(event) ? { lastPosition: sequence } : {}),
    ...(statusEvents.has(event.type) ? { statusAsOf: sequence } : {}),
  });
  run(handlers, draft, event);
};

/** A thread from its first event. */
export const createdFacts = (event: PublicEvent, payload: DomainPayloads["thread.created"]): Facts => {
  const { streamId: threadId, occurredAt, sequence } = event;
  const { projectId, instance, cwd, title, approvalMode, interactionMode, textDelivery } = payload;
  return {
    fixed: { threadId, projectId, instance, cwd, createdAt: occurredAt, readTo: 0 },
    title,
    promptTitle: undefined,
    model: undefined,
    effort: undefined,
    serviceTier: undefined,
    archived: false,
    queueHeld: undefined,
    generation: 0,
    session: undefined,
    sessionAt: occurredAt,
    nativeSessionId: undefined,
    lastError: undefined,
    interrupt: undefined,
    statusAsOf: sequence,
    context: undefined,
    usage: {},
    asks: [],
    tasks: new Set(),
    otherTasks: 0,
    turnInputs: [],
    turnStart: undefined,
    work: [],
    preview: undefined,
    changes: { diff: undefined, activities: undefined, asOpened: "computed" },
    lastPosition: 0,
    updatedAt: occurredAt,
    ...settings(payload, sequence),
    approvalMode,
    interactionMode,
    textDelivery,
  };
};
