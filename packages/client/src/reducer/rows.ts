/** What events do to the rows of a thread. */
import type { DomainPayloads, TimelineRow } from "@tributary/contracts";
import type { PublicEvent } from "@tributary/contracts/api";
import type { Draft, Handlers } from "./events.ts";
import { settleLive } from "./live.ts";
import { defined } from "./state.ts";
import { find, put, remove, replace, type RowKind } from "./timeline.ts";

type RowOf<K extends TimelineRow["kind"]> = Extract<TimelineRow, { readonly kind: K }>;
type TextRow = RowOf<"message"> | RowOf<"reasoning">;
type ActivityRow = RowOf<"activity">;

const add = (draft: Draft, row: TimelineRow): void => {
  draft.timeline = put(draft.timeline, row);
};

/** The loaded row that an event is about. Older ones are read when somebody goes back to them. */
const known = (draft: Draft, kind: RowKind, rowId: string, event: PublicEvent): TimelineRow | undefined => {
  const row = find(draft.timeline, kind, rowId);
  if (row === undefined) return undefined;
  // Read later than the rest: this event is in it.
  return draft.ahead.some(({ below, upTo }) => row.position < below && event.sequence <= upTo) ? undefined : row;
};

const change = <K extends TimelineRow["kind"]>(
  draft: Draft,
  kind: K,
  rowId: string,
  event: PublicEvent,
  change: (row: RowOf<K>) => RowOf<K>,
): void => {
  const row = known(draft, kind, rowId, event);
  if (row !== undefined) draft.timeline = replace(draft.timeline, change(row as RowOf<K>));
};

const take = (draft: Draft, kind: RowKind, rowId: string): void => {
  const row = find(draft.timeline, kind, rowId);
  if (row !== undefined) draft.timeline = remove(draft.timeline, row);
};

/** Pages cut a text that is larger than they are: what follows is not known then, only how much it is. */
const appended = <R extends TextRow>(row: R, text: string): R => ({
  ...row,
  text: row.text.length === row.length ? row.text + text : row.text,
  length: row.length + text.length,
});

type Activity = Omit<DomainPayloads["activity.updated"], "activityId">;

const output = (
  before: ActivityRow["commandOutput"],
  window: Activity["commandOutput"],
): ActivityRow["commandOutput"] => {
  if (window === undefined) return before;
  const { head = "", omitted = 0, tail = "", size } = before ?? {};
  const { append = "" } = window;
  if (before === undefined && append === "" && window.tail === undefined && window.size === undefined) return undefined;
  return defined({
    head: head + append,
    omitted: window.omitted ?? omitted,
    tail: window.tail ?? tail,
    size: window.size ?? size,
  });
};

/** Fields replace; only the head of a command's output grows. */
const activityFields = (row: ActivityRow, { commandOutput, ...fields }: Activity): ActivityRow => {
  // A page that could not hold the output has nothing to append to.
  const isCut = row.commandOutput === undefined && hasCut(row, "commandOutput");
  return {
    ...row,
    ...defined({ ...fields, ...(isCut ? {} : { commandOutput: output(row.commandOutput, commandOutput) }) }),
  };
};

const hasCut = (row: ActivityRow, field: string): boolean =>
  row.cut?.some((cut) => typeof cut === "object" && cut !== null && "field" in cut && cut.field === field) === true;

/** Only the fields that change an activity; not what says which. */
const activityChange = (payload: Activity): Activity => {
  const { status, title, detail, input, output: result, exitCode, locations, changes, commandOutput, cut } = payload;
  return defined({ status, title, detail, input, output: result, exitCode, locations, changes, commandOutput, cut });
};

const taskChange = ({ title, status, summary, usage }: Omit<DomainPayloads["task.updated"], "taskId">) =>
  defined({ title, status, summary, usage });

const without = <R extends object, K extends keyof R>(row: R, ...keys: ReadonlyArray<K>): R => {
  const rest = { ...row };
  for (const key of keys) delete rest[key];
  return rest;
};

export const rowHandlers: Handlers = {
  // The person's message: it enters the timeline with its first hand-over and keeps that place.
  "input.handed_over": (draft, { inputId }, { sequence, occurredAt }) => {
    const input = draft.inputs.find(({ id }) => id === inputId);
    if (input === undefined || find(draft.timeline, "input", inputId) !== undefined) return;
    const { text, attachments, state } = input;
    add(
      draft,
      defined({
        kind: "message" as const,
        rowId: inputId,
        position: sequence,
        agentPath: [],
        at: occurredAt,
        role: "user" as const,
        text,
        length: text.length,
        streaming: false,
        attachments,
        inputState: state,
      }),
    );
  },
  // The runtime gave it back unread: it never was a message.
  "input.withdrawn": (draft, { inputId }) => take(draft, "input", inputId),

  "message.appended": (draft, { messageId, text, start }, event) => {
    if (start === undefined) change(draft, "message", messageId, event, (row) => appended(row, text));
    else
      add(
        draft,
        defined({
          kind: "message" as const,
          rowId: messageId,
          position: event.sequence,
          turnId: start.turnId,
          agentPath: start.agentPath,
          at: event.occurredAt,
          role: "assistant" as const,
          text,
          length: text.length,
          streaming: true,
        }),
      );
    settleLive(draft, messageId);
  },
  "message.completed": (draft, { messageId }, event) => {
    change(draft, "message", messageId, event, (row) => ({ ...row, streaming: false }));
    settleLive(draft, messageId, "over");
  },
  "message.replaced": (draft, { messageId, text }, event) => {
    change(draft, "message", messageId, event, (row) => ({ ...row, text, length: text.length }));
    settleLive(draft, messageId, "over");
  },
  "message.retracted": (draft, { messageId }) => {
    take(draft, "message", messageId);
    settleLive(draft, messageId, "over");
  },
  "reasoning.appended": (draft, { reasoningId, kind, text, start }, event) => {
    if (start === undefined) change(draft, "reasoning", reasoningId, event, (row) => appended(row, text));
    else
      add(
        draft,
        defined({
          kind: "reasoning" as const,
          rowId: reasoningId,
          position: event.sequence,
          turnId: start.turnId,
          agentPath: start.agentPath,
          at: event.occurredAt,
          reasoning: kind,
          text,
          length: text.length,
          streaming: true,
        }),
      );
    settleLive(draft, reasoningId);
  },
  "reasoning.completed": (draft, { reasoningId }, event) => {
    change(draft, "reasoning", reasoningId, event, (row) => ({ ...row, streaming: false }));
    settleLive(draft, reasoningId, "over");
  },

  "activity.started": (draft, payload, { sequence, occurredAt }) => {
    const { activityId, itemId, itemType, turnId, agentPath } = payload;
    const row: ActivityRow = defined({
      kind: "activity" as const,
      rowId: activityId,
      position: sequence,
      turnId,
      agentPath,
      at: occurredAt,
      itemId,
      type: itemType,
      status: "in_progress" as const,
    });
    add(draft, activityFields(row, activityChange(payload)));
  },
  "activity.updated": (draft, payload, event) => {
    change(draft, "activity", payload.activityId, event, (row) => activityFields(row, activityChange(payload)));
    settleLive(draft, payload.activityId);
  },
  "activity.ended": (draft, payload, event) => {
    const { activityId, settledBy } = payload;
    change(draft, "activity", activityId, event, (row) => ({
      ...activityFields(row, activityChange(payload)),
      ...defined({ settledBy }),
      endedAt: event.occurredAt,
    }));
    settleLive(draft, activityId, "over");
  },

  "task.started": (draft, payload, { sequence, occurredAt }) => {
    const { taskId, kind, turnId, agentPath, childPath, itemId } = payload;
    add(
      draft,
      defined({
        kind: "task" as const,
        rowId: taskId,
        position: sequence,
        turnId,
        agentPath,
        at: occurredAt,
        taskId,
        taskKind: kind,
        childPath,
        itemId,
        status: "in_progress" as const,
        ...taskChange(payload),
      }),
    );
  },
  "task.updated": (draft, payload, event) =>
    change(draft, "task", payload.taskId, event, (row) => ({ ...row, ...taskChange(payload) })),
  "task.ended": (draft, payload, event) =>
    change(draft, "task", payload.taskId, event, (row) => ({
      ...row,
      ...taskChange(payload),
      ...defined({ settledBy: payload.settledBy }),
    })),

  "request.opened": (draft, payload, { sequence, occurredAt }) => {
    const { requestId, turnId, agentPath, itemId: _, generation: __, subjectHash, ...request } = payload;
    add(
      draft,
      defined({
        kind: "request" as const,
        rowId: requestId,
        position: sequence,
        turnId,
        agentPath,
        at: occurredAt,
        requestId,
        threadId: draft.threadId,
        request,
        state: "pending" as const,
        subjectHash,
      }),
    );
  },
  "request.answering": (draft, { requestId, answer, by }, event) =>
    change(draft, "request", requestId, event, (row) => ({
      ...without(row, "error"),
      state: "answering",
      answer,
      by,
    })),
  "request.answered": (draft, { requestId, answer, by, delivery }, event) =>
    change(draft, "request", requestId, event, (row) => ({
      ...row,
      state: "answered",
      ...defined({ answer, by }),
      delivery,
    })),
  "request.withdrawn": (draft, { requestId, reason }, event) =>
    change(draft, "request", requestId, event, (row) => ({ ...row, state: "withdrawn", reason })),
  "request.expired": (draft, { requestId, reason }, event) =>
    change(draft, "request", requestId, event, (row) => ({ ...row, state: "expired", reason })),
  // Nothing was written, so nobody has answered.
  "request.delivery_failed": (draft, { requestId, error }, event) =>
    change(draft, "request", requestId, event, (row) => ({
      ...without(row, "answer", "by"),
      state: "pending",
      error,
    })),

  "plan.proposed": (draft, { planId, turnId, agentPath, markdown }, { sequence, occurredAt }) =>
    add(
      draft,
      defined({
        kind: "plan" as const,
        rowId: planId,
        position: sequence,
        turnId,
        agentPath,
        at: occurredAt,
        planId,
        markdown,
        state: "proposed" as const,
      }),
    ),
  "plan.resolved": (draft, { planId, outcome }, event) =>
    change(draft, "plan", planId, event, (row) => ({ ...row, state: outcome })),
  "notice.recorded": (draft, { noticeId, turnId, level, code, message, detail }, { sequence, occurredAt }) =>
    add(
      draft,
      defined({
        kind: "notice" as const,
        rowId: noticeId,
        position: sequence,
        turnId,
        agentPath: [],
        at: occurredAt,
        level,
        code,
        message,
        detail,
      }),
    ),
};
