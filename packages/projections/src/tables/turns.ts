/** Runs of the agent, and what each changed in the workspace. */
import { jsonCell } from "../cells.ts";
import { patch, put, type Part } from "../changes.ts";
import { diffStat } from "../diff-stat.ts";

export const turns: Part = {
  tables: [
    {
      name: "turns",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["turn_id", "TEXT NOT NULL"],
        ["position", "INTEGER NOT NULL"],
        ["generation", "INTEGER NOT NULL"],
        ["state", "TEXT NOT NULL"],
        ["origin", "TEXT NOT NULL"],
        ["model", "TEXT"],
        ["effort", "TEXT"],
        ["input_ids", "TEXT NOT NULL"],
        ["stop_reason", "TEXT"],
        ["settled_by", "TEXT"],
        ["started_at", "TEXT NOT NULL"],
        ["ended_at", "TEXT"],
        ["cost_usd", "REAL"],
        ["cost_basis", "TEXT"],
        ["has_diff", "INTEGER"],
        // Absent for a diff that is a blob: it is not read to be counted.
        ["diff_files", "INTEGER"],
        ["diff_added", "INTEGER"],
        ["diff_removed", "INTEGER"],
        ["usage", "TEXT"],
        ["error", "TEXT"],
      ],
      key: ["thread_id", "turn_id"],
      indexes: [
        { name: "newest", columns: ["thread_id", "position"] },
        { name: "changed", columns: ["thread_id", "position"], where: "diff_files IS NOT NULL" },
      ],
    },
    {
      name: "turn_diffs",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["turn_id", "TEXT NOT NULL"],
        ["size", "INTEGER NOT NULL"],
        ["blob", "TEXT"],
        // JSON text of the diff.
        ["diff", "TEXT"],
      ],
      key: ["thread_id", "turn_id"],
    },
  ],
  on: {
    "turn.started": (event) => [
      put("turns", {
        thread_id: event.streamId,
        turn_id: event.payload.turnId,
        position: event.sequence,
        generation: event.payload.generation,
        state: "running",
        origin: event.payload.origin,
        model: event.payload.model,
        effort: event.payload.effort,
        input_ids: JSON.stringify(event.payload.inputIds),
        started_at: event.occurredAt,
      }),
    ],
    "turn.ended": (event) => [
      patch(
        "turns",
        { thread_id: event.streamId, turn_id: event.payload.turnId },
        {
          state: event.payload.state,
          stop_reason: event.payload.stopReason,
          error: jsonCell(event.payload.error),
          usage: jsonCell(event.payload.usage),
          cost_usd: event.payload.costUsd,
          cost_basis: event.payload.costBasis,
          settled_by: event.payload.settledBy,
          ended_at: event.occurredAt,
        },
      ),
    ],
    "turn.diff_updated": (event) => {
      const { turnId, unifiedDiff, blob, size } = event.payload;
      const key = { thread_id: event.streamId, turn_id: turnId };
      const stat = unifiedDiff === undefined ? undefined : diffStat(unifiedDiff);
      return [
        patch("turns", key, {
          has_diff: 1,
          diff_files: stat?.files ?? null,
          diff_added: stat?.added ?? null,
          diff_removed: stat?.removed ?? null,
        }),
        put("turn_diffs", { ...key, size, blob, diff: jsonCell(unifiedDiff) }),
      ];
    },
  },
};
