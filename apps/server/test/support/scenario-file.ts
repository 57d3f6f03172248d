/** Scenario files with what they expect: `//? <path> == <json>` lines, beside the script. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../scenarios/", import.meta.url));

export interface Expectation {
  /** Dotted path into the output; numbers index arrays. */
  readonly path: string;
  readonly expected: unknown;
}

export interface ScenarioFile {
  readonly name: string;
  readonly text: string;
  readonly expectations: ReadonlyArray<Expectation>;
}

const expectationOf = (line: string): ReadonlyArray<Expectation> => {
  const found = /^\/\/\? (\S+) == (.+)$/.exec(line);
  if (found === null) return [];
  const [, path = "", json = ""] = found;
  return [{ path, expected: JSON.parse(json) as unknown }];
};

export const scenarioFiles: ReadonlyArray<ScenarioFile> = readdirSync(folder)
  .filter((name) => name.endsWith(".ndjson"))
  .toSorted()
  .map((name) => {
    const text = readFileSync(`${folder}${name}`, "utf8");
    return { name: name.replace(/\.ndjson$/, ""), text, expectations: text.split("\n").flatMap(expectationOf) };
  });

/** The value at a path of dots; a part may itself hold no dot. */
export const at = (value: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>(
      (inner, part) =>
        typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[part] : undefined,
      value,
    );

/**
 * The part of `actual` that `expected` speaks of: objects are cut to the expected keys, arrays keep their length, so that
 * a comparison of both shows exactly what differs.
 */
export const shapedLike = (actual: unknown, expected: unknown): unknown => {
  if (Array.isArray(expected) && Array.isArray(actual))
    return actual.map((item: unknown, index) => shapedLike(item, expected[index]));
  if (isRecord(expected) && isRecord(actual))
    return Object.fromEntries(
      Object.keys(expected)
        .filter((key) => key in actual)
        .map((key) => [key, shapedLike(actual[key], expected[key])]),
    );
  return actual;
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isScript = (line: string): boolean => line.trim() !== "" && !line.startsWith("//");

/** How many lines of a file do something. */
export const scriptLines = (text: string): number => text.split("\n").filter(isScript).length;

/**
 * The script with `extra` after each line that does something. Line numbers, and with them the ids that lines give to
 * events and commands, move; nothing in a state depends on them.
 */
export const afterEachLine = (text: string, extra: string): string =>
  text
    .split("\n")
    .flatMap((line) => (isScript(line) ? [line, extra] : [line]))
    .join("\n");

/** The script with `extra` after the line that does something of this number, from 0. */
export const afterLine = (text: string, number: number, extra: string): string => {
  let seen = -1;
  return text
    .split("\n")
    .flatMap((line) => {
      if (isScript(line)) seen += 1;
      return isScript(line) && seen === number ? [line, extra] : [line];
    })
    .join("\n");
};
