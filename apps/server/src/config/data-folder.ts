/** Where everything of one user lives: the store, the journal, the configuration file, the token. */
import { chmodSync, mkdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { Effect, Schema } from "effect";
import { UserDirectories } from "effect/persistence";

/** The data folder can't be found or made. Name another one with `--data DIR` or `TRIBUTARY_DATA`. */
export class DataFolderError extends Schema.TaggedError<DataFolderError>()("DataFolderError", {
  message: Schema.String,
}) {}

const expandHome = (path: string): string =>
  path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;

/**
 * The folder that is named (`--data`), else `TRIBUTARY_DATA`, else the platform's user data folder. Absolute; nothing is
 * created.
 */
export const locateDataFolder = Effect.fnUntraced(function* (
  named: string | undefined,
): Effect.fn.Return<string, DataFolderError> {
  const given = named ?? process.env["TRIBUTARY_DATA"];
  if (given !== undefined && given !== "") return resolve(expandHome(given));
  return yield* UserDirectories.make()
    .data("tributary")
    .pipe(
      Effect.mapError(
        (error) =>
          new DataFolderError({
            message: `No user data folder is known (${error.message}); name one with --data DIR or TRIBUTARY_DATA.`,
          }),
      ),
    );
});

/** Makes the folder where it is missing, for its owner only (0700), and resolves symbolic links. */
export const prepareDataFolder = (dir: string): Effect.Effect<string, DataFolderError> =>
  Effect.try({
    try: () => {
      if (!isAbsolute(dir)) throw new Error("the path is relative");
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      chmodSync(dir, 0o700);
      return realpathSync(dir);
    },
    catch: (cause) =>
      new DataFolderError({
        message: `The data folder ${dir} can't be made or entered (${String(cause)}); name another one with --data DIR or TRIBUTARY_DATA.`,
      }),
  });
