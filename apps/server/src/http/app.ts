/** The HTTP application: every route of the API behind the edge, as one effect per request. */
import { Api } from "@tributary/contracts/api";
import { Effect, Layer } from "effect";
import type { Scope } from "effect";
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http";
import type { HttpServerRequest } from "effect/http";
import { HttpApiBuilder, OpenApi } from "effect/http-api";
import { Tickets } from "../rpc/Tickets.ts";
import { rpc } from "../rpc/wire.ts";
import type { Allowlist } from "./allowlist.ts";
import { Attempts } from "../auth/Attempts.ts";
import { authorization } from "./authorization.ts";
import { docs, sharedBytes } from "./docs.ts";
import { edge } from "./edge.ts";
import { attachments } from "./handlers/attachments.ts";
import { auth } from "./handlers/auth.ts";
import { events } from "./handlers/events.ts";
import { inputs } from "./handlers/inputs.ts";
import { instances } from "./handlers/instances.ts";
import { maintenance } from "./handlers/maintenance.ts";
import { projects } from "./handlers/projects.ts";
import { requests } from "./handlers/requests.ts";
import { systemAndSettings } from "./handlers/system.ts";
import { threads } from "./handlers/threads.ts";
import { Tokens } from "./Tokens.ts";

const groups = Layer.mergeAll(
  projects,
  threads,
  inputs,
  attachments,
  requests,
  events,
  instances,
  systemAndSettings,
  maintenance,
  auth,
  rpc,
);

const openApi = HttpRouter.use((router) =>
  Effect.gen(function* () {
    // A tenth of a second of work that most starts never need.
    const document = yield* Effect.cached(
      Effect.sync(() => sharedBytes(HttpServerResponse.jsonUnsafe(OpenApi.fromApi(Api)))),
    );
    yield* router.add("GET", "/openapi.json", document);
  }),
);

const routes = Layer.mergeAll(HttpApiBuilder.layer(Api).pipe(Layer.provide(groups)), openApi, docs).pipe(
  Layer.provide(Layer.mergeAll(authorization, Tickets.layer)),
);

/** Ids may have 512 code units, each up to nine characters once it is encoded in a path. */
const routerConfig = { maxParamLength: 512 * 9 };

/**
 * Builds the application over the services in its environment. `allowed` is asked at every request: settings change
 * while the server runs.
 */
export const makeApp = Effect.fnUntraced(function* (allowed: () => Allowlist) {
  const router = yield* HttpRouter.toHttpEffect(routes).pipe(
    Effect.provide(HttpServer.layerServices),
    Effect.provideService(HttpRouter.RouterConfig, routerConfig),
  );
  const services =
    yield* Effect.context<Exclude<Effect.Services<typeof router>, HttpServerRequest.HttpServerRequest | Scope.Scope>>();
  return edge(Effect.provideContext(router, services), {
    allowed,
    attempts: yield* Attempts,
    tokens: yield* Tokens,
  });
});
