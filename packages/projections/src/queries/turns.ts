/** Turns and their diffs. */
import type { TurnView } from "@tributary/contracts";
import { compact, jsonOf, literalOf, numberOf, optJson, optNumber, optString, stringOf, type Row } from "../cells.ts";
import { keys, type Reader } from "./reader.ts";

export const turnColumns =
  "t.turn_id, t.position, t.state, t.stop_reason, t.error, t.usage, t.cost_usd, t.started_at, t.ended_at, t.has_diff";

export const turnView = (row: Row): TurnView =>
  compact({
    id: stringOf(row, "turn_id"),
    state: literalOf<TurnView["state"]>(row, "state"),
    error: optJson<NonNullable<TurnView["error"]>>(row, "error"),
    stopReason: optString(row, "stop_reason"),
    usage: optJson<NonNullable<TurnView["usage"]>>(row, "usage"),
    costUsd: optNumber(row, "cost_usd"),
    startedAt: stringOf(row, "started_at"),
    endedAt: optString(row, "ended_at"),
    hasDiff: optNumber(row, "has_diff") === 1 ? true : undefined,
  });

export const turn = (reader: Reader, threadId: string, turnId: string): TurnView | undefined => {
  const row = reader.get(
    `SELECT ${turnColumns} FROM {turns} AS t WHERE t.thread_id = ? AND t.turn_id = ?`,
    threadId,
    turnId,
  );
  return row === undefined ? undefined : turnView(row);
};

/** Those of the named turns that exist, in the order in which they began. */
export const turnsOf = (reader: Reader, threadId: string, ids: ReadonlyArray<string>): ReadonlyArray<TurnView> =>
  reader
    .all(
      `SELECT ${turnColumns} FROM json_each(?2) AS k CROSS JOIN {turns} AS t WHERE t.thread_id = ?1 AND t.turn_id = k.value`,
      threadId,
      keys(ids),
    )
    .toSorted((a, b) => numberOf(a, "position") - numberOf(b, "position"))
    .map(turnView);

/** What a turn changed so far. A diff above the cap is a blob of the journal, named by its hash. */
export type TurnDiff =
  | { readonly unifiedDiff: string; readonly size: number }
  | { readonly blob: string; readonly size: number };

export const turnDiff = (reader: Reader, threadId: string, turnId: string): TurnDiff | undefined => {
  const row = reader.get(
    "SELECT size, blob, diff FROM {turn_diffs} WHERE thread_id = ? AND turn_id = ?",
    threadId,
    turnId,
  );
  if (row === undefined) return undefined;
  const size = numberOf(row, "size");
  const blob = optString(row, "blob");
  return blob === undefined ? { unifiedDiff: jsonOf<string>(row, "diff"), size } : { blob, size };
};
