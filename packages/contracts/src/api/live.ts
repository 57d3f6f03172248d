/** Public events and the frames of live streams (design section 10). */
import { Schema } from "effect";
import { Id } from "../ids.ts";
import { Count, opt } from "../json.ts";
import { ThreadShell } from "../views.ts";
import { Cursor } from "./shared.ts";

/**
 * A public event: what happened, under the cursor that resumes after it. `payload` by `type` is the stored event's, less
 * what is internal. Unknown types are to be skipped (I18).
 */
export const PublicEvent = Schema.Struct({
  cursor: Cursor,
  sequence: Count,
  /** The thread's or project's id. */
  streamId: Id,
  type: Schema.String,
  occurredAt: Schema.String,
  payload: Schema.Unknown,
}).annotate({
  identifier: "PublicEvent",
  examples: [
    {
      cursor: "e:3f9c1a.42",
      sequence: 42,
      streamId: "thread-1",
      type: "message.appended",
      occurredAt: "2026-01-01T00:00:00.000Z",
      payload: { messageId: "turn-1//item-1#0", offset: 6, text: "world" },
    },
  ],
});
export type PublicEvent = typeof PublicEvent.Type;

export const EventPage = Schema.Struct({
  events: Schema.Array(PublicEvent),
  /** Ask again after this one. */
  next: Cursor,
  /** Nothing more for now. */
  done: Schema.Boolean,
}).annotate({ identifier: "EventPage" });

/** Text that is not in the log yet (design section 10). Apply it when everything up to `after` was applied. */
export const LiveText = Schema.Struct({
  threadId: Id,
  rowId: Id,
  /** Raised when the text was replaced or retracted: forget what was shown of it. */
  revision: Count,
  /** The sequence it stands on. */
  after: Count,
  turnId: opt(Id),
  agentPath: Schema.Array(Id),
  itemId: opt(Id),
  stream: Schema.Literals(["assistant_text", "reasoning", "reasoning_summary", "command_output"]),
  /** UTF-16 code units of the row before `text`. */
  offset: Count,
  text: Schema.String,
}).annotate({ identifier: "LiveText" });
export type LiveText = typeof LiveText.Type;

const sse = <const Name extends string, Data extends Schema.Top>(name: Name, data: Data) =>
  Schema.Struct({ id: opt(Schema.String), event: Schema.Literal(name), data: Schema.fromJsonString(data) });

/** Payloads of the frames of a live stream, by name. */
export const livePayloads = {
  event: PublicEvent,
  shell: ThreadShell,
  live: LiveText,
  /** Once, after the backlog. */
  synced: Schema.Struct({ serverTime: Schema.String, sequence: Count }),
  /** Every 10 s, as data so that a client's watchdog sees it. */
  ping: Schema.Struct({ serverTime: Schema.String }),
  /** The cursor can't be served: forget what was shown, read the thread again and follow from there. */
  reset: Schema.Struct({ reason: Schema.String }),
} as const;

/** Frames of every live stream. `id` is the cursor. */
export const LiveFrame = Schema.Union([
  sse("event", livePayloads.event),
  sse("shell", livePayloads.shell),
  sse("live", livePayloads.live),
  sse("synced", livePayloads.synced),
  sse("ping", livePayloads.ping),
  sse("reset", livePayloads.reset),
]);
export type LiveFrame = typeof LiveFrame.Type;
