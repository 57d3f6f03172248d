/** From the messages' JSON to the values that handlers take and give, and back. Made once for each rpc. */
import { BadRequest, Internal } from "@tributary/contracts/api";
import type { TributaryRpc } from "@tributary/contracts/rpc";
import { Cause, Effect, Exit, Schema } from "effect";
import { Rpc } from "effect/rpc";
import type { RpcMessage } from "effect/rpc";
import { mistakesIn } from "../http/problems.ts";

type AnyExit = Exit.Exit<unknown, unknown>;
type ExitEncoded = RpcMessage.ResponseExitEncoded["exit"];

export interface Codecs {
  readonly decode: (payload: unknown) => Effect.Effect<unknown, BadRequest>;
  readonly encode: (exit: AnyExit) => Effect.Effect<ExitEncoded, Schema.SchemaError>;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields of `query` have the schemas of a URL's: a number may be one all the same. */
const asInUrl = (sent: unknown): unknown => {
  if (!isRecord(sent) || !isRecord(sent["query"])) return sent;
  const query = Object.entries(sent["query"]).map(([name, value]) => [
    name,
    typeof value === "number" || typeof value === "boolean" ? String(value) : value,
  ]);
  return { ...sent, query: Object.fromEntries(query) };
};

const make = (rpc: Rpc.AnyWithProps): Codecs => {
  // The schemas of the API need no services.
  const payload = Schema.toCodecJson(rpc.payloadSchema) as unknown as Schema.Codec<unknown, unknown>;
  const exit = Schema.toCodecJson(Rpc.exitSchema(rpc as unknown as TributaryRpc)) as unknown as Schema.Codec<
    AnyExit,
    ExitEncoded
  >;
  const decode = Schema.decodeUnknownEffect(payload);
  return {
    decode: (sent) => Effect.mapError(decode(asInUrl(sent ?? {})), ({ issue }) => mistakesIn(issue)),
    encode: Schema.encodeEffect(exit),
  };
};

const known = new WeakMap<object, Codecs>();

export const codecsOf = (rpc: TributaryRpc): Codecs => {
  const found = known.get(rpc);
  if (found !== undefined) return found;
  const made = make(rpc as unknown as Rpc.AnyWithProps);
  known.set(rpc, made);
  return made;
};

const encodeProblem = Schema.encodeSync(Schema.toCodecJson(Schema.Union([BadRequest, Internal])));

const failed = new Internal({
  detail: "Tributary failed in this call; its log says more. Nothing else is affected.",
  userAction: "none",
});

/** The exit of a call that ended in what its rpc does not declare: `internal`, as over HTTP. */
export const internalExit: ExitEncoded = {
  _tag: "Failure",
  cause: [{ _tag: "Fail", error: encodeProblem(failed) }],
};

/** Whether the call died, other than by being interrupted. */
export const hasDied = (exit: AnyExit): boolean => Exit.isFailure(exit) && Cause.hasDies(exit.cause);
