/** The configuration file of a data folder: read at the start, followed while running, changed through the API. */
import { readFileSync, unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import { Context, Effect, Layer, Schema, Semaphore } from "effect";
import { createPrivateFile, writePrivateFile } from "./private-file.ts";
import { defaultConfig, parseConfig, printConfig } from "./schema.ts";
import type { Config } from "./schema.ts";

/** The file can't be changed: correct it by hand first; the message says where. */
export class ConfigurationError extends Schema.TaggedError<ConfigurationError>()("ConfigurationError", {
  message: Schema.String,
}) {}

export class Configuration extends Context.Service<
  Configuration,
  {
    readonly file: string;
    /** The last good one. Synchronous: a field of memory. */
    readonly current: () => Config;
    /** What is wrong with the file as it is now; undefined when `current` is what it says. */
    readonly problem: () => string | undefined;
    /** Reads the file now instead of at the next look. */
    readonly reload: Effect.Effect<void>;
    /** Writes a changed configuration and puts it in force. Refuses to write over a file that is broken. */
    readonly update: (change: (config: Config) => Config) => Effect.Effect<Config, ConfigurationError>;
  }
>()("tributary/server/Configuration") {
  /** `interval`: milliseconds between two looks at the file. */
  static readonly layer = (options: { readonly dir: string; readonly interval?: number }): Layer.Layer<Configuration> =>
    Layer.effect(Configuration, make(options));

  /** Without a file: as it is given, for good. */
  static readonly layerConst = (config: Config): Layer.Layer<Configuration> =>
    Layer.sync(Configuration, () => {
      let current = config;
      return {
        file: "(none)",
        current: () => current,
        problem: () => undefined,
        reload: Effect.void,
        update: (change) => Effect.sync(() => (current = change(current))),
      };
    });
}

export const configFile = (dir: string): string => join(dir, "config.json");

const make = Effect.fnUntraced(function* (options: { readonly dir: string; readonly interval?: number }) {
  const file = configFile(options.dir);
  const lock = yield* Semaphore.make(1);
  let current: Config = defaultConfig;
  let problem: string | undefined;

  const read = Effect.suspend(() => {
    const before = problem;
    try {
      createPrivateFile(file, printConfig(defaultConfig));
      const parsed = parseConfig(readFileSync(file, "utf8"));
      if ("config" in parsed) {
        current = parsed.config;
        problem = undefined;
      } else {
        problem = `${file}: ${parsed.problem}`;
      }
    } catch (cause) {
      problem = `${file}: ${cause instanceof Error ? cause.message : String(cause)}`;
    }
    if (problem === undefined || problem === before) return Effect.void;
    return Effect.logWarning(
      `${problem}. The last good configuration stays in force (at the start, the default one); correct the file.`,
    );
  });
  const reload = lock.withPermit(read);

  const update = (change: (config: Config) => Config) =>
    lock.withPermit(
      Effect.gen(function* () {
        yield* read;
        if (problem !== undefined)
          return yield* new ConfigurationError({ message: `${problem}. Correct the file, then try again.` });
        const next = change(current);
        const parsed = parseConfig(printConfig(next));
        if ("problem" in parsed) return yield* new ConfigurationError({ message: parsed.problem });
        yield* Effect.try({
          try: () => writePrivateFile(file, printConfig(parsed.config)),
          catch: (cause) => new ConfigurationError({ message: `${file} can't be written: ${String(cause)}` }),
        });
        current = parsed.config;
        return current;
      }),
    );

  yield* reload;
  const context = yield* Effect.context();
  const run = Effect.runForkWith(context);
  // By looking now and then, not by file events: editors replace files, and the store's files beside it change all the time.
  const listener = () => void run(reload);
  const interval = options.interval ?? 1000;
  yield* Effect.acquireRelease(
    Effect.sync(() => watchFile(file, { interval, persistent: false }, listener)),
    () => Effect.sync(() => unwatchFile(file, listener)),
  );
  // The first look is what later ones compare with: a change that came before it is found by reading once more.
  yield* Effect.forkScoped(Effect.delay(reload, 2 * interval));
  return Configuration.of({ file, current: () => current, problem: () => problem, reload, update });
});
