/** How each kind of row is read, and made into what readers get. */
import type { AgentPath, RequestRow, TimelineRow } from "@tributary/contracts";
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
import type { TextSource } from "./texts.ts";

interface Place {
  readonly position: number;
  readonly rowId: string;
  readonly turnId: string | undefined;
}

interface Source {
  /** `?1` is the thread, `?2` a JSON array of ids. */
  readonly sql: string;
  readonly id: string;
  readonly text: TextSource | undefined;
  readonly pending: (
    place: Place,
    row: Row,
  ) => { readonly weight: number; readonly complete: (text: string) => TimelineRow };
}

type RowOf<K extends TimelineRow["kind"]> = Extract<TimelineRow, { readonly kind: K }>;
type MessageRow = RowOf<"message">;
type ReasoningRow = RowOf<"reasoning">;
type ActivityRow = RowOf<"activity">;
type TaskRow = RowOf<"task">;
type PlanRow = RowOf<"plan">;
type NoticeRow = RowOf<"notice">;

const select = (columns: string, table: string, id: string): string =>
  `SELECT ${columns} FROM json_each(?2) AS k CROSS JOIN ${table} AS r WHERE r.thread_id = ?1 AND r.${id} = k.value`;

/** The fields that every row has. */
const common = ({ rowId, position, turnId }: Place, row: Row) => ({
  rowId,
  position,
  turnId,
  agentPath: jsonOf<AgentPath>(row, "agent_path"),
  at: stringOf(row, "at"),
});

const settledBy = (row: Row): "system" | undefined => (row["settled_by"] === "system" ? "system" : undefined);

/** Together the length of some text columns. */
const lengthOf = (row: Row, columns: ReadonlyArray<string>): number =>
  columns.reduce((sum, column) => sum + (optString(row, column)?.length ?? 0), 0);

const input: Source = {
  sql: select("r.input_id, r.state, r.at, r.attachments, r.length, '[]' AS agent_path", "{inputs}", "input_id"),
  id: "input_id",
  text: "input",
  pending: (place, row) => ({
    weight: numberOf(row, "length"),
    complete: (text): MessageRow =>
      compact({
        kind: "message" as const,
        ...common(place, row),
        role: "user" as const,
        text,
        length: numberOf(row, "length"),
        streaming: false,
        attachments: optJson<NonNullable<MessageRow["attachments"]>>(row, "attachments"),
        inputState: literalOf<NonNullable<MessageRow["inputState"]>>(row, "state"),
      }),
  }),
};

const message: Source = {
  sql: select("r.message_id, r.agent_path, r.at, r.length, r.streaming", "{messages}", "message_id"),
  id: "message_id",
  text: "message",
  pending: (place, row) => ({
    weight: numberOf(row, "length"),
    complete: (text): MessageRow =>
      compact({
        kind: "message" as const,
        ...common(place, row),
        role: "assistant" as const,
        text,
        length: numberOf(row, "length"),
        streaming: numberOf(row, "streaming") === 1,
      }),
  }),
};

const reasoning: Source = {
  sql: select("r.reasoning_id, r.kind, r.agent_path, r.at, r.length, r.streaming", "{reasoning}", "reasoning_id"),
  id: "reasoning_id",
  text: "reasoning",
  pending: (place, row) => ({
    weight: numberOf(row, "length"),
    complete: (text): ReasoningRow =>
      compact({
        kind: "reasoning" as const,
        ...common(place, row),
        reasoning: literalOf<ReasoningRow["reasoning"]>(row, "kind"),
        text,
        length: numberOf(row, "length"),
        streaming: numberOf(row, "streaming") === 1,
      }),
  }),
};

const large = ["title", "detail", "input", "output", "locations", "changes", "output_tail"] as const;

const activity: Source = {
  sql: select(
    `r.activity_id, r.item_id, r.type, r.status, r.agent_path, r.at, r.ended_at, r.exit_code, r.settled_by, r.title, r.detail,
      r.input, r.output, r.locations, r.changes, r.cut, r.head_length, r.output_tail, r.output_omitted, r.output_size`,
    "{activities}",
    "activity_id",
  ),
  id: "activity_id",
  text: "output",
  pending: (place, row) => ({
    weight: numberOf(row, "head_length") + lengthOf(row, large),
    complete: (head): ActivityRow =>
      compact({
        kind: "activity" as const,
        ...common(place, row),
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
        commandOutput: commandOutput(row, head),
        cut: optJson<NonNullable<ActivityRow["cut"]>>(row, "cut"),
        settledBy: settledBy(row),
        endedAt: optString(row, "ended_at"),
      }),
  }),
};

const commandOutput = (row: Row, head: string): ActivityRow["commandOutput"] => {
  const tail = optText(row, "output_tail");
  const size = optNumber(row, "output_size");
  if (numberOf(row, "head_length") === 0 && tail === undefined && size === undefined) return undefined;
  return compact({ head, omitted: optNumber(row, "output_omitted") ?? 0, tail: tail ?? "", size });
};

const task: Source = {
  sql: select(
    "r.task_id, r.kind, r.agent_path, r.at, r.child_path, r.item_id, r.status, r.title, r.summary, r.usage, r.settled_by",
    "{tasks}",
    "task_id",
  ),
  id: "task_id",
  text: undefined,
  pending: (place, row) => ({
    weight: lengthOf(row, ["title", "summary"]),
    complete: (): TaskRow =>
      compact({
        kind: "task" as const,
        ...common(place, row),
        taskId: place.rowId,
        taskKind: literalOf<TaskRow["taskKind"]>(row, "kind"),
        childPath: optJson<AgentPath>(row, "child_path"),
        itemId: optString(row, "item_id"),
        status: literalOf<TaskRow["status"]>(row, "status"),
        title: optText(row, "title"),
        summary: optText(row, "summary"),
        usage: optJson<NonNullable<TaskRow["usage"]>>(row, "usage"),
        settledBy: settledBy(row),
      }),
  }),
};

export const requestColumns = `r.thread_id, r.request_id, r.position, r.turn_id, r.agent_path, r.at, r.state, r.subject_hash,
  r.answer, r.actor, r.delivery, r.reason, r.error, r.request`;

export const requestRow = (row: Row): RequestRow => {
  const requestId = stringOf(row, "request_id");
  const place = { rowId: requestId, position: numberOf(row, "position"), turnId: optString(row, "turn_id") };
  return compact({
    kind: "request" as const,
    ...common(place, row),
    requestId,
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
};

const request: Source = {
  sql: select(requestColumns, "{requests}", "request_id"),
  id: "request_id",
  text: undefined,
  pending: (_, row) => ({ weight: lengthOf(row, ["request"]), complete: () => requestRow(row) }),
};

const plan: Source = {
  sql: select("r.plan_id, r.agent_path, r.at, r.state, r.markdown", "{plans}", "plan_id"),
  id: "plan_id",
  text: undefined,
  pending: (place, row) => ({
    weight: lengthOf(row, ["markdown"]),
    complete: (): PlanRow =>
      compact({
        kind: "plan" as const,
        ...common(place, row),
        planId: place.rowId,
        markdown: jsonOf<string>(row, "markdown"),
        state: literalOf<PlanRow["state"]>(row, "state"),
      }),
  }),
};

const notice: Source = {
  sql: select("r.notice_id, r.at, r.level, r.code, r.message, r.detail, '[]' AS agent_path", "{notices}", "notice_id"),
  id: "notice_id",
  text: undefined,
  pending: (place, row) => ({
    weight: lengthOf(row, ["message", "detail"]),
    complete: (): NoticeRow =>
      compact({
        kind: "notice" as const,
        ...common(place, row),
        level: literalOf<NoticeRow["level"]>(row, "level"),
        code: stringOf(row, "code"),
        message: optText(row, "message") ?? "",
        detail: optText(row, "detail"),
      }),
  }),
};

export const sources: { readonly [K in TimelineKind]: Source } = {
  input,
  message,
  reasoning,
  activity,
  task,
  request,
  plan,
  notice,
};
