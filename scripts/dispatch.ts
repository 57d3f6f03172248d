/** One script that can be run by its name. */
export interface Entry<Context> {
  /** What is typed to run it. */
  readonly name: string;
  /** One line for `--help`. */
  readonly summary: string;
  /** Loaded only when it runs, so that `--help` stays quick and one broken script leaves the others usable. */
  readonly load: () => Promise<(context: Context) => Promise<void>>;
}

/** A family of scripts behind one npm script. */
export interface Family<Context> {
  /** The npm script: `bench`, `fault`, `record`. */
  readonly command: string;
  /** What the family is for, one sentence. */
  readonly about: string;
  /** Lines about options that all its scripts take; empty where there are none. */
  readonly options: ReadonlyArray<string>;
  readonly entries: ReadonlyArray<Entry<Context>>;
}

/** The `--help` of a family. */
export const helpOf = <Context>({ command, about, options, entries }: Family<Context>): string => {
  const width = Math.max(3, ...entries.map(({ name }) => name.length));
  const named = entries.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  const all = entries.length > 1 ? [`  ${"all".padEnd(width)}  every one of them, in this order`] : [];
  return [
    about,
    "",
    `Usage: npm run ${command} -- <name>${options.length > 0 ? " [options]" : ""}`,
    "",
    ...(entries.length > 0 ? ["Names:", ...named, ...all] : ["There are none yet."]),
    ...(options.length > 0 ? ["", "Options:", ...options.map((line) => `  ${line}`)] : []),
    "",
  ].join("\n");
};

/** The scripts that a name stands for: one, or `all`; undefined where there is no such name. */
export const entriesNamed = <Context>(
  family: Family<Context>,
  name: string,
): ReadonlyArray<Entry<Context>> | undefined => {
  if (name === "all") return family.entries;
  const entry = family.entries.find((candidate) => candidate.name === name);
  return entry === undefined ? undefined : [entry];
};

/**
 * Runs what the arguments name and returns the exit code: 0 done, 2 nothing was named that exists. A script that
 * fails throws.
 */
export const dispatch = async <Context>(
  family: Family<Context>,
  name: string | undefined,
  context: Context,
): Promise<number> => {
  if (name === undefined || name === "help") {
    process.stdout.write(helpOf(family));
    return name === undefined ? 2 : 0;
  }
  const entries = entriesNamed(family, name);
  if (entries === undefined) {
    process.stderr.write(`There is no ${family.command} named "${name}".\n\n${helpOf(family)}`);
    return 2;
  }
  for (const entry of entries) {
    const run = await entry.load();
    await run(context);
  }
  return 0;
};
