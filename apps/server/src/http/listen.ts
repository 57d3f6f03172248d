/** The socket: which port, and how it is given up. */
import { createServer } from "node:http";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Effect, Layer, Schema } from "effect";
import { HttpServer } from "effect/http";
import { Configuration } from "../config/Configuration.ts";
import { makeApp } from "./app.ts";
import { Closing } from "./Closing.ts";

/** Nothing could be listened on. Free the port, or name another one with `--port`. */
export class ListenError extends Schema.TaggedError<ListenError>()("ListenError", { message: Schema.String }) {}

export const defaultPort = 4417;
/** How many ports after the default one are tried. */
const portsTried = 20;

/** Streams are told to end, then connections have this long. */
const gracefulShutdownTimeout = "2 seconds";

const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;

const server = (host: string, port: number) =>
  NodeHttpServer.layerServer(createServer, { host, port, gracefulShutdownTimeout });

/** Listens on the port, or, where none was named, on the first free one from the default port on. */
const listening = (host: string, port: number | undefined): Layer.Layer<HttpServer.HttpServer, ListenError> => {
  const attempt = (tried: number): Layer.Layer<HttpServer.HttpServer, ListenError> =>
    server(host, tried).pipe(
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

export interface ListenOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number | undefined;
}

/** Serves the application. When the layer closes, streams end at once and open requests have a moment to finish. */
export const serveHttp = (options: ListenOptions) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer;
      const configuration = yield* Configuration;
      const closing = yield* Closing;
      const port = address._tag === "UnixPathAddress" ? 0 : address.port;
      const app = yield* makeApp(() => {
        const { allowedHosts = [], allowedOrigins = [] } = configuration.current().settings;
        return { port, hosts: allowedHosts, origins: allowedOrigins };
      });
      yield* HttpServer.serveEffect(app);
      // Added last, so it runs first: nobody waits for a stream that never ends.
      yield* Effect.addFinalizer(() => closing.begin);
    }),
  ).pipe(Layer.provideMerge(listening(options.host, options.port)));

/** Where it listens, as a URL. */
export const addressOf = Effect.map(HttpServer.HttpServer, ({ address }) => HttpServer.formatAddress(address));
