/**
 * Randomness with a seed: a failing case is repeated by its seed.
 */

/** Numbers in [0, 1): mulberry32. */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Cuts bytes into chunks of random length; empty ones included. */
export const cutRandomly = (bytes: Uint8Array, maxLength: number, random: () => number): Array<Uint8Array> => {
  const chunks: Array<Uint8Array> = [];
  for (let start = 0; start < bytes.length;) {
    const length = Math.floor(random() * (maxLength + 1));
    chunks.push(bytes.subarray(start, start + length));
    start += length;
  }
  return chunks;
};

/** One of `choices`. */
export const pick = <Choice>(choices: ReadonlyArray<Choice>, random: () => number): Choice => {
  const choice = choices[Math.floor(random() * choices.length)];
  if (choice === undefined) throw new Error("nothing to choose from");
  return choice;
};

/** Runs a case for many seeds, and names the seed of the one that fails. */
export const forSeeds = (count: number, run: (random: () => number) => void): void => {
  for (let seed = 1; seed <= count; seed += 1) {
    try {
      run(randomFrom(seed));
    } catch (cause) {
      throw new Error(`failed with seed ${seed}`, { cause });
    }
  }
};
