/**
 * What every request passes before a route sees it, and every answer on its way out: who may call, how large and of what
 * type a body may be, and that whatever goes wrong is answered with a problem.
 */
import { cookieName, UnsupportedMediaType } from "@tributary/contracts/api";
import { ByteSize, Cause, Effect, Option } from "effect";
import { HttpIncomingMessage, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http";
import type { Scope } from "effect";
import type { Attempts } from "../auth/Attempts.ts";
import { addressOf, Reach, RemoteAddress } from "../auth/reach.ts";
import { isSameOrigin, refusal } from "./allowlist.ts";
import type { Allowlist } from "./allowlist.ts";
import { accepts, bodyRule } from "./bodies.ts";
import { limits } from "./limits.ts";
import { problemResponse, tooLarge } from "./problems.ts";
import { holderOf } from "./Tokens.ts";
import type { Tokens } from "./Tokens.ts";

type Request = HttpServerRequest.HttpServerRequest;
type Response = HttpServerResponse.HttpServerResponse;

/** `undefined` when the body, if there is one, may be read. Reads headers only. */
const bodyRefusal = (request: Request) => {
  const { method, headers, url } = request;
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return undefined;
  const rule = bodyRule(method, url);
  const length = Number(headers["content-length"] ?? 0);
  if (length > rule.maxBytes) return tooLarge(rule.maxBytes);
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
        // Named one by one in the settings: such a page may use its person's cookie.
        "access-control-allow-credentials": "true",
        "access-control-expose-headers": "allow, content-disposition, www-authenticate",
        vary: "Origin",
      };
};

const preflight = (cors: Readonly<Record<string, string>>): Response =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      ...cors,
      "access-control-allow-methods": "GET, POST, PATCH, DELETE",
      "access-control-allow-headers": "authorization, content-type, idempotency-key, last-event-id, x-filename",
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

export interface EdgeOptions {
  /** Asked at every request: settings change while the server runs. */
  readonly allowed: () => Allowlist;
  readonly attempts: Attempts["Service"];
  readonly tokens: Pick<Tokens["Service"], "verify" | "checkCookie">;
}

/**
 * Whose token or cookie a request has; undefined for a stranger, and for what is not valid. Who is known has requests of its
 * own, so that strangers at the same address, such as other programs of this machine, do not use them up.
 */
export const knownIn = (
  { headers, cookies }: Pick<Request, "headers" | "cookies">,
  tokens: EdgeOptions["tokens"],
): string | undefined => {
  const bearer = /^bearer +(\S+) *$/i.exec(headers["authorization"] ?? "")?.[1];
  if (bearer !== undefined) return tokens.verify(bearer)?.id;
  const cookie = headers["authorization"] === undefined ? cookies[cookieName] : undefined;
  return cookie === undefined ? undefined : holderOf(tokens.checkCookie(cookie))?.id;
};

/** Where an upgrade was refused, the connection ends with the answer; nobody may think that it is kept. */
const closingUpgrade = (response: Response): Effect.Effect<Response, never, Request> =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
    headers["upgrade"] === undefined ? response : HttpServerResponse.setHeader(response, "connection", "close"),
  );

const refuse = (problem: HttpServerRespondable.Respondable): Effect.Effect<Response> =>
  Effect.map(HttpServerRespondable.toResponse(problem), (response) => finished(response, undefined));

/** Wraps the router. Fails with nothing: interruption of a client that went away is the only other way out. */
export const edge = (
  router: Effect.Effect<Response, unknown, Request | Scope.Scope>,
  { allowed, attempts, tokens }: EdgeOptions,
): Effect.Effect<Response, never, Request | Scope.Scope> =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest;
    const { headers } = request;
    const address = addressOf(request, yield* Reach);
    const isLocal = Option.isNone(request.remoteAddress);
    const known = isLocal ? address : knownIn(request, tokens);
    const refused =
      refusal({ host: headers["host"], origin: headers["origin"], site: headers["sec-fetch-site"] }, allowed()) ??
      bodyRefusal(request) ??
      (isLocal
        ? undefined
        : yield* Effect.match(attempts.count("request", known === undefined ? address : `holder ${known}`), {
            onFailure: (tooMany) => tooMany,
            onSuccess: () => undefined,
          }));
    if (refused !== undefined) return yield* refuse(refused);
    const cors = crossOrigin(request);
    if (request.method === "OPTIONS" && cors !== undefined) return preflight(cors);
    const { maxBytes } = bodyRule(request.method, request.url);
    // What a stranger may say is short, and would wait in memory until it is whole.
    const readable = known === undefined ? Math.min(maxBytes, limits.maxStrangerBodyBytes) : maxBytes;
    return yield* router.pipe(
      Effect.provideService(RemoteAddress, address),
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(readable)),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause as Cause.Cause<never>)
          : problemResponse(cause, request, readable),
      ),
      Effect.map((response) => finished(response, cors)),
    );
  }).pipe(Effect.flatMap(closingUpgrade));
