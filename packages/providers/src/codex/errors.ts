/** Why a turn failed: Codex's `codexErrorInfo` (0.171, vendor schema `CodexErrorInfo`) as a failure that people can act on. */
import type { Failure, FailureClass } from "@tributary/contracts";
import { asCount, asObject, asText, asWords, rowOf, shorten, type NativeObject } from "../native.ts";

/** Bytes of UTF-8 that an error's text may have are 4096; a code unit has at most three. */
const MESSAGE_UNITS = 1300;

const retryable: ReadonlySet<FailureClass> = new Set(["rate_limit", "provider", "transport"]);

/** Those that come as a name. */
const byName: Readonly<Record<string, FailureClass>> = {
  contextWindowExceeded: "context_overflow",
  sessionBudgetExceeded: "quota",
  usageLimitExceeded: "quota",
  rateLimitExceeded: "rate_limit",
  flexUnavailable: "provider",
  serverOverloaded: "provider",
  policyCapacityUnavailable: "provider",
  internalServerError: "provider",
  modelNotFound: "validation",
  badRequest: "validation",
  threadRollbackFailed: "validation",
  activeTurnNotSteerable: "validation",
  inferenceHookDenied: "permission",
  cyberPolicy: "permission",
  bioPolicy: "permission",
  misalignmentPolicyViolation: "permission",
  tooManyDenials: "permission",
  sandboxError: "permission",
  unauthorized: "auth",
};

/** Those that come as an object with the status of the model service, null where the connection itself failed. */
const byStatus: ReadonlySet<string> = new Set([
  "httpConnectionFailed",
  "responseStreamConnectionFailed",
  "responseStreamDisconnected",
  "responseTooManyFailedAttempts",
]);

const ofStatus = (status: number | undefined): FailureClass => {
  if (status === undefined || status === 408) return "transport";
  if (status === 401) return "auth";
  if (status === 402) return "quota";
  if (status === 403) return "permission";
  if (status === 429) return "rate_limit";
  return status >= 500 ? "provider" : "validation";
};

/** A missing key is "other" in 0.171; nothing but the text tells it from the rest (observed). */
const missingKey = /^Missing environment variable/;

const named = (info: unknown): { readonly name: string; readonly status?: number } | undefined => {
  const name = asText(info);
  if (name !== undefined) return { name };
  const [entry] = Object.entries(asObject(info) ?? {});
  if (entry === undefined) return undefined;
  const status = asCount(asObject(entry[1])?.["httpStatusCode"]);
  return status === undefined ? { name: entry[0] } : { name: entry[0], status };
};

const classOf = (error: NativeObject, lastRetry: unknown): FailureClass => {
  const info = named(error["codexErrorInfo"]);
  if (info !== undefined && byStatus.has(info.name)) return ofStatus(info.status);
  const known = info === undefined ? undefined : rowOf(byName, info.name);
  if (known !== undefined) return known;
  if (missingKey.test(asText(error["message"]) ?? "")) return "auth";
  // A stream that broke for good is "other": what it was tried again for says more (observed).
  const retried = named(lastRetry);
  return retried !== undefined && byStatus.has(retried.name) ? ofStatus(retried.status) : "unknown";
};

/** `lastRetry`: the `codexErrorInfo` of the turn's last attempt that was tried again. */
export const failureOf = (error: NativeObject | undefined, lastRetry?: unknown): Failure => {
  const found = error ?? {};
  const info = named(found["codexErrorInfo"]);
  const failure = classOf(found, lastRetry);
  const message = asWords(found["message"]) ?? "Codex gave no reason.";
  const details = asWords(found["additionalDetails"]);
  return {
    class: failure,
    ...(info === undefined ? {} : { code: info.status === undefined ? info.name : `${info.name}:${info.status}` }),
    message: shorten(details === undefined ? message : `${message} (${details})`, MESSAGE_UNITS),
    retryable: retryable.has(failure),
  };
};
