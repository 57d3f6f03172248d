/** Tributary inside another program, such as the main process of a desktop app: no socket, no token. */
import type { Adapter } from "@tributary/contracts";
import { Caller } from "@tributary/contracts/api";
import type { TributaryRpc } from "@tributary/contracts/rpc";
import { MessageChannel } from "node:worker_threads";
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect";
import type { RpcClient, RpcClientError } from "effect/rpc";
import { HttpEffect } from "effect/http";
import type { AuditError } from "./auth/Audit.ts";
import type { AuthFileError } from "./auth/auth-file.ts";
import { authLayerOwner } from "./auth/layer.ts";
import { Core } from "./core.ts";
import type { CoreError } from "./core.ts";
import { makeApp } from "./http/app.ts";
import { Closing } from "./http/Closing.ts";
import { EventPages } from "./http/EventPages.ts";
import { owner } from "./http/Tokens.ts";
import { makePortClient } from "./rpc/client.ts";
import { RpcHandlers } from "./rpc/handlers.ts";
import type { Port } from "./rpc/ports.ts";
import { servePort } from "./rpc/serve-port.ts";

export interface EmbeddedOptions {
  /** The data folder; absolute. Made where it is missing. One process at a time has it open. */
  readonly dir: string;
  /** `false`: the store can be read and cared for, and no agent runs. Default: true. */
  readonly start?: boolean;
  /** Adapters that stand in for the built-in ones, by runtime. */
  readonly adapters?: Readonly<Record<string, Adapter>>;
}

/** Whoever holds this is the owner: hand out only what each part of a program needs. */
export interface Embedded {
  /**
   * Answers a request as the server would, without one. Any host will do, and no token is needed: pass it what Electron's
   * `protocol.handle` gets. Live streams are bodies that go on.
   */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The RPC group, typed: `rpc("threads.list", { query: {} })` is an Effect, `rpc("events.live", …)` a Stream. */
  readonly rpc: RpcClient.RpcClient.Flat<TributaryRpc, RpcClientError.RpcClientError>;
  /** Serves a MessagePort until either end closes; returns how to close it. `makePortClient` is the other end. */
  readonly connect: (port: Port) => () => void;
  /** Ends streams, turns and agents in good order. The last call. */
  readonly close: () => Promise<void>;
}

/** Requests inside the process have a name and a port as well; the edge knows these. */
const inside = { port: 80, hosts: [], origins: [] };

/** What a socket's client would have sent by itself. */
const addressed = (request: Request): Request => {
  const { headers } = request;
  if (headers.get("origin") === new URL(request.url).origin) headers.delete("origin");
  headers.set("host", "localhost:80");
  if (!headers.has("authorization")) headers.set("authorization", "Bearer in-process");
  return request;
};

/** Opens a data folder for as long as the scope lasts. */
export const openEmbedded = Effect.fn("server.openEmbedded")(function* ({
  dir,
  start = true,
  adapters = {},
}: EmbeddedOptions): Effect.fn.Return<Omit<Embedded, "close">, CoreError | AuthFileError | AuditError, Scope.Scope> {
  const services = yield* Layer.build(
    RpcHandlers.layer.pipe(
      Layer.provideMerge(Layer.mergeAll(EventPages.layer, Closing.layer, authLayerOwner(dir))),
      Layer.provideMerge(Core.layer({ dir, start, adapters })),
    ),
  );
  const app = yield* Effect.provideContext(
    makeApp(() => inside),
    services,
  );
  const handler = HttpEffect.toWebHandler(app);
  const scope = yield* Effect.scope;
  const serve = (port: Port) =>
    servePort(port).pipe(
      Effect.provideContext(services),
      Effect.provideService(Caller, owner),
      Effect.forkIn(scope, { startImmediately: true }),
    );
  const { port1, port2 } = new MessageChannel();
  yield* serve(port1);
  const rpc = yield* makePortClient(port2);
  // Before the ports close: streams end, and say so.
  yield* Effect.addFinalizer(() => Context.get(services, Closing).begin);
  return {
    fetch: (request) => handler(addressed(new Request(request))),
    rpc,
    connect: (port) => {
      const fiber = Effect.runSync(serve(port));
      return () => Effect.runFork(Fiber.interrupt(fiber));
    },
  };
});

export const Tributary = {
  /** Opens a data folder in this process. Rejects with a message that says what to do. */
  embedded: async (options: EmbeddedOptions): Promise<Embedded> => {
    const scope = Scope.makeUnsafe();
    const close = () => Effect.runPromise(Scope.close(scope, Exit.void));
    try {
      return { ...(await Effect.runPromise(Scope.provide(openEmbedded(options), scope))), close };
    } catch (error) {
      await close();
      throw error;
    }
  },
};
