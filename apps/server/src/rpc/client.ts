/** The client's end of a MessagePort, for effect's typed RPC client. Loads in a browser. */
import { TributaryRpcs } from "@tributary/contracts/rpc";
import { Effect, Queue, Schema } from "effect";
import { RpcClient } from "effect/rpc";
import type { RpcMessage } from "effect/rpc";
import { listenTo } from "./ports.ts";
import type { Port } from "./ports.ts";

type Arrived = RpcMessage.FromServerEncoded;

/** Carries calls over a port. The port closes with the scope. */
const portProtocol = (port: Port) =>
  RpcClient.Protocol.make(
    Effect.fnUntraced(function* (writeResponse, clientIds) {
      const arrived = yield* Queue.unbounded<Arrived>();
      /** Whose a call is: several clients may share a protocol. */
      const callers = new Map<string | number, number>();
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          listenTo(
            port,
            // What the server's end sends: it is ours, of the same build.
            (message) => Queue.offerUnsafe(arrived, message as Arrived),
            () => Queue.offerUnsafe(arrived, { _tag: "Defect", defect: "The port closed." }),
          ),
        ),
        (stop) =>
          Effect.sync(() => {
            stop();
            port.close();
          }),
      );
      const deliver = Effect.fnUntraced(function* (message: Arrived) {
        const caller = "requestId" in message ? callers.get(message.requestId) : undefined;
        if (message._tag === "Exit") callers.delete(message.requestId);
        if (caller !== undefined) return yield* writeResponse(caller, message);
        if (!("requestId" in message)) yield* Effect.forEach(clientIds, (clientId) => writeResponse(clientId, message));
      });
      yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(arrived), deliver)));
      return {
        send: (clientId, message) =>
          Effect.sync(() => {
            if (message._tag === "Request") callers.set(message.id, clientId);
            port.postMessage(message);
          }),
        supportsAck: true,
        supportsTransferables: false,
        codecFor: Schema.toCodecJson as RpcClient.Protocol["Service"]["codecFor"],
      };
    }),
  );

/** A typed client of the whole API over a port: `client["threads.list"]({ query: {} })`. */
export const makePortClient = Effect.fnUntraced(function* (port: Port) {
  const protocol = yield* portProtocol(port);
  return yield* RpcClient.make(TributaryRpcs, { disableTracing: true, flatten: true }).pipe(
    Effect.provideService(RpcClient.Protocol, protocol),
  );
});
