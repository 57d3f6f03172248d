/** `/docs`: the API to read and try, without anything from elsewhere. */
import { Api } from "@tributary/contracts/api";
import { Effect, Scope } from "effect";
import { HttpBody, HttpRouter, HttpServerResponse } from "effect/http";
import { HttpApiScalar } from "effect/http-api";

/** The page and its scripts are one document; nothing may be loaded beside it, and only we may be called. */
const policy = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval'",
  "style-src 'unsafe-inline'",
  "img-src data: blob:",
  "font-src data:",
  "worker-src blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The same answer with its bytes made: a text would be made into bytes anew for each connection, and wait there. */
export const sharedBytes = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  response.body._tag === "Uint8Array"
    ? HttpServerResponse.setBody(response, HttpBody.uint8Array(response.body.body, response.body.contentType))
    : response;

export const docs = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope;
    // Three megabytes of scripts are loaded when somebody asks for the page, not at every start. All get the same bytes:
    // the page needs no token, and whoever asks for it and does not read must not cost three megabytes each (I11).
    const page = yield* Effect.cached(
      HttpRouter.toHttpEffect(HttpApiScalar.layer(Api, { path: "/docs", scalar: { withDefaultFonts: false } })).pipe(
        Effect.provideService(Scope.Scope, scope),
        Effect.flatten,
        Effect.map(HttpServerResponse.setHeader("content-security-policy", policy)),
        Effect.map(sharedBytes),
        Effect.uninterruptible,
      ),
    );
    yield* router.add("GET", "/docs", page);
  }),
);
