/** What a person would fold away: commands, file changes, searches, tools, with start, updates and end. */
import type { DomainPayloads } from "@tributary/contracts";
import type { RowChange } from "@tributary/store";
import { jsonCell, textCell, type Cells, type Row } from "../cells.ts";
import { patch, put, type Part } from "../changes.ts";
import { changesStat } from "../diff-stat.ts";
import { chunk, chunkTable, join } from "../text-chunks.ts";

export const activities: Part = {
  tables: [
    {
      name: "activities",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["activity_id", "TEXT NOT NULL"],
        ["position", "INTEGER NOT NULL"],
        ["item_id", "TEXT NOT NULL"],
        ["type", "TEXT NOT NULL"],
        ["turn_id", "TEXT"],
        ["agent_path", "TEXT NOT NULL"],
        ["generation", "INTEGER NOT NULL"],
        ["status", "TEXT NOT NULL"],
        ["exit_code", "INTEGER"],
        ["settled_by", "TEXT"],
        ["at", "TEXT NOT NULL"],
        ["ended_at", "TEXT"],
        // UTF-16 code units in activity_output.
        ["head_length", "INTEGER NOT NULL"],
        ["output_omitted", "INTEGER"],
        ["output_size", "INTEGER"],
        ["changed_added", "INTEGER"],
        ["changed_removed", "INTEGER"],
        ["changed_paths", "TEXT"],
        ["title", "TEXT"],
        // Large ones last, so that what a list needs is read without them.
        ["detail", "TEXT"],
        ["cut", "TEXT"],
        ["locations", "TEXT"],
        ["input", "TEXT"],
        ["output", "TEXT"],
        ["changes", "TEXT"],
        ["output_tail", "TEXT"],
      ],
      key: ["thread_id", "activity_id"],
      indexes: [
        { name: "item", columns: ["thread_id", "item_id", "position"] },
        { name: "open", columns: ["thread_id", "position"], where: "status = 'in_progress'" },
        {
          name: "changed",
          columns: ["thread_id", "position"],
          where: "status = 'completed' AND changed_paths IS NOT NULL",
        },
        {
          name: "turn_changes",
          columns: ["thread_id", "turn_id", "changed_added", "changed_removed", "changed_paths"],
          where: "status = 'completed' AND changed_paths IS NOT NULL",
        },
      ],
    },
    // The head of a command's output; its tail comes with the end.
    chunkTable("activity_output", "activity_id", "sequence"),
  ],
  on: {
    "activity.started": (event) => {
      const { payload } = event;
      const key = { thread_id: event.streamId, activity_id: payload.activityId };
      return [
        put("activities", {
          ...key,
          position: event.sequence,
          item_id: payload.itemId,
          type: payload.itemType,
          turn_id: payload.turnId,
          agent_path: JSON.stringify(payload.agentPath),
          generation: payload.generation,
          at: event.occurredAt,
          head_length: payload.commandOutput?.append?.length ?? 0,
          ...fields(payload),
          status: payload.status ?? "in_progress",
        }),
        ...outputHead(key, event.sequence, payload),
      ];
    },
    "activity.updated": (event) => {
      const key = { thread_id: event.streamId, activity_id: event.payload.activityId };
      return [
        patch("activities", key, fields(event.payload), headGrowth(event.payload)),
        ...outputHead(key, event.sequence, event.payload),
      ];
    },
    "activity.ended": (event) => {
      const { payload } = event;
      const key = { thread_id: event.streamId, activity_id: payload.activityId };
      const ended = { ...fields(payload), settled_by: payload.settledBy, ended_at: event.occurredAt };
      return [
        patch("activities", key, ended, headGrowth(payload)),
        ...outputHead(key, event.sequence, payload),
        ...(payload.commandOutput === undefined ? [] : [join("activity_output", key)]),
      ];
    },
  },
};

type Fields = Omit<DomainPayloads["activity.updated"], "activityId">;

const fields = (payload: Fields): Cells => {
  const stat = payload.changes === undefined ? undefined : changesStat(payload.changes);
  return {
    status: payload.status,
    title: payload.title === undefined ? undefined : textCell(payload.title),
    detail: payload.detail === undefined ? undefined : textCell(payload.detail),
    input: jsonCell(payload.input),
    output: jsonCell(payload.output),
    exit_code: payload.exitCode,
    locations: jsonCell(payload.locations),
    changes: jsonCell(payload.changes),
    changed_paths: jsonCell(stat?.paths),
    changed_added: stat?.added,
    changed_removed: stat?.removed,
    cut: jsonCell(payload.cut),
    output_tail: payload.commandOutput?.tail === undefined ? undefined : textCell(payload.commandOutput.tail),
    output_omitted: payload.commandOutput?.omitted,
    output_size: payload.commandOutput?.size,
  };
};

const headGrowth = ({ commandOutput }: Fields): { readonly add?: { readonly head_length: number } } =>
  commandOutput?.append === undefined ? {} : { add: { head_length: commandOutput.append.length } };

const outputHead = (key: Row, sequence: number, { commandOutput }: Fields): ReadonlyArray<RowChange> =>
  commandOutput?.append === undefined ? [] : chunk("activity_output", { ...key, sequence }, commandOutput.append);
