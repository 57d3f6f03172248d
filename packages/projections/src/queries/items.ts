/** Single rows, whole: what pages show cut. */
import type { TimelineRow } from "@tributary/contracts";
import { numberOf, optString, stringOf } from "../cells.ts";
import type { TimelineKind } from "../tables/timeline.ts";
import type { Reader } from "./reader.ts";
import { completeRows, entryColumns, entryOf, pendingRows } from "./rows.ts";

type MessageRow = Extract<TimelineRow, { readonly kind: "message" }>;
type ReasoningRow = Extract<TimelineRow, { readonly kind: "reasoning" }>;
type ActivityRow = Extract<TimelineRow, { readonly kind: "activity" }>;

/** A message with its whole text: an assistant's by its message id, a person's by its input id. */
export const message = (reader: Reader, threadId: string, messageId: string): MessageRow | undefined => {
  const row = rowOf(reader, threadId, "message", messageId) ?? rowOf(reader, threadId, "input", messageId);
  return row?.kind === "message" ? row : undefined;
};

/** A piece of reasoning with its whole text. */
export const reasoning = (reader: Reader, threadId: string, reasoningId: string): ReasoningRow | undefined => {
  const row = rowOf(reader, threadId, "reasoning", reasoningId);
  return row?.kind === "reasoning" ? row : undefined;
};

export interface ItemOutput {
  readonly activity: ActivityRow;
  /** Whose journal holds the whole of what `activity.cut` and `commandOutput.omitted` leave out. */
  readonly generation: number;
}

/**
 * An activity with all that the log has of it, by its row id or by the runtime's item id (then the newest of that id,
 * since the same native id under another turn or agent is another item).
 */
export const itemOutput = (reader: Reader, threadId: string, itemId: string): ItemOutput | undefined => {
  const found =
    reader.get(
      "SELECT activity_id, generation FROM {activities} WHERE thread_id = ? AND activity_id = ?",
      threadId,
      itemId,
    ) ??
    reader.get(
      "SELECT activity_id, generation FROM {activities} WHERE thread_id = ? AND item_id = ? ORDER BY position DESC LIMIT 1",
      threadId,
      itemId,
    );
  if (found === undefined) return undefined;
  const activity = rowOf(reader, threadId, "activity", stringOf(found, "activity_id"));
  return activity?.kind === "activity" ? { activity, generation: numberOf(found, "generation") } : undefined;
};

const rowOf = (reader: Reader, threadId: string, kind: TimelineKind, rowId: string): TimelineRow | undefined => {
  const row = reader.get(
    `SELECT ${entryColumns} FROM {timeline} WHERE thread_id = ? AND kind = ? AND row_id = ? AND position IS NOT NULL`,
    threadId,
    kind,
    rowId,
  );
  return row === undefined
    ? undefined
    : completeRows(reader, threadId, pendingRows(reader, threadId, [entryOf(row)]))[0];
};

/** The root agent's current step list. */
export interface Plan {
  readonly turnId?: string;
  readonly steps: ReadonlyArray<{ readonly text: string; readonly status: "pending" | "in_progress" | "completed" }>;
  readonly explanation?: string;
}

export const plan = (reader: Reader, threadId: string): Plan | undefined => {
  const row = reader.get(
    "SELECT turn_id, steps, explanation FROM {plan_steps} WHERE thread_id = ? AND agent_path = '[]'",
    threadId,
  );
  if (row === undefined) return undefined;
  const turnId = optString(row, "turn_id");
  const explanation = optString(row, "explanation");
  return {
    ...(turnId === undefined ? {} : { turnId }),
    steps: JSON.parse(stringOf(row, "steps")) as Plan["steps"],
    ...(explanation === undefined ? {} : { explanation: JSON.parse(explanation) as string }),
  };
};
