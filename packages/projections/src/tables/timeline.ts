/**
 * The one merged list of a thread: every row that a reader sees, by `position`, the sequence of its first event. It holds
 * no content; the row's own table does. Positions never change, so a page boundary never moves.
 */
import type { AgentPath, StoredEvent } from "@tributary/contracts";
import type { RowChange } from "@tributary/store";
import { patch, put, remove, type Part } from "../changes.ts";

/** `input` is the user's message: its text lives in the inputs table. */
export type TimelineKind = "input" | "message" | "reasoning" | "activity" | "task" | "request" | "plan" | "notice";

export const timeline: Part = {
  tables: [
    {
      name: "timeline",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["kind", "TEXT NOT NULL"],
        ["row_id", "TEXT NOT NULL"],
        // NULL while an input has not been handed over: it is not a message yet.
        ["position", "INTEGER"],
        ["turn_id", "TEXT"],
        // 1 for what the person or the root agent said: the shell's preview is the newest of these.
        ["spoken", "INTEGER NOT NULL"],
      ],
      key: ["thread_id", "kind", "row_id"],
      indexes: [
        { name: "page", columns: ["thread_id", "position", "turn_id"], where: "position IS NOT NULL" },
        { name: "spoken", columns: ["thread_id", "position"], where: "spoken = 1 AND position IS NOT NULL" },
      ],
      withoutRowid: true,
    },
  ],
  on: {
    "input.queued": (event) =>
      event.payload.again === true
        ? []
        : [
            put("timeline", {
              thread_id: event.streamId,
              kind: "input",
              row_id: event.payload.inputId,
              spoken: 1,
            }),
          ],
    // A second hand-over of a resubmitted input keeps the place of the first.
    "input.handed_over": (event) => [
      patch("timeline", keyOf(event, "input", event.payload.inputId), {}, { setIfNull: { position: event.sequence } }),
    ],
    "input.started": (event) => [
      patch("timeline", keyOf(event, "input", event.payload.inputId), { turn_id: event.payload.turnId }),
    ],
    // The runtime gave it back unread: it never was a message.
    "input.withdrawn": (event) => [
      patch("timeline", keyOf(event, "input", event.payload.inputId), { position: null, turn_id: null }),
    ],
    "message.appended": (event) =>
      event.payload.start === undefined ? [] : [row(event, "message", event.payload.messageId, event.payload.start)],
    "message.retracted": (event) => [remove("timeline", keyOf(event, "message", event.payload.messageId))],
    "reasoning.appended": (event) =>
      event.payload.start === undefined
        ? []
        : [row(event, "reasoning", event.payload.reasoningId, event.payload.start)],
    "activity.started": (event) => [row(event, "activity", event.payload.activityId, event.payload)],
    "task.started": (event) => [row(event, "task", event.payload.taskId, event.payload)],
    "request.opened": (event) => [row(event, "request", event.payload.requestId, event.payload)],
    "plan.proposed": (event) => [row(event, "plan", event.payload.planId, event.payload)],
    "notice.recorded": (event) => [row(event, "notice", event.payload.noticeId, { ...event.payload, agentPath: [] })],
  },
};

const keyOf = (event: StoredEvent, kind: TimelineKind, id: string) => ({ thread_id: event.streamId, kind, row_id: id });

const row = (
  event: StoredEvent,
  kind: TimelineKind,
  id: string,
  place: { readonly turnId?: string; readonly agentPath: AgentPath },
): RowChange =>
  put("timeline", {
    ...keyOf(event, kind, id),
    position: event.sequence,
    turn_id: place.turnId,
    spoken: kind === "message" && place.agentPath.length === 0 ? 1 : 0,
  });
