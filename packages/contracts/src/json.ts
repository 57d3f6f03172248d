import { Schema } from "effect";

/** Any JSON value. Tool input and output travel as this: their shape is the runtime's. */
export const Json = Schema.Unknown;
export type Json = unknown;

/** Values inside one another, at most. */
const deepest = 256;

const isShallow = (value: unknown): boolean => {
  const seen = new Set<unknown>();
  let level: ReadonlyArray<unknown> = [value];
  for (let depth = 0; depth <= deepest; depth += 1) {
    level = level.flatMap((one) => {
      if (typeof one !== "object" || one === null || seen.has(one)) return [];
      seen.add(one);
      return Object.values(one);
    });
    if (level.length === 0) return true;
  }
  return false;
};

/**
 * Any JSON value that a client sends: not deeper than what compares, writes and shows it can go, since all of that is
 * recursive.
 */
export const ClientJson = Schema.Unknown.check(
  Schema.makeFilter((value) => isShallow(value) || `Expected at most ${deepest} values inside one another`),
);

/** A non-negative whole number: tokens, code units, bytes, milliseconds. */
export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0));

/** A non-negative amount such as US dollars. */
export const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0));

export const opt = Schema.optionalKey;
