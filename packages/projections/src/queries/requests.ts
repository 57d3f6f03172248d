/** Requests by state, of one thread or of all. */
import type { RequestState, RequestRow } from "@tributary/contracts";
import { numberOf } from "../cells.ts";
import type { Reader } from "./reader.ts";
import { requestColumns, requestRow } from "./row-sources.ts";

export interface RequestQuery {
  readonly state: RequestState;
  readonly threadId?: string;
  /** Position to go on from. */
  readonly after?: number;
  readonly limit: number;
}

export interface RequestList {
  /** In the order in which they were asked. Those of deleted threads are left out, so there may be fewer than asked for. */
  readonly requests: ReadonlyArray<RequestRow>;
  /** To go on from, when there may be more. */
  readonly after: number | undefined;
}

/**
 * Requests of one id: in one thread, else in all that are not deleted, because ids are unique within a thread only. The
 * newest that wait for an answer, or, where none does, the newest of the others. At most `limit`.
 */
export const requestsById = (
  reader: Reader,
  query: { readonly requestId: string; readonly threadId?: string; readonly limit: number },
): ReadonlyArray<RequestRow> => {
  const { requestId, threadId, limit } = query;
  const isThere = "EXISTS (SELECT 1 FROM {threads} AS t WHERE t.thread_id = r.thread_id AND t.deleted = 0)";
  const select = (where: string) => `SELECT ${requestColumns} FROM {requests} AS r WHERE ${where} AND ${isThere}`;
  if (threadId !== undefined)
    return reader.all(select("r.thread_id = ? AND r.request_id = ?"), threadId, requestId).map(requestRow);
  const newest = (which: string) =>
    reader.all(`${select(`r.request_id = ?${which}`)} ORDER BY r.position DESC LIMIT ?`, requestId, limit);
  const waiting = newest(" AND r.state = 'pending'");
  return (waiting.length > 0 ? waiting : newest("")).map(requestRow);
};

export const requests = (reader: Reader, query: RequestQuery): RequestList => {
  const after = query.after ?? 0;
  const columns = `${requestColumns}, (SELECT t.deleted FROM {threads} AS t WHERE t.thread_id = r.thread_id) AS deleted`;
  const rows =
    query.threadId === undefined
      ? reader.all(
          `SELECT ${columns} FROM {requests} AS r WHERE r.state = ? AND r.position > ? ORDER BY r.position LIMIT ?`,
          query.state,
          after,
          query.limit,
        )
      : reader.all(
          `SELECT ${columns} FROM {requests} AS r WHERE r.thread_id = ? AND r.state = ? AND r.position > ?
            ORDER BY r.position LIMIT ?`,
          query.threadId,
          query.state,
          after,
          query.limit,
        );
  const last = rows.at(-1);
  return {
    requests: rows.filter((row) => row["deleted"] === 0).map(requestRow),
    after: rows.length === query.limit && last !== undefined ? numberOf(last, "position") : undefined,
  };
};
