/** `/docs`: the API to read and try, without anything from elsewhere. */
import { Api } from "@tributary/contracts/api";
import { Effect, Scope } from "effect";
import { HttpRouter, HttpServerResponse } from "effect/http";
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

export const docs = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope;
    // Three megabytes of scripts are loaded when somebody asks for the page, not at every start.
    const page = yield* Effect.cached(
      HttpRouter.toHttpEffect(HttpApiScalar.layer(Api, { path: "/docs", scalar: { withDefaultFonts: false } })).pipe(
        Effect.provideService(Scope.Scope, scope),
      ),
    );
    yield* router.add(
      "GET",
      "/docs",
      Effect.map(Effect.flatten(page), HttpServerResponse.setHeader("content-security-policy", policy)),
    );
  }),
);
