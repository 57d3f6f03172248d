/** Seeded randomness: a failing run is repeated by its seed. */
export interface Random {
  readonly seed: number;
  /** 0 ≤ n < 1. */
  readonly next: () => number;
  /** 0 ≤ n < below, whole. */
  readonly below: (below: number) => number;
  readonly chance: (p: number) => boolean;
  readonly pick: <A>(list: ReadonlyArray<A>) => A;
}

export const random = (seed: number): Random => {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    seed,
    next,
    below,
    chance: (p) => next() < p,
    pick: (list) => {
      if (list.length === 0) throw new Error("picked from an empty list");
      return list[below(list.length)] as never;
    },
  };
};

/** Runs `test` with many seeds; a failure names its seed. */
export const forSeeds = (count: number, test: (random: Random) => void, first = 1): void => {
  for (let seed = first; seed < first + count; seed += 1) {
    try {
      test(random(seed));
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
};

/** What text is cut into badly: halves of pairs, combining marks, separators, whitespace. */
const scraps = [
  "a",
  "b",
  "ß",
  " ",
  "\n",
  "\u2028",
  "e\u0301",
  "\ud83d\ude00",
  "\ud83d",
  "\ude00",
  "界",
  "x".repeat(40),
  "\u0000",
  '"',
  "\\",
];

export const scrap = ({ below, pick }: Random, most = 6): string =>
  Array.from({ length: below(most) + 1 }, () => pick(scraps)).join("");

/** Cuts a text anywhere. */
export const cutAnywhere = (text: string, { below }: Random, longest = 5): ReadonlyArray<string> => {
  const pieces: Array<string> = [];
  for (let at = 0; at < text.length;) {
    const end = at + 1 + below(longest);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
};
