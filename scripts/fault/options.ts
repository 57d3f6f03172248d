import { parseArgs } from "node:util";

/** Whole numbers from the arguments of a fault script, by option; what is not given has its default. */
export const numbersOf = <const Name extends string>(
  args: ReadonlyArray<string>,
  defaults: Readonly<Record<Name, number>>,
): Readonly<Record<Name, number>> => {
  const names = Object.keys(defaults) as ReadonlyArray<Name>;
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
  });
  const numberOf = (name: Name): number => {
    const text = values[name];
    if (text === undefined) return defaults[name];
    const value = Number(text);
    if (!Number.isInteger(value) || value < 0)
      throw new Error(`--${name} takes a whole number, not "${String(text)}".`);
    return value;
  };
  return Object.fromEntries(names.map((name) => [name, numberOf(name)])) as Record<Name, number>;
};

/** A seed for a run that was given none. */
export const someSeed = (): number => Math.floor(Math.random() * 2 ** 31);
