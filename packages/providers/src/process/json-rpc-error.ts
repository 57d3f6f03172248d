/**
 * How a JSON-RPC call can fail.
 */
import { Schema } from "effect";

/** The runtime refused: its own code and words. What to do depends on the method and the code. */
export class RpcError extends Schema.TaggedError<RpcError>()("RpcError", {
  /** Absent when the runtime sent none. */
  code: Schema.optionalKey(Schema.Number),
  message: Schema.String,
  data: Schema.optionalKey(Schema.Unknown),
}) {}

/** No reply within the deadline. The runtime may still act on the request: look at what it did before repeating it. */
export class RpcTimeout extends Schema.TaggedError<RpcTimeout>()("RpcTimeout", {
  method: Schema.String,
  /** The deadline, in milliseconds. */
  deadlineMillis: Schema.Number,
  message: Schema.String,
}) {}

/**
 * The connection is over. After `wrote: "nothing"` the runtime can't have seen the message, and it may be sent again on
 * a new connection; after `"unknown"` it may have acted on it.
 */
export class RpcClosed extends Schema.TaggedError<RpcClosed>()("RpcClosed", {
  method: Schema.String,
  wrote: Schema.Literals(["nothing", "unknown"]),
  message: Schema.String,
}) {}

/** The request of the runtime already has its reply; this one was not sent. */
export class RpcAlreadyReplied extends Schema.TaggedError<RpcAlreadyReplied>()("RpcAlreadyReplied", {
  method: Schema.String,
  message: Schema.String,
}) {}

export const rpcTimeout = (method: string, deadlineMillis: number): RpcTimeout =>
  new RpcTimeout({
    method,
    deadlineMillis,
    message: `the runtime did not answer ${method} within ${deadlineMillis} ms: interrupt it, or open the session again`,
  });

export const rpcClosed = (method: string, wrote: "nothing" | "unknown"): RpcClosed =>
  new RpcClosed({
    method,
    wrote,
    message:
      wrote === "nothing"
        ? `the connection ended before ${method} was sent: open the session again, then repeat it`
        : `the connection ended while ${method} was open: open the session again and look at what the runtime did`,
  });

export const rpcAlreadyReplied = (method: string): RpcAlreadyReplied =>
  new RpcAlreadyReplied({ method, message: `${method} already has its reply: reply once` });
