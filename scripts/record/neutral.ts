/**
 * Makes a recording small and anybody's: paths, machine and vendor texts are replaced, what no test looks at is left out.
 * Pure; the same for a fresh recording and for an old one.
 */

export interface Line {
  /** Milliseconds since the start. */
  readonly t: number;
  readonly dir: "in" | "out" | "in-raw" | "stderr" | "meta";
  readonly msg: unknown;
}

/** Exact text → what stands for it; the longest first, so that a folder goes before its parent. */
export type Replacements = ReadonlyArray<readonly [real: string, neutral: string]>;

/** What a runtime's recorder knows to be too much. */
export interface Trimming {
  /** Members that hold long texts of the vendor. */
  readonly texts: ReadonlySet<string>;
  /** Members of which only some are kept, by the name under which the object stands. */
  readonly objects: Readonly<Record<string, ReadonlySet<string>>>;
  /** Members that are left out wherever they stand. */
  readonly dropped?: ReadonlySet<string>;
  /** Lists of which only the first are kept, by the name under which the list stands. */
  readonly lists?: Readonly<Record<string, number>>;
  /** Whether a message says what an earlier one of the same kind said: the first of them is evidence enough. */
  readonly repeats: (msg: unknown) => string | undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const trimValue = (value: unknown, name: string, trimming: Trimming): unknown => {
  if (Array.isArray(value)) return value.slice(0, trimming.lists?.[name]).map((one) => trimValue(one, name, trimming));
  if (typeof value === "string")
    return trimming.texts.has(name) && value.length > 40 ? `${value.slice(0, 40)}…` : value;
  if (!isObject(value)) return value;
  const kept = trimming.objects[name];
  return Object.fromEntries(
    Object.entries(value)
      .filter(([member]) => (kept === undefined || kept.has(member)) && trimming.dropped?.has(member) !== true)
      .map(([member, inner]) => [member, trimValue(inner, member, trimming)]),
  );
};

/** Escaped as JSON holds it. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

const replaceAll = (line: Line, replacements: Replacements): Line => {
  const json = replacements.reduce(
    (text, [real, neutral]) => text.replaceAll(escaped(real), escaped(neutral)),
    JSON.stringify(line),
  );
  return JSON.parse(json) as Line;
};

/** Leaves out stderr and repetitions, cuts vendor texts, replaces paths. */
export const neutral = (
  lines: ReadonlyArray<Line>,
  replacements: Replacements,
  trimming: Trimming,
): ReadonlyArray<Line> => {
  const seen = new Set<string>();
  const longestFirst = replacements.toSorted(([one], [other]) => other.length - one.length);
  return lines.flatMap((line) => {
    if (line.dir === "stderr") return [];
    const repeated = line.dir === "in" ? trimming.repeats(line.msg) : undefined;
    if (repeated !== undefined && seen.has(repeated)) return [];
    if (repeated !== undefined) seen.add(repeated);
    return [replaceAll({ ...line, msg: trimValue(line.msg, "", trimming) }, longestFirst)];
  });
};

export const toText = (lines: ReadonlyArray<Line>): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
