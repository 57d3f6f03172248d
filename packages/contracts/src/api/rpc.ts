/** The API over a WebSocket: how one is opened. What is called over it is in `@tributary/contracts/rpc`. */
import { Schema } from "effect";
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api";
import { Instant } from "../ids.ts";
import { opt } from "../json.ts";
import { Authorization, RequiredScope } from "./access.ts";
import { BadRequest, TooManyRequests, Unauthorized, Unavailable } from "./problems.ts";

/** Stands for the token that asked for it: once, for half a minute. Only this may stand in a URL. */
export const Ticket = Schema.Struct({ ticket: Schema.String, expiresAt: Instant }).annotate({
  identifier: "Ticket",
  examples: [{ ticket: "0b6Yk3rN1xq…", expiresAt: "2026-01-01T00:00:30.000Z" }],
});

export const RpcApi = HttpApiGroup.make("rpc").add(
  HttpApiEndpoint.post("ticket", "/auth/ticket", { success: Ticket, error: [TooManyRequests] })
    .annotate(RequiredScope, "observe")
    .annotate(
      OpenApi.Description,
      "A one-time ticket that stands for the token and opens `GET /rpc` within half a minute.",
    )
    .middleware(Authorization),
  HttpApiEndpoint.get("connect", "/rpc", {
    query: { ticket: opt(Schema.String) },
    success: HttpApiSchema.Empty(101),
    error: [BadRequest, Unauthorized, Unavailable],
  }).annotate(
    OpenApi.Description,
    "A WebSocket upgrade; the API as RPC over it. What is refused is refused before it. Messages: docs/wire.md.",
  ),
);
