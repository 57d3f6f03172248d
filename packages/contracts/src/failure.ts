import { Schema } from "effect";
import { opt } from "./json.ts";
import { Instant } from "./ids.ts";

/** Why a runtime, or the model behind it, failed. Closed; adapters map native codes to it and keep theirs in `code`. */
export const FailureClass = Schema.Literals([
  "auth",
  "quota",
  "rate_limit",
  "context_overflow",
  "provider",
  "transport",
  "permission",
  "validation",
  "unknown",
]);
export type FailureClass = typeof FailureClass.Type;

/** How a turn, an input or the opening of a session failed, in words for a person. `message` ≤ 4 KiB (4.11). */
export const Failure = Schema.Struct({
  class: FailureClass,
  code: opt(Schema.String),
  message: Schema.String,
  retryable: Schema.Boolean,
  retryAt: opt(Instant),
});
export type Failure = typeof Failure.Type;
