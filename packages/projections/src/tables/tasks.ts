/** Sub-agents and background work. */
import type { DomainPayloads } from "@tributary/contracts";
import { jsonCell, textCell, type Cells } from "../cells.ts";
import { patch, put, type Part } from "../changes.ts";

export const tasks: Part = {
  tables: [
    {
      name: "tasks",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["task_id", "TEXT NOT NULL"],
        ["position", "INTEGER NOT NULL"],
        ["kind", "TEXT NOT NULL"],
        ["turn_id", "TEXT"],
        ["agent_path", "TEXT NOT NULL"],
        ["child_path", "TEXT"],
        ["item_id", "TEXT"],
        ["generation", "INTEGER NOT NULL"],
        ["status", "TEXT NOT NULL"],
        ["settled_by", "TEXT"],
        ["at", "TEXT NOT NULL"],
        ["ended_at", "TEXT"],
        ["title", "TEXT"],
        ["usage", "TEXT"],
        ["summary", "TEXT"],
      ],
      key: ["thread_id", "task_id"],
      indexes: [{ name: "running", columns: ["thread_id"], where: "status = 'in_progress'" }],
    },
  ],
  on: {
    "task.started": (event) => {
      const { payload } = event;
      return [
        put("tasks", {
          thread_id: event.streamId,
          task_id: payload.taskId,
          position: event.sequence,
          kind: payload.kind,
          turn_id: payload.turnId,
          agent_path: JSON.stringify(payload.agentPath),
          child_path: jsonCell(payload.childPath),
          item_id: payload.itemId,
          generation: payload.generation,
          at: event.occurredAt,
          ...fields(payload),
          status: payload.status ?? "in_progress",
        }),
      ];
    },
    "task.updated": (event) => [
      patch("tasks", { thread_id: event.streamId, task_id: event.payload.taskId }, fields(event.payload)),
    ],
    "task.ended": (event) => [
      patch(
        "tasks",
        { thread_id: event.streamId, task_id: event.payload.taskId },
        { ...fields(event.payload), settled_by: event.payload.settledBy, ended_at: event.occurredAt },
      ),
    ],
  },
};

const fields = (payload: Omit<DomainPayloads["task.updated"], "taskId">): Cells => ({
  status: payload.status,
  title: payload.title === undefined ? undefined : textCell(payload.title),
  summary: payload.summary === undefined ? undefined : textCell(payload.summary),
  usage: jsonCell(payload.usage),
});
