/** What the agent thought, marked apart from what it said (4.7). */
import { patch, put, type Part } from "../changes.ts";
import { chunk, chunkTable, join } from "../text-chunks.ts";

export const reasoning: Part = {
  tables: [
    {
      name: "reasoning",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["reasoning_id", "TEXT NOT NULL"],
        ["position", "INTEGER NOT NULL"],
        ["kind", "TEXT NOT NULL"],
        ["turn_id", "TEXT"],
        ["agent_path", "TEXT NOT NULL"],
        ["item_id", "TEXT NOT NULL"],
        ["segment", "INTEGER NOT NULL"],
        ["generation", "INTEGER NOT NULL"],
        ["length", "INTEGER NOT NULL"],
        ["streaming", "INTEGER NOT NULL"],
        ["settled_by", "TEXT"],
        ["at", "TEXT NOT NULL"],
        ["ended_at", "TEXT"],
      ],
      key: ["thread_id", "reasoning_id"],
      // Covering, for without it the planner prefers to walk the primary key.
      indexes: [{ name: "streaming", columns: ["thread_id", "position", "at"], where: "streaming = 1" }],
      withoutRowid: true,
    },
    chunkTable("reasoning_chunks", "reasoning_id", "offset"),
  ],
  on: {
    "reasoning.appended": (event) => {
      const { reasoningId, kind, offset, text, start } = event.payload;
      const key = { thread_id: event.streamId, reasoning_id: reasoningId };
      const pieces = chunk("reasoning_chunks", { ...key, offset }, text);
      if (start === undefined) return [patch("reasoning", key, {}, { add: { length: text.length } }), ...pieces];
      return [
        put("reasoning", {
          ...key,
          position: event.sequence,
          kind,
          turn_id: start.turnId,
          agent_path: JSON.stringify(start.agentPath),
          item_id: start.itemId,
          segment: start.segment,
          generation: start.generation,
          length: text.length,
          streaming: 1,
          at: event.occurredAt,
        }),
        ...pieces,
      ];
    },
    "reasoning.completed": (event) => {
      const key = { thread_id: event.streamId, reasoning_id: event.payload.reasoningId };
      const ended = { streaming: 0, settled_by: event.payload.settledBy, ended_at: event.occurredAt };
      return [patch("reasoning", key, ended), join("reasoning_chunks", key)];
    },
  },
};
