/** From whatever went wrong to a problem that says what to do next. */
import type { Rejection } from "@tributary/contracts";
import {
  BadRequest,
  CommandRejected,
  Internal,
  MethodNotAllowed,
  NotFound,
  PayloadTooLarge,
  Unavailable,
} from "@tributary/contracts/api";
import type { StoreError } from "@tributary/store";
import { Cause, Effect, SchemaIssue } from "effect";
import { HttpServerError, HttpServerRespondable, HttpServerResponse } from "effect/http";
import type { HttpServerRequest } from "effect/http";
import { HttpApiError } from "effect/http-api";
import { jsonMistake } from "../config/json-position.ts";
import { methodsOf } from "./route-table.ts";

/** A refused command. Codes that a client can do nothing about but read are still told by code, never by text. */
export const rejected = (commandId: string, rejection: Rejection): CommandRejected => {
  const { code, message, userAction, resend, retryAt, details } = rejection;
  return new CommandRejected({
    code,
    detail: message,
    userAction,
    resend,
    commandId,
    ...(retryAt === undefined ? {} : { retryAt }),
    ...(details === undefined ? {} : { details }),
  });
};

/** Nothing was committed for any of these. `fault` and `corrupt` do not pass by waiting. */
export const storeProblem = (error: StoreError): Unavailable | Internal => {
  switch (error.reason) {
    case "full":
      return new Unavailable({
        detail: `${error.message} Free disk space, then send the same again.`,
        userAction: "retry",
      });
    case "closed":
      return new Unavailable({
        detail: "The server is stopping; send the same again to its successor.",
        userAction: "wait",
      });
    case "locked":
    case "io":
      return new Unavailable({ detail: error.message, userAction: "retry" });
    case "corrupt":
    case "fault":
      return new Internal({ detail: `${error.message} \`tributary doctor\` says more.`, userAction: "none" });
  }
};

export const notFound = (what: string): NotFound => new NotFound({ detail: what, userAction: "none" });

export const badRequest = (detail: string, path: ReadonlyArray<string | number> = []): BadRequest =>
  new BadRequest({
    detail,
    userAction: "none",
    ...(path.length === 0 ? {} : { errors: [{ path, message: detail }] }),
  });

export const tooLarge = (maxBytes: number): PayloadTooLarge =>
  new PayloadTooLarge({
    detail: `A body may have ${maxBytes} bytes here (GET /limits).`,
    userAction: "shorten",
  });

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1();
const segment = (part: PropertyKey | { readonly key: PropertyKey }): string | number => {
  const key = typeof part === "object" ? part.key : part;
  return typeof key === "number" ? key : String(key);
};

/** What does not fit a schema: each mistake with its path under `slot`, the first in words. */
export const mistakesIn = (issue: SchemaIssue.Issue, slot?: string): BadRequest => {
  const errors = formatIssues(issue).issues.map(({ path, message }) => ({
    path: [...(slot === undefined ? [] : [slot]), ...(path ?? []).map(segment)],
    message,
  }));
  const first = errors[0];
  return new BadRequest({
    detail:
      first === undefined
        ? `The ${slot ?? "payload"} is not well formed.`
        : `${first.path.join(".")}: ${first.message}`,
    userAction: "none",
    errors,
  });
};

/** A request that does not fit the schema of its endpoint. */
export const malformed = (error: HttpApiError.HttpApiSchemaError): BadRequest =>
  mistakesIn(error.cause.issue, error.kind.toLowerCase());

const isBodyTooLarge = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) &&
  error.reason._tag === "RequestParseError" &&
  error.reason.reason === "BodyTooLarge";

const unknownRoute = (method: string, path: string) => {
  const methods = methodsOf(path);
  // A known path that the router could not read.
  if (methods.includes(method))
    return HttpServerRespondable.toResponse(badRequest(`${path} can't be decoded: percent-encode it anew.`, ["path"]));
  return methods.length === 0
    ? Effect.succeed(
        notFound(`There is no ${path}; /docs shows every route, /openapi.json has them for programs.`),
      ).pipe(Effect.flatMap(HttpServerRespondable.toResponse))
    : HttpServerRespondable.toResponse(
        new MethodNotAllowed({
          detail: `${path} takes ${methods.join(", ")}, not ${method}.`,
          userAction: "none",
        }),
      ).pipe(Effect.map(HttpServerResponse.setHeader("allow", methods.join(", "))));
};

/** Where a body stops being JSON; the router only knows that it does. */
const jsonProblem = (request: HttpServerRequest.HttpServerRequest, error: HttpApiError.HttpApiSchemaError) =>
  Effect.match(request.text, {
    onFailure: () => malformed(error),
    onSuccess: (text) => {
      const mistake = error.kind === "Payload" && text !== "" ? jsonMistake(text) : undefined;
      if (mistake === undefined) return malformed(error);
      const { line, column, expected } = mistake;
      return badRequest(`The body is not JSON: line ${line}, column ${column}: expected ${expected}.`, ["payload"]);
    },
  });

/** The answer for a handler that failed with something its endpoint does not declare, or died. */
export const problemResponse = (
  cause: Cause.Cause<unknown>,
  request: HttpServerRequest.HttpServerRequest,
  /** How much of a body was read. */
  maxBytes: number,
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const { method } = request;
  const path = request.url.split("?")[0] ?? request.url;
  const error = Cause.squash(cause);
  if (HttpServerResponse.isHttpServerResponse(error)) return Effect.succeed(error);
  if (HttpApiError.HttpApiSchemaError.is(error) && error.kind !== "Body" && error.kind !== "ResponseHeaders")
    return Effect.flatMap(jsonProblem(request, error), HttpServerRespondable.toResponse);
  if (HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound")
    return unknownRoute(method, path);
  if (isBodyTooLarge(error)) return HttpServerRespondable.toResponse(tooLarge(maxBytes));
  if (HttpServerError.isHttpServerError(error) && error.reason._tag === "RequestParseError")
    return HttpServerRespondable.toResponse(badRequest("The body could not be read; send it again.", ["payload"]));
  if (
    HttpServerRespondable.isRespondable(error) &&
    !HttpServerError.isHttpServerError(error) &&
    !HttpApiError.HttpApiSchemaError.is(error)
  )
    return HttpServerRespondable.toResponse(error);
  return Effect.andThen(
    Effect.logError(`${method} ${path} failed`, cause),
    HttpServerRespondable.toResponse(
      new Internal({
        detail: "Tributary failed in this request; its log says more. Nothing else is affected.",
        userAction: "none",
      }),
    ),
  );
};
