/** Tributary inside another program, such as the main process of a desktop app: no socket, no token. */
import { MessageChannel } from "node:worker_threads";
import { Caller } from "@tributary/contracts/api";
import type { TributaryRpc } from "@tributary/contracts/rpc";
import { Context, Effect, Exit, Fiber, Scope } from "effect";
import type { RpcClient, RpcClientError } from "effect/rpc";
import { Closing } from "./http/Closing.ts";
import { owner } from "./http/Tokens.ts";
import { openInside } from "./inside.ts";
import type { InsideError, InsideOptions } from "./inside.ts";
import { makePortClient } from "./rpc/client.ts";
import { makeRpcHandlers, RpcHandlers } from "./rpc/handlers.ts";
import type { Port } from "./rpc/ports.ts";
import { servePort } from "./rpc/serve-port.ts";

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

/** Opens a data folder for as long as the scope lasts. */
export const openEmbedded = Effect.fn("server.openEmbedded")(function* (
  options: InsideOptions,
): Effect.fn.Return<Omit<Embedded, "close">, InsideError, Scope.Scope> {
  const { services, fetch } = yield* openInside(options);
  const handlers = yield* Effect.provideContext(makeRpcHandlers, services);
  const scope = yield* Effect.scope;
  const serve = (port: Port) =>
    servePort(port).pipe(
      Effect.provideContext(services),
      Effect.provideService(RpcHandlers, handlers),
      Effect.provideService(Caller, owner),
      Effect.forkIn(scope, { startImmediately: true }),
    );
  const { port1, port2 } = new MessageChannel();
  yield* serve(port1);
  const rpc = yield* makePortClient(port2);
  // Before the ports close: streams end, and say so.
  yield* Effect.addFinalizer(() => Context.get(services, Closing).begin);
  return {
    fetch,
    rpc,
    connect: (port) => {
      const fiber = Effect.runSync(serve(port));
      return () => Effect.runFork(Fiber.interrupt(fiber));
    },
  };
});

export const Tributary = {
  /** Opens a data folder in this process. Rejects with a message that says what to do. */
  embedded: async (options: InsideOptions): Promise<Embedded> => {
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
