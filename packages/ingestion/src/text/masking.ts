/**
 * Exact values of secrets in text that comes in pieces (I16, docs/decisions/011). A value that is split over pieces is
 * masked as if it were whole: what may be the beginning of one is kept back until it is decided.
 *
 *      … the key is sk-12
 *                   └─ undecided: `sk-12345` may follow. Handed out with what comes, or when the text ends.
 *
 * K1 `masked` of the parts that are handed out, cut where `decided`, `before` and `after` say, is `masked` of the whole.
 * K2 At most `longest - 1` code units are undecided.
 */
import { mask } from "@tributary/domain";

/** Longer values are masked only where one event holds them whole: so much may be kept back. */
const longestSplit = 8_192;

export interface Masker {
  /** Of its values, sorted: who has the same ones can use it. */
  readonly values: ReadonlyArray<string>;
  readonly longest: number;
  /** The text with its values masked. */
  readonly masked: (text: string) => string;
  /** How many code units are decided: what follows them may be the beginning of a value. */
  readonly decided: (text: string) => number;
  /** The largest position ≤ `at` that is not inside a value. */
  readonly before: (text: string, at: number) => number;
  /** The smallest position ≥ `at` that is not inside a value. */
  readonly after: (text: string, at: number) => number;
}

const escaped = (value: string): string => value.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);

type Span = readonly [start: number, end: number];

const make = (values: ReadonlyArray<string>): Masker => {
  // From left to right, the longest first.
  const pattern = new RegExp(values.map(escaped).join("|"), "g");
  const longest = Math.max(...values.map((value) => value.length));
  const firsts = new Set(values.map((value) => value.charCodeAt(0)));
  const spans = (text: string): ReadonlyArray<Span> =>
    [...text.matchAll(pattern)].map(({ index, 0: { length } }) => [index, index + length]);
  const around = (text: string, at: number): Span | undefined =>
    spans(text).find(([start, end]) => start < at && at < end);
  const mayBegin = (text: string, at: number): boolean => {
    if (!firsts.has(text.charCodeAt(at))) return false;
    const rest = text.slice(at);
    return values.some((value) => value.length > rest.length && value.startsWith(rest));
  };
  return {
    values,
    longest,
    masked: (text) => text.replaceAll(pattern, mask),
    decided: (text) => {
      const found = spans(text);
      for (let at = Math.max(0, text.length - longest + 1); at < text.length; at += 1) {
        const inside = found.find(([start, end]) => start < at && at < end);
        if (inside !== undefined) at = inside[1] - 1;
        else if (mayBegin(text, at)) return at;
      }
      return text.length;
    },
    before: (text, at) => around(text, at)?.[0] ?? at,
    after: (text, at) => around(text, at)?.[1] ?? at,
  };
};

const same = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): boolean =>
  one.length === other.length && one.every((value, index) => value === other[index]);

/** A masker of these values, longest first; `known` where it is of the same ones; undefined where there are none. */
export const maskerOf = (secrets: ReadonlyArray<string>, known?: Masker): Masker | undefined => {
  const values = [...new Set(secrets)].filter((value) => value.length <= longestSplit);
  if (values.length === 0) return undefined;
  return known !== undefined && same(known.values, values) ? known : make(values);
};

/** Masked where there are secrets. */
export const maskedBy = (masker: Masker | undefined, text: string): string =>
  masker === undefined ? text : masker.masked(text);
