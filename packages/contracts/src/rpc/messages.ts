/** What a client may send: effect's RPC protocol, one JSON message a frame. */
import { Schema } from "effect";

const RequestId = Schema.Union([Schema.String.check(Schema.isMaxLength(256)), Schema.Int]);

/** Other fields (`headers`, trace ids) may stand in a message; they are not read. */
export const ClientMessage = Schema.Union([
  /** A call. `id` is the client's, of one call at a time. */
  Schema.Struct({ _tag: Schema.Literal("Request"), id: RequestId, tag: Schema.String, payload: Schema.Unknown }),
  /** A chunk of a stream was taken; the next one may come. */
  Schema.Struct({ _tag: Schema.Literal("Ack"), requestId: RequestId }),
  /** A call is no longer wanted. */
  Schema.Struct({ _tag: Schema.Literal("Interrupt"), requestId: RequestId }),
  Schema.Struct({ _tag: Schema.Literal("Ping") }),
  Schema.Struct({ _tag: Schema.Literal("Eof") }),
]);
export type ClientMessage = typeof ClientMessage.Type;
