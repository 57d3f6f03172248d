/** The rpcs' handlers: the functions that HTTP runs, under the names of the group. */
import type { Caller } from "@tributary/contracts/api";
import { TributaryRpcs } from "@tributary/contracts/rpc";
import type { TributaryRpc } from "@tributary/contracts/rpc";
import { Array as Arr, Context, Effect, Stream } from "effect";
import type { Rpc } from "effect/rpc";
import { attachmentCalls } from "../http/handlers/attachments.ts";
import { auditCalls, deviceCalls, pairingCalls } from "../http/handlers/auth.ts";
import { eventCalls } from "../http/handlers/events.ts";
import { inputCalls } from "../http/handlers/inputs.ts";
import { instanceCalls } from "../http/handlers/instances.ts";
import { maintenanceCalls } from "../http/handlers/maintenance.ts";
import { projectCalls } from "../http/handlers/projects.ts";
import { requestCalls } from "../http/handlers/requests.ts";
import { settingsCalls, systemCalls } from "../http/handlers/system.ts";
import { threadCalls } from "../http/handlers/threads.ts";
import type { Frames } from "../http/live-loop.ts";
import { storeProblem } from "../http/problems.ts";
import { framesIn } from "./frames.ts";

/** A stream's chunks stay as they come: each is one message, and the next is made when it was taken. */
const asFrames = (frames: Frames) => Stream.mapArray(Stream.mapError(frames, storeProblem), Arr.flatMap(framesIn));

const live =
  <Call, E, R>(follow: (call: Call) => Effect.Effect<Frames, E, R>) =>
  (call: Call) =>
    Stream.unwrap(Effect.map(follow(call), asFrames));

const { live: followThread, liveMany, sessionLive, replay, page } = eventCalls;

const calls = {
  system: systemCalls,
  settings: settingsCalls,
  projects: projectCalls,
  threads: threadCalls,
  inputs: inputCalls,
  requests: requestCalls,
  instances: instanceCalls,
  maintenance: maintenanceCalls,
  attachments: { remove: attachmentCalls.remove },
  devices: deviceCalls,
  pairings: pairingCalls,
  audit: auditCalls,
  events: {
    page,
    live: live(followThread),
    liveMany: live(liveMany),
    sessionLive: live(sessionLive),
    replay: (call: Parameters<typeof replay>[0]) =>
      Stream.flatMap(Stream.unwrap(replay(call)), ({ events }) => Stream.fromIterable(events)),
  },
};

type ServicesOf<Result> =
  Result extends Effect.Effect<infer _A, infer _E, infer R>
    ? R
    : Result extends Stream.Stream<infer _A, infer _E, infer R>
      ? R
      : never;
type Calls = typeof calls;
type Needs = {
  [G in keyof Calls]: {
    [Name in keyof Calls[G]]: Calls[G][Name] extends (...call: never) => infer Result ? ServicesOf<Result> : never;
  }[keyof Calls[G]];
}[keyof Calls];

/** What a call of ours takes; which fields are there, its schema says. */
interface Payload {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly payload?: unknown;
  readonly commandId?: string;
}

/** As HTTP would have it: what is optional as a whole is there, and the key of a command is a header. */
const callOf = ({ commandId, ...payload }: Payload) => ({
  query: {},
  payload: {},
  ...payload,
  headers: commandId === undefined ? {} : { "idempotency-key": commandId },
});

const functionOf = (tag: string): ((call: unknown) => unknown) | undefined => {
  const [group = "", name = ""] = tag.split(".");
  const functions: Readonly<Record<string, Readonly<Record<string, unknown>>>> = calls;
  // Each function is typed by its endpoint, and so by the rpc made from it.
  return functions[group]?.[name] as ((call: unknown) => unknown) | undefined;
};

/** The rpcs that nothing handles; none, or a test says which. */
export const unhandled: ReadonlyArray<string> = [...TributaryRpcs.requests.keys()].filter(
  (tag) => functionOf(tag) === undefined,
);

/** What the handlers need of the server. */
export type RpcServices = Exclude<Needs, Caller>;

/** Handlers of the whole group with the services that they need, ready for any number of sessions. */
export class RpcHandlers extends Context.Service<RpcHandlers, Context.Context<Rpc.ToHandler<TributaryRpc>>>()(
  "tributary/server/RpcHandlers",
) {}

export const makeRpcHandlers: Effect.Effect<RpcHandlers["Service"], never, RpcServices> = Effect.map(
  Effect.context<RpcServices>(),
  (context) => {
    const handlers = [...TributaryRpcs.requests.values()].flatMap((rpc) => {
      const run = functionOf(rpc._tag);
      return run === undefined
        ? []
        : [[rpc.key, { tag: rpc._tag, handler: (payload: Payload) => run(callOf(payload)), context }] as const];
    });
    return Context.makeUnsafe<Rpc.ToHandler<TributaryRpc>>(new Map<string, unknown>(handlers));
  },
);
