/** Random numbers that come again with their seed. */
export interface Random {
  /** From 0 to below 1. */
  readonly next: () => number;
  /** A whole number from 0 to below `end`. */
  readonly below: (end: number) => number;
  readonly pick: <A>(from: readonly [A, ...ReadonlyArray<A>]) => A;
}

/** A seeded generator (mulberry32); good enough to choose moments, no more. */
export const makeRandom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return { next, below, pick: (from) => from[below(from.length)] ?? from[0] };
};
