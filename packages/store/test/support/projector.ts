/** A small projector that uses every kind of change: what a view of threads and their messages would need. */
import type { DomainEventOf, DomainEventType, StoredEvent } from "@tributary/contracts";
import type { Projector, RowChange, TableSpec } from "@tributary/store";

const tables: ReadonlyArray<TableSpec> = [
  {
    name: "threads",
    columns: [
      ["thread_id", "TEXT NOT NULL"],
      ["title", "TEXT"],
      ["inputs", "INTEGER NOT NULL DEFAULT 0"],
      ["first_input", "TEXT"],
      ["updated", "INTEGER NOT NULL"],
    ],
    key: ["thread_id"],
    indexes: [{ name: "updated", columns: ["updated DESC"] }],
  },
  {
    name: "rows",
    columns: [
      ["thread_id", "TEXT NOT NULL"],
      ["position", "INTEGER NOT NULL"],
      ["id", "TEXT NOT NULL"],
      ["kind", "TEXT NOT NULL"],
      ["text", "TEXT"],
    ],
    key: ["thread_id", "position"],
    withoutRowid: true,
    indexes: [{ name: "id", columns: ["thread_id", "id"], unique: true }],
  },
  {
    name: "chunks",
    columns: [
      ["thread_id", "TEXT NOT NULL"],
      ["message_id", "TEXT NOT NULL"],
      ["offset", "INTEGER NOT NULL"],
      ["text", "TEXT NOT NULL"],
    ],
    key: ["thread_id", "message_id", "offset"],
    withoutRowid: true,
  },
];

/** Chunks are joined up to this many code units: small, so that tests see both joined and separate ones. */
export const chunkLimit = 40;

type Handlers = {
  readonly [T in DomainEventType]?: (
    payload: DomainEventOf<T>["payload"],
    event: { readonly threadId: string; readonly sequence: number },
  ) => ReadonlyArray<RowChange>;
};

const handlers: Handlers = {
  "thread.created": ({ title }, { threadId, sequence }) => [
    { op: "put", table: "threads", row: { thread_id: threadId, title: title ?? null, inputs: 0, updated: sequence } },
  ],
  "thread.renamed": ({ title }, { threadId, sequence }) => [
    { op: "patch", table: "threads", key: { thread_id: threadId }, set: { title, updated: sequence } },
  ],
  "input.queued": ({ inputId, text }, { threadId, sequence }) => [
    {
      op: "patch",
      table: "threads",
      key: { thread_id: threadId },
      add: { inputs: 1 },
      setIfNull: { first_input: inputId },
      set: { updated: sequence },
    },
    {
      op: "put",
      table: "rows",
      row: { thread_id: threadId, position: sequence, id: inputId, kind: "input", text },
    },
  ],
  "message.appended": ({ messageId, offset, text }, { threadId, sequence }) => [
    ...(offset === 0
      ? [
          {
            op: "put",
            table: "rows",
            row: { thread_id: threadId, position: sequence, id: messageId, kind: "message" },
          } as const,
        ]
      : []),
    { op: "put", table: "chunks", row: { thread_id: threadId, message_id: messageId, offset, text } },
  ],
  "message.completed": ({ messageId }, { threadId }) => [
    {
      op: "merge",
      table: "chunks",
      key: { thread_id: threadId, message_id: messageId },
      column: "text",
      limit: chunkLimit,
    },
  ],
  "message.retracted": ({ messageId }, { threadId }) => [
    { op: "delete", table: "chunks", key: { thread_id: threadId, message_id: messageId } },
  ],
  "thread.purged": (_, { threadId }) => [
    { op: "delete", table: "threads", key: { thread_id: threadId } },
    { op: "delete", table: "rows", key: { thread_id: threadId } },
    { op: "delete", table: "chunks", key: { thread_id: threadId } },
  ],
};

/** Finds the handler of an event; the type ties it to the payload. */
const run = (event: StoredEvent): ReadonlyArray<RowChange> => {
  const handle = handlers[event.type] as
    | ((payload: unknown, place: { threadId: string; sequence: number }) => ReadonlyArray<RowChange>)
    | undefined;
  return handle?.(event.payload, { threadId: event.streamId, sequence: event.sequence }) ?? [];
};

export const testProjector: Projector = { tables, version: 1, project: run };
