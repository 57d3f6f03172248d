/**
 * Failures of turns. The runtime reports a refusal of the model service as a success with `is_error`, and shows it as an
 * assistant message besides; what it was stands in `api_error_status`, `terminal_reason` and the category of that message.
 */
import type { Failure } from "@tributary/contracts";
import { asInstant, asInt, asText, asTexts, asWords, defined, shorten, type NativeObject } from "../native.ts";

type Class = Failure["class"];

/** Categories of `SDKAssistantMessageError` (vendor schema, 0.3.332). */
const categories: Readonly<Record<string, Class>> = {
  authentication_failed: "auth",
  oauth_org_not_allowed: "auth",
  account_on_hold: "auth",
  verification_required: "auth",
  cloud_credential_error: "auth",
  billing_error: "quota",
  rate_limit: "rate_limit",
  overloaded: "provider",
  server_error: "provider",
  invalid_request: "validation",
  model_not_found: "validation",
};

/** Ends of the query loop that are failures of their own (vendor schema). */
const terminals: Readonly<Record<string, Class>> = {
  prompt_too_long: "context_overflow",
  blocking_limit: "context_overflow",
  rapid_refill_breaker: "context_overflow",
  image_error: "validation",
  model_error: "provider",
  malformed_tool_use_exhausted: "provider",
  budget_exhausted: "quota",
};

const subtypes: Readonly<Record<string, Class>> = {
  error_max_budget_usd: "quota",
  error_max_structured_output_retries: "validation",
};

const own = <V>(table: Readonly<Record<string, V>>, key: unknown): V | undefined =>
  typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined;

const byStatus = (status: number | undefined): Class | undefined => {
  switch (status) {
    case undefined:
      return undefined;
    case 401:
      return "auth";
    case 402:
      return "quota";
    case 403:
      return "permission";
    case 413:
      return "context_overflow";
    case 429:
      return "rate_limit";
    default:
      return status >= 500 ? "provider" : status >= 400 ? "validation" : undefined;
  }
};

const isRetryable = (failure: Class): boolean =>
  failure === "rate_limit" || failure === "provider" || failure === "transport";

/** The runtime's own note for its developers. */
const isDiagnostic = (text: string): boolean => text.startsWith("[ede_diagnostic]");

const messageOf = (result: NativeObject, apiError: NativeObject | undefined): string => {
  const errors = asTexts(result["errors"]).filter((text) => !isDiagnostic(text));
  const said = asWords(result["result"]) ?? asWords(errors.join("\n")) ?? asWords(apiError?.["text"]);
  return shorten(said ?? "The turn failed, and the runtime did not say why", 2000);
};

/** `apiError`: the assistant frame that shows the refusal. */
const classOf = (result: NativeObject, apiError: NativeObject | undefined): Class =>
  own(terminals, result["terminal_reason"]) ??
  byStatus(asInt(result["api_error_status"]) ?? asInt(apiError?.["api_error_status"])) ??
  (asText(result["api_error"]) === "connection_failed" ? "transport" : undefined) ??
  own(categories, apiError?.["error"]) ??
  own(subtypes, result["subtype"]) ??
  "unknown";

/** What a failed `result` says. `resetsAt`: when a used-up limit ends, in seconds since 1970. */
export const failureOf = (result: NativeObject, apiError: NativeObject | undefined, resetsAt?: number): Failure => {
  const failure = classOf(result, apiError);
  const status = asInt(result["api_error_status"]);
  const code =
    asWords(result["api_error"]) ??
    asWords(result["api_error_type"]) ??
    (status === undefined ? undefined : String(status)) ??
    asWords(apiError?.["error"]) ??
    asWords(result["terminal_reason"]) ??
    asWords(result["subtype"]);
  const retryAt = failure === "rate_limit" && resetsAt !== undefined ? asInstant(resetsAt * 1000) : undefined;
  return {
    class: failure,
    message: messageOf(result, apiError),
    retryable: isRetryable(failure),
    ...defined({ code: code === undefined ? undefined : shorten(code, 200), retryAt }),
  };
};

/** What a refusal inside a sub-agent says. */
export const refusalOf = (
  frame: NativeObject,
): { readonly class: Class; readonly message: string; readonly retryable: boolean } => {
  const failure = byStatus(asInt(frame["api_error_status"])) ?? own(categories, frame["error"]) ?? "unknown";
  return {
    class: failure,
    message: shorten(asWords(frame["text"]) ?? "The model service refused", 2000),
    retryable: isRetryable(failure),
  };
};

/** Whether an assistant frame shows a refusal of the model service instead of words of the model. */
export const isRefusal = (frame: NativeObject): boolean =>
  frame["is_api_error_message"] === true || asWords(frame["error"]) !== undefined;
