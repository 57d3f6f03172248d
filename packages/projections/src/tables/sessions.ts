/** Incarnations of a runtime attached to a thread, one row a generation. */
import { jsonCell } from "../cells.ts";
import { patch, put, type Part } from "../changes.ts";

export const sessions: Part = {
  tables: [
    {
      name: "sessions",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["generation", "INTEGER NOT NULL"],
        ["position", "INTEGER NOT NULL"],
        ["state", "TEXT NOT NULL"],
        ["native_session_id", "TEXT"],
        ["resumed", "INTEGER"],
        ["model", "TEXT"],
        ["effort", "TEXT"],
        ["service_tier", "TEXT"],
        ["opened_at", "TEXT NOT NULL"],
        ["started_at", "TEXT"],
        ["ended_at", "TEXT"],
        ["release_reason", "TEXT"],
        ["capabilities", "TEXT"],
        ["options", "TEXT"],
        ["error", "TEXT"],
        ["exit", "TEXT"],
      ],
      key: ["thread_id", "generation"],
    },
  ],
  on: {
    "session.opening": (event) => [
      put("sessions", {
        ...keyOf(event.streamId, event.payload.generation),
        position: event.sequence,
        state: "opening",
        native_session_id: event.payload.resume,
        opened_at: event.occurredAt,
      }),
    ],
    "session.started": (event) => [
      patch("sessions", keyOf(event.streamId, event.payload.generation), {
        state: "ready",
        native_session_id: event.payload.nativeSessionId,
        resumed: event.payload.resumed ? 1 : 0,
        model: event.payload.model,
        effort: event.payload.effort,
        capabilities: jsonCell(event.payload.capabilities),
        started_at: event.occurredAt,
      }),
    ],
    "session.configured": (event) => [
      patch("sessions", keyOf(event.streamId, event.payload.generation), {
        native_session_id: event.payload.nativeSessionId,
        model: event.payload.model,
        effort: event.payload.effort,
        service_tier: event.payload.serviceTier,
        options: jsonCell(event.payload.options),
      }),
    ],
    "session.exited": (event) => {
      const { generation, ...exit } = event.payload;
      return [
        patch("sessions", keyOf(event.streamId, generation), {
          state: "exited",
          exit: JSON.stringify(exit),
          ended_at: event.occurredAt,
        }),
      ];
    },
    "session.released": (event) => [
      patch("sessions", keyOf(event.streamId, event.payload.generation), {
        state: "released",
        release_reason: event.payload.reason,
        ended_at: event.occurredAt,
      }),
    ],
    "session.failed": (event) => [
      patch("sessions", keyOf(event.streamId, event.payload.generation), {
        state: "failed",
        error: jsonCell(event.payload.error),
        ended_at: event.occurredAt,
      }),
    ],
  },
};

const keyOf = (threadId: string, generation: number) => ({ thread_id: threadId, generation });
