/** Who may call what over RPC: the same scopes as over HTTP, checked at each call. */
import { Context, Schema } from "effect";
import * as RpcMiddleware from "effect/rpc/RpcMiddleware";
import type { Caller } from "../api/access.ts";
import { BadRequest, Forbidden, Internal, TooManyRequests } from "../api/problems.ts";

/** Set on calls that need no token over HTTP, and so no scope here. */
export class Open extends Context.Reference<boolean>("tributary/rpc/Open", { defaultValue: () => false }) {}

/** Checks the scope of each call. Its errors are those that any call may end with. */
export class RpcAuthorization extends RpcMiddleware.Service<RpcAuthorization, { provides: Caller }>()(
  "tributary/rpc/Authorization",
  { error: Schema.Union([BadRequest, Forbidden, TooManyRequests, Internal]) },
) {}
