/** How a WebSocket is opened: a ticket by an ordinary call, then the upgrade that uses it up. */
import { Api, BadRequest, Caller, Unauthorized, Unavailable } from "@tributary/contracts/api";
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest";
import { Effect } from "effect";
import { HttpServerResponse } from "effect/http";
import type { HttpServerRequest } from "effect/http";
import { HttpApiBuilder } from "effect/http-api";
import { limits } from "../http/limits.ts";
import { RpcHandlers } from "./handlers.ts";
import { carry } from "./socket.ts";
import { Tickets } from "./Tickets.ts";

const isUpgrade = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["upgrade"]?.toLowerCase() === "websocket";

const noTicket = (sent: string | undefined) =>
  new Unauthorized({
    detail: `${sent === undefined ? "No ticket was sent" : "The ticket is wrong, used or too old"}: POST /auth/ticket gives one that opens /rpc?ticket=… once, within half a minute.`,
    userAction: "login",
  });

/** The sockets that are open. */
const seats = (max: number) => {
  let taken = 0;
  return Effect.acquireRelease(
    Effect.suspend(() => {
      if (taken >= max)
        return Effect.fail(
          new Unavailable({
            detail: `${max} WebSockets are open, and there can be no more (GET /limits).`,
            userAction: "wait",
          }),
        );
      taken += 1;
      return Effect.void;
    }),
    () => Effect.sync(() => (taken -= 1)),
  );
};

/** Everything is checked before the upgrade: what is refused is an ordinary problem. */
export const rpc = HttpApiBuilder.group(Api, "rpc", (handlers) =>
  Effect.gen(function* () {
    const tickets = yield* Tickets;
    const rpcs = yield* RpcHandlers;
    const seat = seats(limits.maxSockets);
    return handlers.handleAll({
      ticket: () => Effect.flatMap(Caller, tickets.issue),
      connect: Effect.fnUntraced(function* ({ query: { ticket }, request }) {
        if (ticket === undefined || (yield* tickets.look(ticket)) === undefined) return yield* noTicket(ticket);
        if (!isUpgrade(request))
          return yield* new BadRequest({ detail: "Open this route as a WebSocket.", userAction: "none" });
        yield* seat;
        const caller = yield* tickets.use(ticket);
        if (caller === undefined) return yield* noTicket(ticket);
        const socket = yield* Effect.orDie(request.upgrade);
        yield* carry(socket, NodeHttpServerRequest.toIncomingMessage(request).socket, caller).pipe(
          Effect.provideService(RpcHandlers, rpcs),
        );
        // The server replaces this with the 101 that was sent.
        return HttpServerResponse.empty();
      }, Effect.scoped),
    });
  }),
);
