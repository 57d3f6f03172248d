/**
 * Rows of the timeline from the tables that hold them. What may be long is not read here: a `Pending` row knows how long
 * its text is and is completed only once it is known to fit.
 */
import type { AgentPath, TimelineRow } from "@tributary/contracts";
import {
  compact,
  jsonOf,
  literalOf,
  numberOf,
  optJson,
  optNumber,
  optString,
  optText,
  stringOf,
  type Row,
} from "../cells.ts";
import type { TimelineKind } from "../tables/timeline.ts";
import { keys, type Reader } from "./reader.ts";
import { inputHead, inputText, messageHead, messageText, outputHead, reasoningHead, reasoningText } from "./texts.ts";

export interface Entry {
  readonly position: number;
  readonly kind: TimelineKind;
  readonly rowId: string;
  readonly turnId: string | undefined;
}

export interface Pending {
  readonly entry: Entry;
  /** UTF-16 code units of the text that completing reads: at least as many bytes on the wire. */
  readonly weight: number;
  /** The row; its text cut to `units` if given. Texts of activities, tasks, requests, plans and notices are not cut. */
  readonly complete: (units?: number) => TimelineRow;
}

export const entryColumns = "position, kind, row_id, turn_id";

export const entryOf = (row: Row): Entry => ({
  position: numberOf(row, "position"),
  kind: literalOf<TimelineKind>(row, "kind"),
  rowId: stringOf(row, "row_id"),
  turnId: optString(row, "turn_id"),
});

/** The rows of some entries, in their order. */
export const pendingRows = (
  reader: Reader,
  threadId: string,
  entries: ReadonlyArray<Entry>,
): ReadonlyArray<Pending> => {
  const found = new Map<string, Pending>();
  for (const [kind, ofKind] of Map.groupBy(entries, (entry) => entry.kind)) {
    const { sql, id, pending } = sources[kind];
    const byId = new Map(ofKind.map((entry) => [entry.rowId, entry]));
    for (const row of reader.all(sql, threadId, keys(ofKind.map((entry) => entry.rowId)))) {
      const entry = byId.get(stringOf(row, id));
      if (entry !== undefined) found.set(`${kind} ${entry.rowId}`, pending(reader, threadId, entry, row));
    }
  }
  return entries.flatMap((entry) => found.get(`${entry.kind} ${entry.rowId}`) ?? []);
};

interface Source {
  /** `?1` is the thread, `?2` a JSON array of ids. */
  readonly sql: string;
  readonly id: string;
  readonly pending: (reader: Reader, threadId: string, entry: Entry, row: Row) => Pending;
}

const select = (columns: string, table: string, id: string): string =>
  `SELECT ${columns} FROM json_each(?2) AS k CROSS JOIN ${table} AS r WHERE r.thread_id = ?1 AND r.${id} = k.value`;

/** The fields that every row has. */
const common = (entry: Entry, row: Row) => ({
  rowId: entry.rowId,
  position: entry.position,
  turnId: entry.turnId,
  agentPath: jsonOf<AgentPath>(row, "agent_path"),
  at: stringOf(row, "at"),
});

/** A row that is complete as it is. */
const complete = (entry: Entry, weight: number, row: () => TimelineRow): Pending => ({ entry, weight, complete: row });

type MessageRow = Extract<TimelineRow, { readonly kind: "message" }>;
type ReasoningRow = Extract<TimelineRow, { readonly kind: "reasoning" }>;
type ActivityRow = Extract<TimelineRow, { readonly kind: "activity" }>;
type TaskRow = Extract<TimelineRow, { readonly kind: "task" }>;
type RequestRow = Extract<TimelineRow, { readonly kind: "request" }>;
type PlanRow = Extract<TimelineRow, { readonly kind: "plan" }>;
type NoticeRow = Extract<TimelineRow, { readonly kind: "notice" }>;

export const requestColumns = `r.thread_id, r.request_id, r.position, r.turn_id, r.agent_path, r.at, r.state, r.subject_hash,
  r.answer, r.actor, r.delivery, r.reason, r.error, r.request`;

export const requestRow = (row: Row): RequestRow =>
  compact({
    kind: "request" as const,
    rowId: stringOf(row, "request_id"),
    position: numberOf(row, "position"),
    turnId: optString(row, "turn_id"),
    agentPath: jsonOf<AgentPath>(row, "agent_path"),
    at: stringOf(row, "at"),
    requestId: stringOf(row, "request_id"),
    threadId: stringOf(row, "thread_id"),
    request: jsonOf<RequestRow["request"]>(row, "request"),
    state: literalOf<RequestRow["state"]>(row, "state"),
    subjectHash: stringOf(row, "subject_hash"),
    answer: optJson<NonNullable<RequestRow["answer"]>>(row, "answer"),
    by: optJson<NonNullable<RequestRow["by"]>>(row, "actor"),
    delivery: optString(row, "delivery") as RequestRow["delivery"],
    reason: optText(row, "reason"),
    error: optJson<NonNullable<RequestRow["error"]>>(row, "error"),
  });

const sources: { readonly [K in TimelineKind]: Source } = {
  input: {
    sql: select("r.input_id, r.state, r.at, r.attachments, r.length, '[]' AS agent_path", "{inputs}", "input_id"),
    id: "input_id",
    pending: (reader, threadId, entry, row) => ({
      entry,
      weight: numberOf(row, "length"),
      complete: (units) => {
        const message: MessageRow = compact({
          kind: "message" as const,
          ...common(entry, row),
          role: "user" as const,
          text:
            units === undefined
              ? inputText(reader, threadId, entry.rowId)
              : inputHead(reader, threadId, entry.rowId, units),
          length: numberOf(row, "length"),
          streaming: false,
          attachments: optJson<NonNullable<MessageRow["attachments"]>>(row, "attachments"),
          inputState: literalOf<NonNullable<MessageRow["inputState"]>>(row, "state"),
        });
        return message;
      },
    }),
  },
  message: {
    sql: select("r.message_id, r.agent_path, r.at, r.length, r.streaming", "{messages}", "message_id"),
    id: "message_id",
    pending: (reader, threadId, entry, row) => ({
      entry,
      weight: numberOf(row, "length"),
      complete: (units) => {
        const message: MessageRow = compact({
          kind: "message" as const,
          ...common(entry, row),
          role: "assistant" as const,
          text:
            units === undefined
              ? messageText(reader, threadId, entry.rowId)
              : messageHead(reader, threadId, entry.rowId, units),
          length: numberOf(row, "length"),
          streaming: numberOf(row, "streaming") === 1,
        });
        return message;
      },
    }),
  },
  reasoning: {
    sql: select("r.reasoning_id, r.kind, r.agent_path, r.at, r.length, r.streaming", "{reasoning}", "reasoning_id"),
    id: "reasoning_id",
    pending: (reader, threadId, entry, row) => ({
      entry,
      weight: numberOf(row, "length"),
      complete: (units) => {
        const piece: ReasoningRow = compact({
          kind: "reasoning" as const,
          ...common(entry, row),
          reasoning: literalOf<ReasoningRow["reasoning"]>(row, "kind"),
          text:
            units === undefined
              ? reasoningText(reader, threadId, entry.rowId)
              : reasoningHead(reader, threadId, entry.rowId, units),
          length: numberOf(row, "length"),
          streaming: numberOf(row, "streaming") === 1,
        });
        return piece;
      },
    }),
  },
  activity: {
    sql: select(
      `r.activity_id, r.item_id, r.type, r.status, r.agent_path, r.at, r.ended_at, r.exit_code, r.settled_by, r.title, r.detail,
      r.input, r.output, r.locations, r.changes, r.cut, r.has_output, r.output_tail, r.output_omitted, r.output_size`,
      "{activities}",
      "activity_id",
    ),
    id: "activity_id",
    pending: (reader, threadId, entry, row) =>
      complete(entry, 0, () => {
        const activity: ActivityRow = compact({
          kind: "activity" as const,
          ...common(entry, row),
          itemId: stringOf(row, "item_id"),
          type: literalOf<ActivityRow["type"]>(row, "type"),
          status: literalOf<ActivityRow["status"]>(row, "status"),
          title: optText(row, "title"),
          detail: optText(row, "detail"),
          input: optJson(row, "input"),
          output: optJson(row, "output"),
          exitCode: optNumber(row, "exit_code"),
          locations: optJson<NonNullable<ActivityRow["locations"]>>(row, "locations"),
          changes: optJson<NonNullable<ActivityRow["changes"]>>(row, "changes"),
          commandOutput: commandOutput(reader, threadId, entry.rowId, row),
          cut: optJson<NonNullable<ActivityRow["cut"]>>(row, "cut"),
          settledBy: settledBy(row),
          endedAt: optString(row, "ended_at"),
        });
        return activity;
      }),
  },
  task: {
    sql: select(
      "r.task_id, r.kind, r.agent_path, r.at, r.child_path, r.item_id, r.status, r.title, r.summary, r.usage, r.settled_by",
      "{tasks}",
      "task_id",
    ),
    id: "task_id",
    pending: (_reader, _threadId, entry, row) =>
      complete(entry, 0, () => {
        const task: TaskRow = compact({
          kind: "task" as const,
          ...common(entry, row),
          taskId: entry.rowId,
          taskKind: literalOf<TaskRow["taskKind"]>(row, "kind"),
          childPath: optJson<AgentPath>(row, "child_path"),
          itemId: optString(row, "item_id"),
          status: literalOf<TaskRow["status"]>(row, "status"),
          title: optText(row, "title"),
          summary: optText(row, "summary"),
          usage: optJson<NonNullable<TaskRow["usage"]>>(row, "usage"),
          settledBy: settledBy(row),
        });
        return task;
      }),
  },
  request: {
    sql: select(requestColumns, "{requests}", "request_id"),
    id: "request_id",
    pending: (_reader, _threadId, entry, row) => complete(entry, 0, () => requestRow(row)),
  },
  plan: {
    sql: select("r.plan_id, r.agent_path, r.at, r.state, r.markdown", "{plans}", "plan_id"),
    id: "plan_id",
    pending: (_reader, _threadId, entry, row) =>
      complete(entry, 0, () => {
        const plan: PlanRow = compact({
          kind: "plan" as const,
          ...common(entry, row),
          planId: entry.rowId,
          markdown: jsonOf<string>(row, "markdown"),
          state: literalOf<PlanRow["state"]>(row, "state"),
        });
        return plan;
      }),
  },
  notice: {
    sql: select(
      "r.notice_id, r.at, r.level, r.code, r.message, r.detail, '[]' AS agent_path",
      "{notices}",
      "notice_id",
    ),
    id: "notice_id",
    pending: (_reader, _threadId, entry, row) =>
      complete(entry, 0, () => {
        const notice: NoticeRow = compact({
          kind: "notice" as const,
          ...common(entry, row),
          level: literalOf<NoticeRow["level"]>(row, "level"),
          code: stringOf(row, "code"),
          message: optText(row, "message") ?? "",
          detail: optText(row, "detail"),
        });
        return notice;
      }),
  },
};

const settledBy = (row: Row): "system" | undefined => (row["settled_by"] === "system" ? "system" : undefined);

const commandOutput = (
  reader: Reader,
  threadId: string,
  activityId: string,
  row: Row,
): ActivityRow["commandOutput"] => {
  const tail = optText(row, "output_tail");
  const size = optNumber(row, "output_size");
  const headed = optNumber(row, "has_output") === 1;
  if (!headed && tail === undefined && size === undefined) return undefined;
  return compact({
    head: headed ? outputHead(reader, threadId, activityId) : "",
    omitted: optNumber(row, "output_omitted") ?? 0,
    tail: tail ?? "",
    size,
  });
};
