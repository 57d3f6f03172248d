/** The client's calls, derived from the contract: a new endpoint is there as soon as the contract has it. */
import type { Api } from "@tributary/contracts/api";
import type { Frame } from "./reducer/index.ts";

type Groups = (typeof Api)["groups"];
export type GroupName = keyof Groups & string;
type Endpoints<G extends GroupName> = Groups[G]["endpoints"];

interface Shape {
  readonly "~Params": { readonly Type: unknown };
  readonly "~Query": { readonly Type: unknown };
  readonly "~Payload": { readonly Type: unknown };
  readonly "~Headers": { readonly Type: unknown };
  readonly "~Success": { readonly Type: unknown };
}

/** A part of a request: absent where the endpoint has none, optional where all of its fields are. */
type Part<Name extends string, T> = [T] extends [never]
  ? unknown
  : Record<never, never> extends T
    ? { readonly [N in Name]?: T }
    : { readonly [N in Name]: T };

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** `Idempotency-Key` of a mutating call. Absent: one is made. Say it to repeat a call of an earlier run. */
  readonly commandId?: string;
}

/** Bodies that are not JSON. */
export type Bytes = Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;

type Payload<P> = P extends { readonly _tag: "StreamUint8Array" }
  ? Bytes
  : P extends { readonly Type: infer T }
    ? T
    : never;

/** Headers besides the key, which is `commandId`. */
type HeaderPart<H> = [Exclude<keyof H, "idempotency-key">] extends [never]
  ? unknown
  : Part<"headers", Omit<H, "idempotency-key">>;

type Request<E extends Shape> = Part<"params", E["~Params"]["Type"]> &
  Part<"query", E["~Query"]["Type"]> &
  Part<"payload", Payload<E["~Payload"]>> &
  HeaderPart<E["~Headers"]["Type"]> &
  CallOptions;

type Arguments<E extends Shape> =
  Record<never, never> extends Request<E> ? [request?: Request<E>] : [request: Request<E>];

/** A live stream is iterated; what is no JSON comes as the response itself. */
type Result<S> = S extends { readonly _tag: "StreamSse" }
  ? AsyncIterable<Frame>
  : S extends { readonly _tag: "StreamUint8Array" }
    ? Promise<Response>
    : S extends { readonly Type: infer T }
      ? Promise<T>
      : never;

type Method<E> = E extends Shape ? (...request: Arguments<E>) => Result<E["~Success"]> : never;

/** Every endpoint as `client.<group>.<endpoint>({ params, query, payload })`. */
export type Calls = {
  readonly [G in GroupName]: { readonly [N in keyof Endpoints<G>]: Method<Endpoints<G>[N]> };
};
