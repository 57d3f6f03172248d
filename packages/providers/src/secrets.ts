/**
 * Values that a session was given as secrets (I16): of the instance's environment, of MCP servers, of secret answers. They
 * are replaced wherever they would leave the adapter: records, events, errors, the tail of stderr.
 */
import type { RuntimeRecord } from "@tributary/contracts";

export const MASK = "•••";

/** Shorter values (`1`, `true`, `error`) are no secrets, and replacing them would ruin what the agent says. */
const SHORTEST = 8;

const secretName = /key|token|secret|passw|credential|auth/i;
const path = /^(~?[\\/]|[A-Za-z]:[\\/])/;

/**
 * The values of an environment that are kept out of records. A folder is none: replacing it would ruin every path below
 * it, unless the variable's name says that it is a secret. Nor is a short value.
 */
export const environmentSecrets = (env: Readonly<Record<string, string>> = {}): ReadonlyArray<string> =>
  Object.entries(env).flatMap(([name, value]) =>
    value.length >= SHORTEST && (secretName.test(name) || !path.test(value)) ? [value] : [],
  );

export class Secrets {
  /** Longest first: one value may hold another. */
  #values: ReadonlyArray<string> = [];

  constructor(values: Iterable<string> = []) {
    this.add(values);
  }

  add(values: Iterable<string>): void {
    const all = new Set([...this.#values, ...values].filter((value) => value.length >= SHORTEST));
    this.#values = [...all].toSorted((one, other) => other.length - one.length);
  }

  /** Replaces exact values in a text. */
  text(text: string): string {
    return this.#values.reduce((masked, value) => masked.replaceAll(value, MASK), text);
  }

  /** Replaces exact values in all texts of a record. Those that were split over several frames can't be seen. */
  record(record: RuntimeRecord): RuntimeRecord {
    if (this.#values.length === 0) return record;
    const json = JSON.stringify(record);
    const masked = this.#values.reduce(
      (text, value) => text.replaceAll(JSON.stringify(value).slice(1, -1), MASK),
      json,
    );
    return masked === json ? record : (JSON.parse(masked) as RuntimeRecord);
  }
}
