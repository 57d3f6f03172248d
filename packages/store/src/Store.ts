/** The store put together: over a data folder, or in memory with the same code. */
import * as domain from "@tributary/domain";
import { Context, Effect, Layer, Semaphore, type Scope } from "effect";
import { randomUUID } from "node:crypto";
import { Attachments, makeAttachments } from "./attachments/Attachments.ts";
import { makeFiles } from "./attachments/files.ts";
import { temporaryFiles } from "./attachments/temporary.ts";
import { backupTo, problemsOf } from "./backup.ts";

import { openFolder, openMemory, StoreConnections, type Connections } from "./connections.ts";
import { EventLog, makeEventLog } from "./events/EventLog.ts";
import { runPurges } from "./events/purge.ts";
import { Signals } from "./events/Signals.ts";
import { fileBlobs, memoryBlobs } from "./journal/blobs.ts";
import { Journal, makeJournal } from "./journal/Journal.ts";
import { pathsOf } from "./folder/folder.ts";
import type { Pruned, PruneOptions } from "./journal/prune.ts";
import { makeProcesses, Processes } from "./Processes.ts";
import { Projection } from "./projection/Projector.ts";
import {
  createLive,
  diff,
  isCurrent,
  rebuild,
  alone,
  besideWriters,
  type Difference,
  type ProjectionTables,
} from "./projection/rebuild.ts";
import { makeRowReader, RowReader } from "./projection/RowReader.ts";
import { checkSpecs } from "./projection/tables.ts";
import { makeReadMarkers, ReadMarkers } from "./ReadMarkers.ts";
import { runReceiptPruning } from "./receipts.ts";
import { makeRefusals, Refusals } from "./Refusals.ts";
import { readMeta, writeMeta } from "./schema/meta.ts";
import type { Connection, Synchronous } from "./sqlite/Connection.ts";
import { storeError, type StoreError } from "./StoreError.ts";
import type { Domain } from "./writer/Domain.ts";
import { makeWriter, Writer, type RunSql } from "./writer/Writer.ts";

export interface StoreOptions {
  /** `full` (default): an acknowledged command survives power loss. `normal`: it survives a crash of the process. */
  readonly synchronous?: Synchronous;
  /** Thread states kept in memory, default 2,000. */
  readonly cachedThreads?: number;
  /** The deciders; the domain's own unless a test brings others. */
  readonly domain?: Domain;
}

export interface FolderOptions extends StoreOptions {
  readonly dir: string;
}

/** Every service of the store. */
export type StoreServices =
  | Store
  | StoreConnections
  | Writer
  | EventLog
  | Signals
  | Journal
  | Attachments
  | Processes
  | RowReader
  | ReadMarkers
  | Refusals;

/** What concerns the store as a whole. */
export class Store extends Context.Service<
  Store,
  {
    /** Undefined in memory. */
    readonly dir: string | undefined;
    /** Rebuilds the projections from the log while everything goes on, then swaps them in. */
    readonly rebuild: Effect.Effect<void, StoreError>;
    /** Where a rebuild would differ from what is there; for tests and `tributary doctor` (I14). */
    readonly diff: Effect.Effect<ReadonlyArray<Difference>, StoreError>;
    /**
     * Lets go of journal records by age and size where that is safe without knowing what ingestion still holds: sessions
     * that are over, up to their checkpoint. `Journal.prune` takes a finer rule.
     */
    readonly pruneJournal: (options: Omit<PruneOptions, "keepAfter">) => Effect.Effect<Pruned, StoreError>;
    /** Copies the store into an empty folder while it goes on. The copy has an epoch of its own. */
    readonly backup: (dir: string) => Effect.Effect<void, StoreError>;
    /** What is wrong with the files, in words; empty when all is well. Reads everything and blocks meanwhile. */
    readonly integrityCheck: Effect.Effect<ReadonlyArray<string>, StoreError>;
  }
>()("tributary/store/Store") {
  /** Over a data folder, which it locks. Fails with `locked` when another process has it. */
  static readonly layer = (options: FolderOptions): Layer.Layer<StoreServices, StoreError, Projection> =>
    Layer.effectContext(
      Effect.flatMap(openFolder(options.dir, options.synchronous ?? "full"), (open) => make(open, options)),
    );

  /** The same code over SQLite's memory: nothing outlives the scope. */
  static readonly layerMemory = (options: StoreOptions = {}): Layer.Layer<StoreServices, StoreError, Projection> =>
    Layer.effectContext(Effect.flatMap(openMemory, (open) => make(open, options)));
}

const make = (
  open: Connections,
  options: StoreOptions,
): Effect.Effect<Context.Context<StoreServices>, StoreError, Projection | Scope.Scope> =>
  Effect.gen(function* () {
    const projector = yield* Projection;
    const { main, read, journal: journalConnection, paths } = open;
    const tables = yield* trying("The projection can't be used", () => ({
      projector,
      specs: checkSpecs(projector.tables),
    }));
    const epoch = yield* trying("The log could not be opened", () => main.immediate(() => epochOf(main)));
    yield* prepareProjection(main, tables);

    const signals = Context.get(yield* Layer.build(Signals.layer), Signals);
    const { writer, runSql } = yield* makeWriter({
      connection: main,
      epoch,
      domain: options.domain ?? domain,
      projector,
      specs: tables.specs,
      signals,
      ...(options.cachedThreads === undefined ? {} : { cachedThreads: options.cachedThreads }),
    });
    const journal = yield* makeJournal(journalConnection, paths === undefined ? memoryBlobs() : fileBlobs(paths.blobs));
    yield* runReceiptPruning(runSql);
    yield* runPurges(runSql, journal, signals, main);
    const files =
      paths === undefined
        ? yield* temporaryFiles
        : makeFiles({ dir: () => paths.attachments, make: () => paths.attachments });
    const attachments = yield* makeAttachments({ runSql, read, files, signals });

    // One set of shadow tables: rebuilding and comparing take turns.
    const oneShadow = yield* Semaphore.make(1);
    const store: Store["Service"] = {
      dir: paths?.dir,
      rebuild: oneShadow.withPermit(rebuild(runSql, tables, besideWriters)),
      diff: oneShadow.withPermit(diff(runSql, tables, besideWriters)),
      pruneJournal: (limits) => journal.prune({ ...limits, keepAfter: keepAfter(writer) }),
      backup: (dir) => attachments.backup(pathsOf(dir).attachments, backupTo(dir, open)),
      integrityCheck: Effect.zipWith(
        trying("The files could not be checked", () => problemsOf(read, journalConnection)),
        attachments.check,
        (databases, contents) => [...databases, ...contents],
      ),
    };

    return Context.make(Store, store).pipe(
      Context.add(StoreConnections, open),
      Context.add(Writer, writer),
      Context.add(EventLog, makeEventLog(read, epoch)),
      Context.add(Signals, signals),
      Context.add(Journal, journal),
      Context.add(Attachments, attachments),
      Context.add(Processes, makeProcesses(main, runSql)),
      Context.add(RowReader, makeRowReader(read)),
      Context.add(ReadMarkers, makeReadMarkers(read)),
      Context.add(Refusals, makeRefusals(read, runSql)),
    );
  });

/**
 * Up to which record of a session nothing is needed any more. While a session goes on, text from before its checkpoint may
 * be held and read again after a crash, so all of it stays.
 */
const keepAfter =
  (writer: Writer["Service"]) =>
  (threadId: string, generation: number): number => {
    const checkpoint = writer.checkpoint(threadId);
    if (checkpoint === undefined || generation > checkpoint.generation) return 0;
    if (generation < checkpoint.generation) return Infinity;
    const session = writer.state(threadId)?.session;
    const isOver = session?.generation !== generation || (session.state !== "opening" && session.state !== "ready");
    return isOver ? checkpoint.seq : 0;
  };

const trying = <A>(doing: string, run: () => A): Effect.Effect<A, StoreError> =>
  Effect.try({ try: run, catch: (cause) => storeError(doing, cause) });

const epochOf = (connection: Connection): string => {
  const known = readMeta(connection, "epoch");
  if (known !== undefined) return known;
  const epoch = randomUUID();
  writeMeta(connection, "epoch", epoch);
  return epoch;
};

/** Before anybody writes: makes the projection's tables, or rebuilds them when they were made by another version. */
const prepareProjection = (connection: Connection, tables: ProjectionTables): Effect.Effect<void, StoreError> => {
  const direct: RunSql = (run) =>
    trying("The projections could not be prepared", () => connection.immediate(() => run(connection)));
  return Effect.gen(function* () {
    const isReady = yield* direct(() => {
      if (isCurrent(connection, tables)) return true;
      const isEmpty = connection.prepare("SELECT 1 AS one FROM events LIMIT 1").get() === undefined;
      if (isEmpty && readMeta(connection, "projection") === undefined) createLive(connection, tables);
      return isCurrent(connection, tables);
    });
    if (!isReady) yield* rebuild(direct, tables, alone);
  });
};
