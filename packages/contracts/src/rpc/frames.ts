/** What live streams emit over RPC: the frames of server-sent events, with their data as JSON instead of text. */
import { Schema } from "effect";
import { livePayloads } from "../api/live.ts";
import { opt } from "../json.ts";

const frame = <const Name extends string, Data extends Schema.Top>(event: Name, data: Data) =>
  Schema.Struct({
    /** The cursor that resumes after this frame. */
    id: opt(Schema.String),
    event: Schema.Literal(event),
    data,
  });

export const RpcFrame = Schema.Union([
  frame("event", livePayloads.event),
  frame("shell", livePayloads.shell),
  frame("live", livePayloads.live),
  frame("synced", livePayloads.synced),
  frame("ping", livePayloads.ping),
  frame("reset", livePayloads.reset),
]);
export type RpcFrame = typeof RpcFrame.Type;
