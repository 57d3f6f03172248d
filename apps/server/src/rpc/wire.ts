/** How a WebSocket is opened: a ticket by an ordinary call, then the upgrade that uses it up. */
import { Api, BadRequest, Caller, Unauthorized } from "@tributary/contracts/api";
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest";
import { Effect } from "effect";
import { HttpServerResponse } from "effect/http";
import type { HttpServerRequest } from "effect/http";
import { HttpApiBuilder } from "effect/http-api";
import { limits } from "../http/limits.ts";
import type { RpcServices } from "./handlers.ts";
import { seats } from "./seats.ts";
import { Tickets } from "./Tickets.ts";

const isUpgrade = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["upgrade"]?.toLowerCase() === "websocket";

const noTicket = (sent: string | undefined) =>
  new Unauthorized({
    detail: `${sent === undefined ? "No ticket was sent" : "The ticket is wrong, used or too old"}: POST /auth/ticket gives one that opens /rpc?ticket=… once, within half a minute.`,
    userAction: "login",
  });

/** What carries sessions; loaded when the first one opens, since most starts need none. */
const machinery = Effect.gen(function* () {
  const [{ makeRpcHandlers, RpcHandlers }, { carry }] = yield* Effect.promise(() =>
    Promise.all([import("./handlers.ts"), import("./socket.ts")]),
  );
  const handlers = yield* makeRpcHandlers;
  return (...args: Parameters<typeof carry>) => Effect.provideService(carry(...args), RpcHandlers, handlers);
});

/** Everything is checked before the upgrade: what is refused is an ordinary problem. */
export const rpc = HttpApiBuilder.group(Api, "rpc", (handlers) =>
  Effect.gen(function* () {
    const tickets = yield* Tickets;
    const services = yield* Effect.context<RpcServices>();
    // Whoever comes first may go away meanwhile; others wait for the same.
    const carrying = yield* Effect.cached(Effect.uninterruptible(Effect.provideContext(machinery, services)));
    const seat = seats(limits.maxSockets);
    return handlers.handleAll({
      ticket: () => Effect.flatMap(Caller, tickets.issue),
      connect: Effect.fnUntraced(function* ({ query: { ticket }, request }) {
        if (ticket === undefined || (yield* tickets.look(ticket)) === undefined) return yield* noTicket(ticket);
        if (!isUpgrade(request))
          return yield* new BadRequest({ detail: "Open this route as a WebSocket.", userAction: "none" });
        yield* seat;
        const carry = yield* carrying;
        const caller = yield* tickets.use(ticket);
        if (caller === undefined) return yield* noTicket(ticket);
        const socket = yield* Effect.orDie(request.upgrade);
        yield* carry(socket, NodeHttpServerRequest.toIncomingMessage(request).socket, caller);
        // The server replaces this with the 101 that was sent.
        return HttpServerResponse.empty();
      }, Effect.scoped),
    });
  }),
);
