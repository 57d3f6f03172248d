/** What clients of every kind use: typed calls, live threads, and the ways to a server. Runs in browsers as it is. */
export { createClient, type Client, type ClientOptions } from "./client.ts";
export { randomId } from "./calls.ts";
export type { Connection } from "./connection.ts";
export { TributaryError, type TributaryErrorFields, type UserAction } from "./errors.ts";
export { FollowedThread, type Draft, type FollowOptions } from "./follow.ts";
export { httpTransport, inProcess, type HttpOptions } from "./http.ts";
export * from "./reducer/index.ts";
export type { RetryOptions } from "./retry.ts";
export { FollowedShells, type FollowShellsOptions, type ShellsView } from "./shells.ts";
export { portTransport, webSocketTransport, type PortLike, type WebSocketOptions } from "./websocket.ts";
export type { Call, Route, Transport } from "./transport.ts";
export type { Calls, CallOptions } from "./types.ts";
