/** What agents asked of people, across threads by state. */
import { jsonCell, textCell } from "../cells.ts";
import { patch, put, type Part } from "../changes.ts";

export const requests: Part = {
  tables: [
    {
      name: "requests",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["request_id", "TEXT NOT NULL"],
        ["position", "INTEGER NOT NULL"],
        ["state", "TEXT NOT NULL"],
        ["kind", "TEXT NOT NULL"],
        ["blocking", "INTEGER NOT NULL"],
        ["turn_id", "TEXT"],
        ["agent_path", "TEXT NOT NULL"],
        ["item_id", "TEXT"],
        ["generation", "INTEGER NOT NULL"],
        ["subject_hash", "TEXT NOT NULL"],
        ["delivery", "TEXT"],
        ["at", "TEXT NOT NULL"],
        ["resolved_at", "TEXT"],
        ["title", "TEXT"],
        ["actor", "TEXT"],
        ["reason", "TEXT"],
        ["error", "TEXT"],
        ["answer", "TEXT"],
        ["request", "TEXT NOT NULL"],
      ],
      key: ["thread_id", "request_id"],
      indexes: [
        { name: "state", columns: ["state", "position"] },
        { name: "id", columns: ["request_id", "position"] },
        { name: "thread_state", columns: ["thread_id", "state", "position"] },
      ],
    },
  ],
  on: {
    "request.opened": (event) => {
      const { requestId, turnId, agentPath, itemId, generation, subjectHash, ...request } = event.payload;
      return [
        put("requests", {
          thread_id: event.streamId,
          request_id: requestId,
          position: event.sequence,
          state: "pending",
          kind: request.kind,
          blocking: request.blocking === false ? 0 : 1,
          turn_id: turnId,
          agent_path: JSON.stringify(agentPath),
          item_id: itemId,
          generation,
          subject_hash: subjectHash,
          at: event.occurredAt,
          title: request.title === undefined ? undefined : textCell(request.title),
          request: JSON.stringify(request),
        }),
      ];
    },
    "request.answering": (event) => [
      patch("requests", keyOf(event.streamId, event.payload.requestId), {
        state: "answering",
        answer: jsonCell(event.payload.answer),
        actor: jsonCell(event.payload.by),
        error: null,
      }),
    ],
    "request.answered": (event) => [
      patch("requests", keyOf(event.streamId, event.payload.requestId), {
        state: "answered",
        answer: jsonCell(event.payload.answer),
        actor: jsonCell(event.payload.by),
        delivery: event.payload.delivery,
        resolved_at: event.occurredAt,
      }),
    ],
    "request.withdrawn": (event) => [
      patch("requests", keyOf(event.streamId, event.payload.requestId), {
        state: "withdrawn",
        reason: textCell(event.payload.reason),
        resolved_at: event.occurredAt,
      }),
    ],
    "request.expired": (event) => [
      patch("requests", keyOf(event.streamId, event.payload.requestId), {
        state: "expired",
        reason: textCell(event.payload.reason),
        resolved_at: event.occurredAt,
      }),
    ],
    // Nothing was written, so nobody has answered.
    "request.delivery_failed": (event) => [
      patch("requests", keyOf(event.streamId, event.payload.requestId), {
        state: "pending",
        answer: null,
        actor: null,
        error: jsonCell(event.payload.error),
      }),
    ],
  },
};

const keyOf = (threadId: string, requestId: string) => ({ thread_id: threadId, request_id: requestId });
