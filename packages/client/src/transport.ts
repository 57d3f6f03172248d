/** The way to a server. */
import type { Frame } from "./reducer/index.ts";

/** How an endpoint is called over HTTP. */
export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** With `:name` for parameters. */
  readonly path: string;
  /** Carries an `Idempotency-Key`: it may be repeated. */
  readonly keyed?: true;
  /** Answers with a live stream. */
  readonly live?: true;
  /** Has no rpc: bytes, or what opens a socket. */
  readonly http?: true;
}

export interface Call {
  /** `<group>.<endpoint>` */
  readonly name: string;
  readonly route: Route;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly payload?: unknown;
  readonly commandId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Transport {
  /** One try. Throws `TributaryError`, or the signal's reason. */
  readonly call: (call: Call) => Promise<unknown>;
  /**
   * The frames of a live stream, as many at a time as came together, until the server ends it. Nothing is read while
   * nobody asks for the next ones. Throws when the connection breaks or is silent for too long.
   */
  readonly stream: (call: Call) => AsyncIterable<ReadonlyArray<Frame>>;
  /** Gives up connections that are kept. */
  readonly close: () => void;
}
