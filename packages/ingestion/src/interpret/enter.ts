/**
 * The way into the log. An event of the thread that is about to enter it flushes coalesced updates first, so that what
 * people see has the order in which it happened (4.9).
 */
import type { InternalCommand, RecordPosition, RefusalReason } from "@tributary/contracts";
import { settleHeld } from "../accounts.ts";
import { capActivity, fit } from "./caps.ts";
import { updateDeadline, usageDeadline } from "./coalesce.ts";
import type { PendingDiff, PendingRow } from "./coalesce.ts";
import { position } from "./interpretation.ts";
import type { Interpretation } from "./interpretation.ts";
import { diffBytes } from "../limits.ts";
import { utf8Bytes } from "../text/utf16.ts";

const rowCommand = (it: Interpretation, id: string, row: PendingRow): InternalCommand =>
  row.kind === "activity"
    ? { type: "activity.update", activityId: id, ...capActivity(row.fields, row.record, it.blobs) }
    : { type: "task.update", taskId: id, ...fit(row.fields) };

/** A diff is never cut: one that is too large for an event is a blob. */
const diffCommand = (it: Interpretation, turnId: string, { text }: PendingDiff): InternalCommand => {
  const blob = utf8Bytes(text) > diffBytes ? it.blobs(text) : undefined;
  const { generation } = it.memory;
  const what = blob === undefined ? { unifiedDiff: text } : { blob };
  return { type: "turn.diff", generation, turnId, size: text.length, ...what };
};

type Due = (deadline: number) => boolean;

const always: Due = () => true;

/** Puts coalesced updates into the log: all, or those that are due. */
export const flushPending = (it: Interpretation, due: Due = always): void => {
  const { rows, usage, diffs, accounts } = it.memory;
  if (rows.size + usage.size + diffs.size === 0) return;
  const settle = (type: string, events: number, record: RecordPosition, command: InternalCommand): void => {
    const refusal = it.decide(command, record);
    settleHeld(accounts, events, refusal);
    if (refusal !== undefined) it.note(record.seq, type, refusal, events);
  };
  for (const [id, row] of rows) {
    if (!due(updateDeadline(row))) continue;
    rows.delete(id);
    settle(row.kind === "activity" ? "item.updated" : "task.updated", row.events, row.record, rowCommand(it, id, row));
  }
  for (const [key, pending] of usage) {
    if (!due(usageDeadline(pending))) continue;
    usage.delete(key);
    settle("usage.updated", pending.events, pending.record, { type: "usage.record", ...pending.usage });
  }
  for (const [turnId, diff] of diffs) {
    if (!due(usageDeadline(diff))) continue;
    diffs.delete(turnId);
    settle("turn.diff", diff.events, diff.record, diffCommand(it, turnId, diff));
  }
};

/** Decides a command of the event that is being interpreted, after what was waiting. */
export const enter = (it: Interpretation, command: InternalCommand): RefusalReason | undefined => {
  flushPending(it);
  return it.decide(command, position(it));
};
