/**
 * What a line says in JSON-RPC 2.0 (jsonrpc.org/specification), and how one is written. Pure.
 *
 * Read leniently, because runtimes are: the `jsonrpc` member is never required, a reply may lack its `result` when there
 * is none, and a request with `id: null` is a notification. Batches are not used by any runtime, and are noise.
 */
import { Predicate } from "effect";

/** An id as either side may choose it; 0 and "" are ids. */
export type RpcId = number | string;

/** A JSON object that passed the boundary, as it was parsed or before it was written. */
export type RpcFrame = { readonly [member: string]: unknown };

export type RpcMessage =
  | { readonly kind: "request"; readonly id: RpcId; readonly method: string; readonly params: unknown }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "result"; readonly id: RpcId; readonly result: unknown }
  /** `id` is null when the peer could not tell which request it refuses. */
  | { readonly kind: "error"; readonly id: RpcId | null; readonly error: RpcErrorBody };

export interface RpcErrorBody {
  /** Absent when the peer sent none. */
  readonly code?: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Parses a line; nothing when it is not a JSON object. */
export const parseFrame = (line: string): RpcFrame | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return Predicate.isObject(value) && !Array.isArray(value) ? (value as RpcFrame) : undefined;
  } catch {
    return undefined;
  }
};

/** Says what a frame is; nothing when it is none of JSON-RPC's. */
export const readFrame = (frame: RpcFrame): RpcMessage | undefined => {
  const { id, method, params } = frame;
  const hasId = id !== undefined && id !== null;
  if (hasId && typeof id !== "number" && typeof id !== "string") return undefined;
  if (typeof method === "string") {
    return hasId ? { kind: "request", id, method, params } : { kind: "notification", method, params };
  }
  if (method !== undefined) return undefined;
  if (frame["error"] !== undefined && frame["error"] !== null) {
    return { kind: "error", id: hasId ? id : null, error: readError(frame["error"]) };
  }
  return hasId ? { kind: "result", id, result: frame["result"] } : undefined;
};

const readError = (error: unknown): RpcErrorBody => {
  if (!Predicate.isObject(error)) return { message: typeof error === "string" ? error : JSON.stringify(error) };
  const { code, message, data } = error as RpcFrame;
  return {
    ...(typeof code === "number" ? { code } : {}),
    message: typeof message === "string" ? message : "the runtime gave no message",
    ...(data === undefined ? {} : { data }),
  };
};

/** Writes frames, with the `jsonrpc` member or without, as the runtime expects them. Members that are absent are left out. */
export const frameWriter = (dialect: "2.0" | "bare") => {
  const version = dialect === "2.0" ? { jsonrpc: "2.0" } : {};
  return {
    request: (id: RpcId, method: string, params: unknown): RpcFrame => ({
      ...version,
      id,
      method,
      ...given("params", params),
    }),
    notification: (method: string, params: unknown): RpcFrame => ({ ...version, method, ...given("params", params) }),
    // A reply without `result` is no reply to a strict peer.
    result: (id: RpcId, result: unknown): RpcFrame => ({
      ...version,
      id,
      result: result === undefined ? null : result,
    }),
    error: (id: RpcId, error: RpcErrorBody): RpcFrame => ({ ...version, id, error }),
  };
};

const given = (name: string, value: unknown): RpcFrame => (value === undefined ? {} : { [name]: value });
