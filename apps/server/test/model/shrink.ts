/** Cuts lines out of a script as long as it still fails: what is left is short enough to read, and a scenario file. */
export const shrink = async <A>(
  lines: ReadonlyArray<A>,
  fails: (lines: ReadonlyArray<A>) => Promise<boolean>,
  attempts: number,
): Promise<ReadonlyArray<A>> => {
  let left = attempts;
  let shortest = lines;
  for (let size = Math.ceil(lines.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < shortest.length && left > 0;) {
      left -= 1;
      const shorter = [...shortest.slice(0, from), ...shortest.slice(from + size)];
      if (await fails(shorter)) shortest = shorter;
      else from += size;
    }
  }
  return shortest;
};
