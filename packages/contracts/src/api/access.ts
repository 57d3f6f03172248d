/** Who may do what over the wire (I17): scopes are declared beside each route and checked by one middleware. */
import { Context, Schema } from "effect";
import type { Effect } from "effect";
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api";
import { Forbidden, TooManyRequests, Unauthorized } from "./problems.ts";

/**
 * observe: read. answer: answer requests with once and session options. operate: inputs, threads, interrupt.
 * diagnose: journal records. admin: projects, instances, stdio MCP servers, full access, project and user options.
 */
export const AccessScope = Schema.Literals(["observe", "answer", "operate", "diagnose", "admin"]);
export type AccessScope = typeof AccessScope.Type;

/** The scope that an endpoint asks for. Declared with `.annotate(RequiredScope, …)`; none declared means admin. */
export class RequiredScope extends Context.Reference<AccessScope>("tributary/api/RequiredScope", {
  defaultValue: () => "admin",
}) {}

/** The browser's cookie that stands for a token. */
export const cookieName = "tributary";

/** The caller, once its token was checked. */
export class Caller extends Context.Service<
  Caller,
  {
    /** The acting client in events and receipts: `owner`, or a device's id. */
    readonly id: string;
    /** Whose client it is: read markers are a person's, on whichever device. */
    readonly person: string;
    readonly scopes: ReadonlyArray<AccessScope>;
    /** Resolves once its token no longer holds: streams end then, within a second (I17). Never for the owner. */
    readonly revoked: Effect.Effect<void>;
  }
>()("tributary/api/Caller") {}

/**
 * A bearer token, or in a browser the cookie that it was traded for (`POST /auth/cookie`); and the scope of the endpoint.
 * With the cookie alone, what changes something must come from a page of ours.
 */
export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: Caller; requires: never }>()(
  "tributary/api/Authorization",
  {
    requiredForClient: true,
    // The last one's answer is the one that a refused caller hears.
    security: { cookie: HttpApiSecurity.apiKey({ in: "cookie", key: cookieName }), bearer: HttpApiSecurity.bearer },
    error: [Unauthorized, Forbidden, TooManyRequests],
  },
) {}
