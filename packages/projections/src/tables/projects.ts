/** Registered workspace roots. */
import { patch, put, type Part } from "../changes.ts";
import { textCell } from "../cells.ts";

export const projects: Part = {
  tables: [
    {
      name: "projects",
      columns: [
        ["project_id", "TEXT NOT NULL"],
        ["root", "TEXT NOT NULL"],
        ["title", "TEXT NOT NULL"],
        ["deleted", "INTEGER NOT NULL"],
        ["position", "INTEGER NOT NULL"],
        ["created_at", "TEXT NOT NULL"],
        ["updated_at", "TEXT NOT NULL"],
      ],
      key: ["project_id"],
      indexes: [{ name: "list", columns: ["position"], where: "deleted = 0" }],
    },
  ],
  on: {
    "project.created": (event) => [
      put("projects", {
        project_id: event.streamId,
        root: event.payload.root,
        title: textCell(event.payload.title),
        deleted: 0,
        position: event.sequence,
        created_at: event.occurredAt,
        updated_at: event.occurredAt,
      }),
    ],
    "project.updated": (event) => [
      patch(
        "projects",
        { project_id: event.streamId },
        { title: textCell(event.payload.title), updated_at: event.occurredAt },
      ),
    ],
    "project.deleted": (event) => [
      patch("projects", { project_id: event.streamId }, { deleted: 1, updated_at: event.occurredAt }),
    ],
  },
};
