import { parseArgs } from "node:util";

/** Whole numbers from the arguments of a fault script, by option; what is not given has its default. */
export const numbersOf = <Defaults extends Readonly<Record<string, number>>>(
  args: ReadonlyArray<string>,
  defaults: Defaults,
): { readonly [Name in keyof Defaults]: number } => {
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: "string" as const }])),
  });
  const given = Object.entries(values).map(([name, text]) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < 0)
      throw new Error(`--${name} takes a whole number, not "${String(text)}".`);
    return [name, value] as const;
  });
  return { ...defaults, ...Object.fromEntries(given) };
};

/** A seed for a run that was given none. */
export const someSeed = (): number => Math.floor(Math.random() * 2 ** 31);
