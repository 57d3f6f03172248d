/** Error answers: `application/problem+json` bodies that say what to do next. */
import { Schema } from "effect";
import { HttpApiError } from "effect/http-api";
import { RejectionCode, UserAction } from "../commands.ts";
import { Instant } from "../ids.ts";
import { opt } from "../json.ts";

const fields = {
  /** What happened and the next step, for a person. */
  detail: Schema.String,
  userAction: UserAction,
};

const declare = <const C extends string, const S extends number>(code: C, status: S, title: string) => ({
  declaration: { type: `urn:tributary:problem:${code}` as const, status, title },
  fields: { ...fields, code: Schema.tag(code) },
});

const badRequest = declare("bad_request", 400, "The request is not well formed");
export class BadRequest extends HttpApiError.Problem<BadRequest>()("BadRequest", badRequest.declaration, {
  ...badRequest.fields,
  errors: opt(Schema.Array(HttpApiError.ProblemIssue)),
}) {}

const cursorInvalid = declare("cursor_invalid", 400, "The cursor belongs to another log or is damaged");
export class CursorProblem extends HttpApiError.Problem<CursorProblem>()(
  "CursorProblem",
  cursorInvalid.declaration,
  cursorInvalid.fields,
) {}

const unauthorized = declare("unauthorized", 401, "No valid token");
export class Unauthorized extends HttpApiError.Problem<Unauthorized>()(
  "Unauthorized",
  unauthorized.declaration,
  unauthorized.fields,
) {}

const forbidden = declare("forbidden", 403, "Not allowed");
export class Forbidden extends HttpApiError.Problem<Forbidden>()(
  "Forbidden",
  forbidden.declaration,
  forbidden.fields,
) {}

const notFound = declare("not_found", 404, "Not found");
export class NotFound extends HttpApiError.Problem<NotFound>()("NotFound", notFound.declaration, notFound.fields) {}

const methodNotAllowed = declare("method_not_allowed", 405, "This route has no such method");
export class MethodNotAllowed extends HttpApiError.Problem<MethodNotAllowed>()(
  "MethodNotAllowed",
  methodNotAllowed.declaration,
  methodNotAllowed.fields,
) {}

/** A refused command: 409 with the rejection's own code. */
export class CommandRejected extends HttpApiError.Problem<CommandRejected>()(
  "CommandRejected",
  { type: "urn:tributary:problem:command_rejected", status: 409, title: "The command was refused" },
  {
    ...fields,
    code: RejectionCode,
    commandId: Schema.String,
    resend: Schema.Literals(["safe", "unsafe"]),
    retryAt: opt(Instant),
    details: opt(Schema.Record(Schema.String, Schema.Unknown)),
  },
) {}

const tooLarge = declare("payload_too_large", 413, "The body is too large");
export class PayloadTooLarge extends HttpApiError.Problem<PayloadTooLarge>()(
  "PayloadTooLarge",
  tooLarge.declaration,
  tooLarge.fields,
) {}

const mediaType = declare("unsupported_media_type", 415, "Send application/json");
export class UnsupportedMediaType extends HttpApiError.Problem<UnsupportedMediaType>()(
  "UnsupportedMediaType",
  mediaType.declaration,
  mediaType.fields,
) {}

const tooMany = declare("too_many_requests", 429, "Too many requests");
export class TooManyRequests extends HttpApiError.Problem<TooManyRequests>()("TooManyRequests", tooMany.declaration, {
  ...tooMany.fields,
  retryAt: opt(Instant),
}) {}

const internal = declare("internal", 500, "Tributary failed");
export class Internal extends HttpApiError.Problem<Internal>()("Internal", internal.declaration, internal.fields) {}

const unavailable = declare("unavailable", 503, "The store can not take this now");
/** The store is full, closing or failing; nothing was committed, so the same request may be sent again. */
export class Unavailable extends HttpApiError.Problem<Unavailable>()("Unavailable", unavailable.declaration, {
  ...unavailable.fields,
  resend: Schema.tag("safe"),
}) {}
