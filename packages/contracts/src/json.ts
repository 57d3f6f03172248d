import { Schema } from "effect";

/** Any JSON value. Tool input and output travel as this: their shape is the runtime's. */
export const Json = Schema.Unknown;
export type Json = unknown;

/** A non-negative whole number: tokens, code units, bytes, milliseconds. */
export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0));

/** A non-negative amount such as US dollars. */
export const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0));

export const opt = Schema.optionalKey;
