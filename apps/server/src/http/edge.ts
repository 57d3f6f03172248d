/**
 * What every request passes before a route sees it, and every answer on its way out: who may call, how large and of what
 * type a body may be, and that whatever goes wrong is answered with a problem.
 */
import { UnsupportedMediaType } from "@tributary/contracts/api";
import { ByteSize, Cause, Effect } from "effect";
import { HttpIncomingMessage, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http";
import type { Scope } from "effect";
import { isSameOrigin, refusal } from "./allowlist.ts";
import type { Allowlist } from "./allowlist.ts";
import { accepts, bodyRule } from "./bodies.ts";
import { problemResponse, tooLarge } from "./problems.ts";

type Request = HttpServerRequest.HttpServerRequest;
type Response = HttpServerResponse.HttpServerResponse;

/** `undefined` when the body, if there is one, may be read. Reads headers only. */
const bodyRefusal = (request: Request) => {
  const { method, headers, url } = request;
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return undefined;
  const rule = bodyRule(method, url);
  const length = Number(headers["content-length"] ?? 0);
  if (length > rule.maxBytes) return tooLarge(request);
  const hasBody = length > 0 || headers["transfer-encoding"] !== undefined;
  const type = headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (!hasBody || accepts(rule, type)) return undefined;
  const wanted = rule.types === "any" ? "its media type" : rule.types.join(" or ");
  return new UnsupportedMediaType({
    detail: `Send \`Content-Type\` with the body: ${wanted}, not ${type ?? "none"}.`,
    userAction: "none",
  });
};

/** For a page of another origin that is allowed: the headers with which its browser lets it read the answer. */
const crossOrigin = ({ headers }: Request): Readonly<Record<string, string>> | undefined => {
  const { origin, host } = headers;
  return origin === undefined || host === undefined || isSameOrigin(origin, host.toLowerCase())
    ? undefined
    : {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": "allow, www-authenticate",
        vary: "Origin",
      };
};

const preflight = (cors: Readonly<Record<string, string>>): Response =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      ...cors,
      "access-control-allow-methods": "GET, POST, PATCH, DELETE",
      "access-control-allow-headers": "authorization, content-type, idempotency-key, last-event-id",
      "access-control-max-age": "600",
    },
  });

const finished = (response: Response, cors: Readonly<Record<string, string>> | undefined): Response =>
  HttpServerResponse.setHeaders(response, {
    "x-content-type-options": "nosniff",
    ...(response.headers["cache-control"] === undefined ? { "cache-control": "no-store" } : {}),
    ...(response.status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...cors,
  });

/** Wraps the router. Fails with nothing: interruption of a client that went away is the only other way out. */
export const edge = (
  router: Effect.Effect<Response, unknown, Request | Scope.Scope>,
  allowed: () => Allowlist,
): Effect.Effect<Response, never, Request | Scope.Scope> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const { headers } = request;
    const refused =
      refusal({ host: headers["host"], origin: headers["origin"], site: headers["sec-fetch-site"] }, allowed()) ??
      bodyRefusal(request);
    if (refused !== undefined)
      return Effect.map(HttpServerRespondable.toResponse(refused), (response) => finished(response, undefined));
    const cors = crossOrigin(request);
    if (request.method === "OPTIONS" && cors !== undefined) return Effect.succeed(preflight(cors));
    return router.pipe(
      Effect.provideService(
        HttpIncomingMessage.MaxBodySize,
        ByteSize.bytes(bodyRule(request.method, request.url).maxBytes),
      ),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause as Cause.Cause<never>)
          : problemResponse(cause, request),
      ),
      Effect.map((response) => finished(response, cors)),
    );
  });
