/** The socket: which port, whether it is encrypted, and how it is given up. */
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { networkInterfaces } from "node:os";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Context, Effect, Layer, Schema } from "effect";
import { HttpServer } from "effect/http";
import { exposureOf } from "../auth/exposure.ts";
import type { Exposure } from "../auth/exposure.ts";
import { Reach } from "../auth/reach.ts";
import type { Tls } from "../auth/tls.ts";
import { Configuration } from "../config/Configuration.ts";
import { webSocketOptions } from "../rpc/keep-alive.ts";
import { makeApp } from "./app.ts";
import { Closing } from "./Closing.ts";
import { connectionLimits } from "./limits.ts";
import { PingInterval } from "./live-loop.ts";

/** Nothing could be listened on. Free the port, or name another one with `--port`. */
export class ListenError extends Schema.TaggedError<ListenError>()("ListenError", { message: Schema.String }) {}

export const defaultPort = 4417;
/** How many ports after the default one are tried. */
const portsTried = 20;

/** Streams are told to end, then connections have this long. */
const gracefulShutdownTimeout = "2 seconds";

const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;

/** At most so many milliseconds after its time is over a slow request is ended. */
const lookEvery = 5_000;

const nodeServer =
  ({ tls, limits = {} }: ListenOptions) =>
  () => {
    const { maxHeaderBytes, headersTimeoutMs, requestTimeoutMs, maxConnections } = { ...connectionLimits, ...limits };
    const options = {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(lookEvery, headersTimeoutMs),
    };
    const server =
      tls === undefined
        ? createServer(options)
        : createTlsServer({ ...options, cert: tls.cert, key: tls.key, handshakeTimeout: headersTimeoutMs });
    server.maxConnections = maxConnections;
    return server;
  };

const server = (options: ListenOptions, port: number) =>
  Layer.unwrap(
    Effect.map(PingInterval, (pingEvery) =>
      NodeHttpServer.layerServer(nodeServer(options), {
        host: options.host,
        port,
        gracefulShutdownTimeout,
        websocket: webSocketOptions(pingEvery),
      }),
    ),
  );

/** Listens on the port, or, where none was named, on the first free one from the default port on. */
const listening = (options: ListenOptions): Layer.Layer<HttpServer.HttpServer, ListenError> => {
  const { host, port } = options;
  const attempt = (tried: number): Layer.Layer<HttpServer.HttpServer, ListenError> =>
    server(options, tried).pipe(
      Layer.catchTag("ServeError", ({ cause }) => {
        const code = codeOf(cause);
        if (code === "EADDRINUSE" && port === undefined && tried < defaultPort + portsTried) return attempt(tried + 1);
        const why = code === "EADDRINUSE" ? "is taken" : `can't be listened on (${code ?? String(cause)})`;
        return Layer.effect(
          HttpServer.HttpServer,
          new ListenError({ message: `Port ${tried} on ${host} ${why}; name another one with --port.` }),
        );
      }),
    );
  return attempt(port ?? defaultPort);
};

/** `exposureProblem` has been asked before. */
export interface ListenOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number | undefined;
  readonly tls?: Tls;
  /** The https:// address of what stands in front. */
  readonly tunnel?: string;
  /** In place of those that `GET /limits` tells. */
  readonly limits?: { readonly [K in keyof typeof connectionLimits]?: number };
}

/** Where it listens. */
export class Listening extends Context.Service<Listening, Exposure>()("tributary/server/Listening") {}

const ownAddresses = (): ReadonlyArray<string> =>
  Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith("fe80"))
    .toSorted((a, b) => a.family.localeCompare(b.family))
    .map(({ address }) => address);

/** Serves the application. When the layer closes, streams end at once and open requests have a moment to finish. */
export const serveHttp = (options: ListenOptions) =>
  Layer.effect(
    Listening,
    Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer;
      const configuration = yield* Configuration;
      const closing = yield* Closing;
      const port = address._tag === "UnixPathAddress" ? 0 : address.port;
      const { host, tls, tunnel } = options;
      const exposure = exposureOf({ host, pin: tls?.pin, tunnel }, port, ownAddresses());
      const app = yield* makeApp(() => {
        const { allowedHosts = [], allowedOrigins = [] } = configuration.current().settings;
        return { port, hosts: [...exposure.hosts, ...allowedHosts], origins: allowedOrigins };
      });
      yield* HttpServer.serveEffect(Effect.provideService(app, Reach, exposure.reach));
      // Added last, so it runs first: nobody waits for a stream that never ends.
      yield* Effect.addFinalizer(() => closing.begin);
      return exposure;
    }),
  ).pipe(Layer.provideMerge(listening(options)));

/** Where this machine finds it, as a URL. */
export const addressOf = Effect.map(Listening, ({ url }) => url);
