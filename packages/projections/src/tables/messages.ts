/** Assistant messages: one row a message, its text in chunk rows. A person's message is its input. */
import { patch, put, remove, type Part } from "../changes.ts";
import { chunk, chunkTable, join, wholeText } from "../text-chunks.ts";

export const messages: Part = {
  tables: [
    {
      name: "messages",
      columns: [
        ["thread_id", "TEXT NOT NULL"],
        ["message_id", "TEXT NOT NULL"],
        ["position", "INTEGER NOT NULL"],
        ["turn_id", "TEXT"],
        ["agent_path", "TEXT NOT NULL"],
        ["item_id", "TEXT NOT NULL"],
        ["segment", "INTEGER NOT NULL"],
        ["generation", "INTEGER NOT NULL"],
        // UTF-16 code units of the whole.
        ["length", "INTEGER NOT NULL"],
        ["streaming", "INTEGER NOT NULL"],
        ["settled_by", "TEXT"],
        ["at", "TEXT NOT NULL"],
        ["ended_at", "TEXT"],
      ],
      key: ["thread_id", "message_id"],
      // Covering, for without it the planner prefers to walk the primary key.
      indexes: [{ name: "streaming", columns: ["thread_id", "position", "at"], where: "streaming = 1" }],
      withoutRowid: true,
    },
    chunkTable("message_chunks", "message_id", "offset"),
  ],
  on: {
    "message.appended": (event) => {
      const { messageId, offset, text, start } = event.payload;
      const key = { thread_id: event.streamId, message_id: messageId };
      const pieces = chunk("message_chunks", { ...key, offset }, text);
      if (start === undefined) return [patch("messages", key, {}, { add: { length: text.length } }), ...pieces];
      return [
        put("messages", {
          ...key,
          position: event.sequence,
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
    "message.completed": (event) => {
      const key = { thread_id: event.streamId, message_id: event.payload.messageId };
      const ended = { streaming: 0, settled_by: event.payload.settledBy, ended_at: event.occurredAt };
      return [patch("messages", key, ended), join("message_chunks", key)];
    },
    "message.replaced": (event) => {
      const { messageId, text } = event.payload;
      const key = { thread_id: event.streamId, message_id: messageId };
      return [
        patch("messages", key, { length: text.length }),
        remove("message_chunks", key),
        ...wholeText("message_chunks", key, text),
      ];
    },
    // Gone from every view: the log still has it, and the timeline no longer names it.
    "message.retracted": (event) => {
      const key = { thread_id: event.streamId, message_id: event.payload.messageId };
      return [remove("messages", key), remove("message_chunks", key)];
    },
  },
};
