/** The open databases of a store. */
import { Clock, Context, Effect, type Scope } from "effect";
import { prepareFolder, type Paths } from "./folder/folder.ts";
import { lockedBy, readLock, writeLock } from "./folder/lock.ts";
import { journalMigrations } from "./schema/journal.ts";
import { mainMigrations } from "./schema/main.ts";
import { migrate } from "./schema/migrate.ts";
import { Connection, type ConnectionOptions, type Synchronous } from "./sqlite/Connection.ts";
import { reasonOf, storeError, type StoreError } from "./StoreError.ts";

export interface Connections {
  /** The log's: the writer alone writes through it. */
  readonly main: Connection;
  /** Readers of the log and of projections. In memory it is `main`: every read is synchronous, and groups are too. */
  readonly read: Connection;
  readonly journal: Connection;
  /** Undefined in memory. */
  readonly paths: Paths | undefined;
}

/** The raw connections, for tests that count statements or fill the disk. */
export class StoreConnections extends Context.Service<StoreConnections, Connections>()("tributary/store/Connections") {}

const opened = (
  name: string,
  options: ConnectionOptions,
  failure: (cause: unknown) => StoreError = (cause) => storeError(`${name} could not be opened`, cause),
): Effect.Effect<Connection, StoreError, Scope.Scope> =>
  Effect.acquireRelease(Effect.try({ try: () => new Connection(options), catch: failure }), (connection) =>
    Effect.sync(() => connection.close()),
  );

export const openFolder = (
  dir: string,
  synchronous: Synchronous,
): Effect.Effect<Connections, StoreError, Scope.Scope> =>
  Effect.gen(function* () {
    const now = new Date(yield* Clock.currentTimeMillis).toISOString();
    const paths = yield* Effect.try({
      try: () => prepareFolder(dir),
      catch: (cause) => storeError(`The data folder ${dir} can't be used`, cause),
    });
    const journal = yield* opened("journal.db", { path: paths.journal, synchronous, exclusive: true }, (cause) =>
      reasonOf(cause) === "locked"
        ? lockedBy(paths.dir, readLock(paths.lock))
        : storeError("journal.db could not be opened", cause),
    );
    yield* Effect.acquireRelease(
      Effect.try({
        try: () => writeLock(paths.dir, paths.lock, now),
        catch: (cause) => storeError(`The data folder ${dir} can't be locked`, cause),
      }),
      (release) => Effect.sync(release),
    );
    const main = yield* opened("main.db", { path: paths.main, synchronous });
    yield* migrate(main, "main.db", mainMigrations);
    yield* migrate(journal, "journal.db", journalMigrations);
    const read = yield* opened("main.db", { path: paths.main, synchronous, queryOnly: true });
    return { main, read, journal, paths };
  });

export const openMemory: Effect.Effect<Connections, StoreError, Scope.Scope> = Effect.gen(function* () {
  const main = yield* opened("main.db", { path: ":memory:", synchronous: "normal" });
  const journal = yield* opened("journal.db", { path: ":memory:", synchronous: "normal" });
  yield* migrate(main, "main.db", mainMigrations);
  yield* migrate(journal, "journal.db", journalMigrations);
  return { main, read: main, journal, paths: undefined };
});
