/**
 * One client's calls, whatever carries their messages: a WebSocket, a MessagePort, or nothing at all. Each client has an
 * RPC server of its own, so that nothing one sends can reach another's calls.
 *
 *   message ──► schema ──► payload ──► scope ──► the function that HTTP runs ──► Exit
 *                                                                      └──► Chunk ⇄ Ack (streams)
 *
 * A stream makes its next chunk when the last one was acknowledged, and none waits anywhere: a client that reads slowly, or
 * not at all, costs one chunk for each of its streams (I11) and loses nothing (I10).
 */
import { NotFound, TooManyRequests } from "@tributary/contracts/api";
import type { Caller } from "@tributary/contracts/api";
import { ClientMessage, closeCodes, RpcAuthorization, TributaryRpcs } from "@tributary/contracts/rpc";
import type { TributaryRpc } from "@tributary/contracts/rpc";
import { Effect, Exit, Schema } from "effect";
import { Audit } from "../auth/Audit.ts";
import { Headers } from "effect/http";
import { RpcMessage, RpcServer } from "effect/rpc";
import { limits } from "../http/limits.ts";
import { authorizationOf } from "./authorization.ts";
import { codecsOf, hasDied, internalExit } from "./codecs.ts";
import { RpcHandlers } from "./handlers.ts";

export type ServerMessage =
  | RpcMessage.ResponseChunkEncoded
  | RpcMessage.ResponseExitEncoded
  | RpcMessage.ResponseDefectEncoded
  | RpcMessage.Pong;

type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];

/** What carries the messages. */
export interface Link {
  /** Resolves once there is room for more. */
  readonly send: (message: ServerMessage) => Effect.Effect<void>;
  /** Ends it: the client broke the protocol. */
  readonly close: (code: CloseCode, reason: string) => Effect.Effect<void>;
}

export interface Session {
  /** Takes a message of the client, as JSON. Calls go on beside it. */
  readonly receive: (message: unknown) => Effect.Effect<void>;
}

const decodeMessage = Schema.decodeUnknownExit(ClientMessage);
const encodeError = Schema.encodeSync(Schema.toCodecJson(Schema.Union([NotFound, TooManyRequests])));

/** Only one client stands behind each server. */
const clientId = 0;

/** Opens a session for `caller`. With the scope, its calls are interrupted. */
export const openSession = Effect.fnUntraced(function* (link: Link, caller: Caller["Service"]) {
  const handlers = yield* RpcHandlers;
  const audit = yield* Audit;
  /** Calls that are not over. */
  const open = new Map<string | number, TributaryRpc>();

  const fail = (requestId: string | number, error: NotFound | TooManyRequests) =>
    link.send({
      _tag: "Exit",
      requestId,
      exit: { _tag: "Failure", cause: [{ _tag: "Fail", error: encodeError(error) }] },
    });

  const ended = Effect.fnUntraced(function* (requestId: string | number, exit: Exit.Exit<unknown, unknown>) {
    const rpc = open.get(requestId);
    if (rpc === undefined) return;
    const encoded = hasDied(exit) ? undefined : yield* Effect.exit(codecsOf(rpc).encode(exit));
    const isFine = encoded !== undefined && Exit.isSuccess(encoded);
    if (!isFine) yield* Effect.logError(`${rpc._tag} failed`, Exit.isFailure(exit) ? exit.cause : encoded?.cause);
    yield* link.send({ _tag: "Exit", requestId, exit: isFine ? encoded.value : internalExit });
    // Not before there was room for the answer: one that waits counts among the calls.
    open.delete(requestId);
  });

  const server = yield* RpcServer.makeNoSerialization(TributaryRpcs, {
    disableFatalDefects: true,
    disableTracing: true,
    onFromServer: (response) => {
      switch (response._tag) {
        case "Chunk":
          // The values are JSON as they are.
          return link.send({ _tag: "Chunk", requestId: response.requestId, values: response.values });
        case "Exit":
          return ended(response.requestId, response.exit);
        case "Defect":
        case "ClientEnd":
          return Effect.void;
      }
    },
  }).pipe(Effect.provideContext(handlers), Effect.provideService(RpcAuthorization, authorizationOf(caller, audit)));

  const call = Effect.fnUntraced(function* ({
    id,
    tag,
    payload,
  }: Extract<ClientMessage, { readonly _tag: "Request" }>) {
    if (open.has(id))
      return yield* link.close(closeCodes.duplicateId, `The request ${id} is not over: give each its own id.`);
    const rpc = TributaryRpcs.requests.get(tag);
    if (rpc === undefined)
      return yield* fail(id, new NotFound({ detail: `There is no rpc ${tag.slice(0, 100)}.`, userAction: "none" }));
    if (open.size >= limits.maxCallsPerSocket)
      return yield* fail(
        id,
        new TooManyRequests({
          detail: `${limits.maxCallsPerSocket} calls of this connection are not over yet (GET /limits).`,
          userAction: "wait",
        }),
      );
    open.set(id, rpc);
    const decoded = yield* Effect.exit(codecsOf(rpc).decode(payload));
    if (Exit.isFailure(decoded)) return yield* ended(id, decoded);
    const request = { id: RpcMessage.RequestId(id), tag: rpc._tag, payload: decoded.value, headers: Headers.empty };
    // The payload was decoded by the schema of its tag.
    yield* server.write(clientId, { _tag: "Request", ...request } as RpcMessage.FromClient<TributaryRpc>);
  });

  const receive = (message: unknown): Effect.Effect<void> => {
    const decoded = decodeMessage(message);
    if (Exit.isFailure(decoded))
      return link.close(closeCodes.malformed, "This is no message of the protocol: see docs/wire.md.");
    const sent = decoded.value;
    switch (sent._tag) {
      case "Request":
        return call(sent);
      case "Ack":
      case "Interrupt": {
        // It may have ended just now.
        if (!open.has(sent.requestId)) return Effect.void;
        const requestId = RpcMessage.RequestId(sent.requestId);
        return server.write(
          clientId,
          sent._tag === "Ack" ? { _tag: "Ack", requestId } : { _tag: "Interrupt", requestId, interruptors: [] },
        );
      }
      case "Ping":
        return link.send({ _tag: "Pong" });
      case "Eof":
        return Effect.void;
    }
  };

  const session: Session = { receive };
  return session;
});
