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
 * Requests of one id, whatever became of them: in one thread, else in all that are not deleted, because ids are unique
 * within a thread only. Open ones first, then the newest. At most `limit`.
 */
export const requestsById = (
  reader: Reader,
  query: { readonly requestId: string; readonly threadId?: string; readonly limit: number },
): ReadonlyArray<RequestRow> => {
  const { requestId, threadId, limit } = query;
  const rest = `EXISTS (SELECT 1 FROM {threads} AS t WHERE t.thread_id = r.thread_id AND t.deleted = 0)
    ORDER BY r.state IN ('pending', 'answering') DESC, r.position DESC LIMIT ?`;
  const rows =
    threadId === undefined
      ? reader.all(`SELECT ${requestColumns} FROM {requests} AS r WHERE r.request_id = ? AND ${rest}`, requestId, limit)
      : reader.all(
          `SELECT ${requestColumns} FROM {requests} AS r WHERE r.thread_id = ? AND r.request_id = ? AND ${rest}`,
          threadId,
          requestId,
          limit,
        );
  return rows.map(requestRow);
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
