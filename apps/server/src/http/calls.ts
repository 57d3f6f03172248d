/**
 * What each call does, as plain records of functions: HTTP and RPC run the very same ones. A call has what its endpoint
 * declares (params, query, payload, headers), decoded, and nothing of the wire that it came over.
 */
import type { Api } from "@tributary/contracts/api";
import type { Effect } from "effect";
import type { HttpApiEndpoint, HttpApiError, HttpApiSchema } from "effect/http-api";

type Groups = (typeof Api)["groups"];
type Endpoints<G extends keyof Groups> = Groups[G]["endpoints"];

export type EndpointOf<G extends keyof Groups, Name extends keyof Endpoints<G>> = Endpoints<G>[Name];

/** A decoded call of an endpoint. */
export type CallOf<Endpoint> = Omit<HttpApiEndpoint.Request<Endpoint>, "request" | "endpoint" | "group" | "upgrade">;

type Function<Endpoint extends HttpApiEndpoint.Constraint> = (
  call: CallOf<Endpoint>,
) => Effect.Effect<
  Endpoint["~Success"]["Type"],
  | Endpoint["~Error"]["Type"]
  | HttpApiEndpoint.MiddlewareError<Endpoint>
  | (HttpApiEndpoint.Payload<Endpoint> extends HttpApiSchema.StreamSchema
      ? HttpApiError.HttpApiPayloadTooLarge
      : never),
  unknown
>;

type Calls<G extends keyof Groups> = {
  readonly [Name in keyof Endpoints<G>]: Endpoints<G>[Name] extends HttpApiEndpoint.Constraint
    ? Function<Endpoints<G>[Name]>
    : never;
};

/** Types a group's calls by its endpoints, each of them, and keeps what services they need. */
export const calls =
  <const G extends keyof Groups>(_group: G) =>
  <const C extends Calls<G>>(functions: C): C =>
    functions;
