/** Seeded randomness (mulberry32): the same seed, the same script. */
export interface Random {
  /** 0 ≤ n < below. */
  readonly int: (below: number) => number;
  readonly pick: <A>(from: ReadonlyArray<A>) => A;
  readonly chance: (probability: number) => boolean;
  /** One of the given things, each as often as its weight says. */
  readonly weighted: <A>(from: ReadonlyArray<readonly [weight: number, thing: A]>) => A;
}

export const randomOf = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (below: number): number => Math.floor(next() * below);
  const pick = <A>(from: ReadonlyArray<A>): A => {
    const picked = from[int(from.length)];
    if (picked === undefined) throw new Error("nothing to pick from");
    return picked;
  };
  return {
    int,
    pick,
    chance: (probability) => next() < probability,
    weighted: (from) => {
      let left = next() * from.reduce((sum, [weight]) => sum + weight, 0);
      const found = from.find(([weight]) => (left -= weight) < 0) ?? from.at(-1);
      if (found === undefined) throw new Error("nothing to pick from");
      return found[1];
    },
  };
};
