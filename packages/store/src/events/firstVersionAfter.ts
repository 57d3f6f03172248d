/**
 * The first version of a stream whose event comes after a sequence; `newest + 1` when none does.
 *
 * Sequences rise with versions, and there is an index by version only (one index less to write for every event). So the
 * place is searched: from the newest backwards in doubling steps, because readers are nearly always close to the end,
 * then by halving. At most 2·log2(n) look-ups by key.
 */
export const firstVersionAfter = (after: number, newest: number, sequenceOf: (version: number) => number): number => {
  /** Its event comes after; so do those of all later ones. */
  let high = newest + 1;
  /** Its event does not come after. */
  let low = 0;
  for (let step = 1; high - step > low; step *= 2) {
    const version = high - step;
    if (sequenceOf(version) <= after) {
      low = version;
      break;
    }
    high = version;
  }
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (sequenceOf(middle) <= after) low = middle;
    else high = middle;
  }
  return high;
};
