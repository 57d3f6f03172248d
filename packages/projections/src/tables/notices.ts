/** What Tributary or a runtime wants a person to know. */
import { textCell } from "../cells.ts";
import { put, type Part } from "../changes.ts";

export const notices: Part = {
  tables: [
    {
      name: "notices",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["notice_id", "TEXT NOT NULL"],
        ["position", "INTEGER NOT NULL"],
        ["turn_id", "TEXT"],
        ["level", "TEXT NOT NULL"],
        ["code", "TEXT NOT NULL"],
        ["at", "TEXT NOT NULL"],
        ["message", "TEXT NOT NULL"],
        ["detail", "TEXT"],
      ],
      key: ["thread_id", "notice_id"],
    },
  ],
  on: {
    "notice.recorded": (event) => [
      put("notices", {
        thread_id: event.streamId,
        notice_id: event.payload.noticeId,
        position: event.sequence,
        turn_id: event.payload.turnId,
        level: event.payload.level,
        code: event.payload.code,
        at: event.occurredAt,
        message: textCell(event.payload.message),
        detail: event.payload.detail === undefined ? undefined : textCell(event.payload.detail),
      }),
    ],
  },
};
