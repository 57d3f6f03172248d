/**
 * The RPC group, made from the HTTP API: one rpc for each endpoint, named `<group>.<endpoint>`, with the same schemas and
 * errors. Its payload is `{params?, query?, payload?, commandId?}`; fields of `params` and `query` are encoded as in a URL.
 */
import { Context, Schema } from "effect";
import type { HttpApiEndpoint, HttpApiSchema } from "effect/http-api";
// Not from "effect/rpc": that would load servers and clients too.
import * as Rpc from "effect/rpc/Rpc";
import * as RpcGroup from "effect/rpc/RpcGroup";
import type * as RpcSchema from "effect/rpc/RpcSchema";
import { Api } from "../api/api.ts";
import { Authorization, RequiredScope } from "../api/access.ts";
import { PublicEvent } from "../api/live.ts";
import { Id } from "../ids.ts";
import { Open, RpcAuthorization } from "./access.ts";
import { RpcFrame } from "./frames.ts";

/** Endpoints without an rpc, and why. */
export const httpOnly = {
  "attachments.upload": "its body is bytes",
  "attachments.download": "its answer is bytes",
  "claims.claim": "asked by a device that has no token yet, and so no socket",
  "claims.collect": "asked by a device that has no token yet, and so no socket",
  "cookie.set": "sets a header",
  "cookie.clear": "sets a header",
  "rpc.ticket": "gives the ticket that opens the socket",
  "rpc.connect": "is the socket itself",
} as const satisfies Readonly<Record<string, string>>;

/** Answers that are one body over HTTP and a stream here, so that no message grows with a thread. */
const streamed = { "events.replay": PublicEvent } as const;

type Groups = (typeof Api)["groups"];

type Given<Key extends string, S extends Schema.Top> = [S] extends [never]
  ? {}
  : { readonly [K in Key]: {} extends S["Type"] ? Schema.optionalKey<S> : S };

type Endpoint = HttpApiEndpoint.ConstraintRequest & {
  readonly ["~Params"]: Schema.Top;
  readonly ["~Query"]: Schema.Top;
  readonly ["~Payload"]: Schema.Top;
  readonly ["~Success"]: Schema.Top;
  readonly ["~Error"]: Schema.Top;
};

type Fields<E extends Endpoint> = Given<"params", E["~Params"]> &
  Given<"query", E["~Query"]> &
  Given<"payload", E["~Payload"]> &
  ([E["~Headers"]] extends [never] ? {} : { readonly commandId: Schema.optionalKey<typeof Id> });

type Flat<F> = { readonly [K in keyof F]: F[K] };
type Payload<F> = F extends Schema.Struct.Fields ? Schema.Struct<F> : never;

type Success<Tag extends string, E extends Endpoint> = Tag extends keyof typeof streamed
  ? RpcSchema.Stream<(typeof streamed)[Tag], E["~Error"]>
  : [E["~Success"]] extends [HttpApiSchema.StreamSchema]
    ? RpcSchema.Stream<typeof RpcFrame, E["~Error"]>
    : E["~Success"];

type RpcOf<Tag extends string, E> = E extends Endpoint
  ? Rpc.Rpc<
      Tag,
      Payload<Flat<Fields<E>>>,
      Success<Tag, E>,
      Success<Tag, E> extends RpcSchema.Stream<Schema.Top, Schema.Top> ? typeof Schema.Never : E["~Error"],
      typeof RpcAuthorization
    >
  : never;

type RpcsOf<G extends keyof Groups & string> = {
  [Name in keyof Groups[G]["endpoints"] & string]: RpcOf<`${G}.${Name}`, Groups[G]["endpoints"][Name]>;
}[keyof Groups[G]["endpoints"] & string];

/** Every rpc, as a union. */
export type TributaryRpc = Exclude<
  { [G in keyof Groups & string]: RpcsOf<G> }[keyof Groups & string],
  { readonly _tag: keyof typeof httpOnly }
>;

/** What of an endpoint the walk looks at. */
type Walked = Pick<
  HttpApiEndpoint.Top,
  "params" | "query" | "headers" | "payload" | "success" | "error" | "annotations"
> & { readonly middlewares: ReadonlySet<unknown> };

const unionOf = (schemas: ReadonlyArray<Schema.Top>): Schema.Top =>
  schemas.length === 1 && schemas[0] !== undefined ? schemas[0] : Schema.Union(schemas);

/** Optional where everything in it is. */
const given = (key: string, schema: Schema.Top | undefined): Schema.Struct.Fields => {
  if (schema === undefined) return {};
  // The schemas of endpoints need no services.
  const takesNothing = Schema.is(Schema.toEncoded(schema) as Schema.Codec<unknown>)({});
  return { [key]: takesNothing ? Schema.optionalKey(schema) : schema };
};

const rpcOf = (tag: string, endpoint: Walked): Rpc.Any => {
  const [payload] = [...endpoint.payload.values()].flatMap(({ schemas }): ReadonlyArray<Schema.Top> => schemas);
  const fields: Schema.Struct.Fields = {
    ...given("params", endpoint.params),
    ...(endpoint.headers === undefined ? {} : { commandId: Schema.optionalKey(Id) }),
    ...given("query", endpoint.query),
    ...given("payload", payload),
  };
  const error = unionOf([...endpoint.error]);
  const succeeds = [...endpoint.success];
  const isLive = succeeds.some((schema) => "_tag" in schema && schema._tag === "StreamSse");
  const item: Schema.Top | undefined = Object.hasOwn(streamed, tag)
    ? streamed[tag as keyof typeof streamed]
    : isLive
      ? RpcFrame
      : undefined;
  const rpc =
    item === undefined
      ? Rpc.make(tag, { payload: fields, success: unionOf(succeeds), error })
      : Rpc.make(tag, { payload: fields, success: item, error, stream: true });
  return rpc
    .middleware(RpcAuthorization)
    .annotate(RequiredScope, Context.get(endpoint.annotations, RequiredScope))
    .annotate(Open, !endpoint.middlewares.has(Authorization));
};

const groups: ReadonlyArray<{
  readonly identifier: string;
  readonly endpoints: Readonly<Record<string, Walked>>;
}> = Object.values(Api.groups);

const rpcs = groups.flatMap(({ identifier, endpoints }) =>
  Object.entries(endpoints).flatMap(([name, endpoint]) => {
    const tag = `${identifier}.${name}`;
    return Object.hasOwn(httpOnly, tag) ? [] : [rpcOf(tag, endpoint)];
  }),
);

/** The whole API as RPC. The types say of each endpoint what the walk above does with it. */
export const TributaryRpcs = RpcGroup.make(...rpcs) as unknown as RpcGroup.RpcGroup<TributaryRpc>;
