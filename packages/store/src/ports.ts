/**
 * The store's services as others see them. Guarantees are stated on each member; `layer`s live beside their `make`.
 */
import type {
  Actor,
  ClientCommand,
  InternalCommand,
  ProcessIdentity,
  Receipt,
  RecordPosition,
  Refusal,
  RuntimeEvent,
  StoredEvent,
  UnknownStoredEvent,
} from "@tributary/contracts"
import type { DecideContext, InternalDecision, Lookups, ProjectState, ThreadState } from "@tributary/domain"
import { Context, Schema } from "effect"
import type { Effect, Scope } from "effect"

/**
 * The store could not do what was asked; nothing of it is committed and there is no receipt, so the same command may be
 * sent again. `full`: free disk space. `locked`: another process owns the data folder. `corrupt`: restore a backup or run
 * `tributary doctor`. `fault`: a bug in a step or decider; it was undone alone. `closed`: the store is shutting down.
 */
export class StoreError extends Schema.TaggedError<StoreError>()("StoreError", {
  reason: Schema.Literals(["full", "locked", "corrupt", "io", "fault", "closed"]),
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect()),
}) {}

/** What is known of the origin of the events that one decision makes. */
export interface Origins {
  readonly actor: Actor
  readonly record?: RecordPosition
  readonly correlationId?: string
  readonly causationId?: string
}

/**
 * One step of a thread inside a group's transaction. Synchronous; everything it does commits together or not at all.
 * If it throws, it alone is undone and its effect fails with `fault`.
 */
export interface StepTx {
  readonly threadId: string
  /** Server clock of the group, ISO 8601. */
  readonly now: string
  /** With everything that this group and this step did before. Undefined: no such thread. */
  readonly state: () => ThreadState | undefined
  readonly look: Lookups
  /** Decides and, when accepted, appends and evolves at once. */
  readonly decide: (command: InternalCommand, origins: Origins) => InternalDecision
  /**
   * Up to which journal record (`seq`, inclusive) of this generation everything has been interpreted, with the
   * interpretive state at that point (JSON text).
   */
  readonly checkpoint: (generation: number, seq: number, interpretive: string) => void
  /** Records and counts a refusal (4.3, I5). */
  readonly refuse: (refusal: Refusal) => void
}

export interface Checkpoint {
  readonly generation: number
  readonly seq: number
  readonly interpretive: string
}

/** The one writer of a data folder: takes waiting work in groups, one synchronous transaction a group. */
export class Writer extends Context.Service<
  Writer,
  {
    /**
     * Decides a client command with its receipt (I1, I2). Resolves after COMMIT. The same commandId again gives the
     * same receipt; with another body, a `command_id_conflict` rejection that is not stored.
     */
    readonly dispatch: (command: ClientCommand, context: DecideContext) => Effect.Effect<Receipt, StoreError>
    /** Runs one step of a thread (ingestion, reactors, reconciliation). Resolves after COMMIT with what it returned. */
    readonly step: <A>(threadId: string, run: (tx: StepTx) => A) => Effect.Effect<A, StoreError>
    /** The committed state of a thread, from the cache or its row. Synchronous read. */
    readonly state: (threadId: string) => ThreadState | undefined
    readonly project: (projectId: string) => ProjectState | undefined
    /** Committed lookups by key, of one thread. Synchronous reads. */
    readonly look: (threadId: string) => Lookups
    readonly checkpoint: (threadId: string) => Checkpoint | undefined
    /** The newest committed sequence; 0 for an empty log. */
    readonly head: () => number
    /** Threads with anything open: a session that is not over, inputs, requests, tasks, an interrupt. */
    readonly openThreads: () => ReadonlyArray<string>
  }
>()("tributary/store/Writer") {}

export type LogEvent = StoredEvent | UnknownStoredEvent

/** Reads of the event log, on a connection of their own. */
export class EventLog extends Context.Service<
  EventLog,
  {
    /** Events after a sequence, rising, at most `limit` (≤ 1,000) and about `maxBytes` of payload (at least one). */
    readonly page: (query: {
      readonly after: number
      readonly threadId?: string
      readonly limit?: number
      readonly maxBytes?: number
    }) => Effect.Effect<ReadonlyArray<LogEvent>, StoreError>
    readonly head: Effect.Effect<number, StoreError>
    /** Identifies this log: a cursor of another or wiped store is told by it. */
    readonly epoch: string
  }
>()("tributary/store/EventLog") {}

/** A subscription's wake-up: `wait` resolves at once if anything was touched since the last `wait` returned. */
export interface Signal {
  readonly wait: Effect.Effect<void>
}

/** Says that something changed, never what: readers then fetch pages. Costs nothing per event or slow reader (I11). */
export class Signals extends Context.Service<
  Signals,
  {
    /** `*` is touched with every commit; a thread id with every commit of that thread. Other keys are free. */
    readonly subscribe: (keys: ReadonlyArray<string>) => Effect.Effect<Signal, never, Scope.Scope>
    readonly touch: (keys: Iterable<string>) => void
    /** Called synchronously after each commit with the threads it touched. */
    readonly onCommit: (listener: (threadIds: ReadonlySet<string>) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("tributary/store/Signals") {}

/** One record on its way into the journal. `events` are canonical events, checked; undecodable ones are in `problems`. */
export interface JournalEntry {
  readonly threadId: string
  readonly generation: number
  /** From 1, rising by 1 in each session; assigned by ingestion. */
  readonly seq: number
  readonly kind: "frame" | "call" | "reply"
  readonly dir: "in" | "out"
  readonly nativeKind: string
  /** JSON text of the native frame; above 64 KiB it is kept as a blob. */
  readonly frame: string
  readonly replyTo?: string
  readonly events: ReadonlyArray<RuntimeEvent>
  /** Milliseconds since the epoch; informational. */
  readonly at: number
}

export interface JournalRecord extends Omit<JournalEntry, "frame"> {
  /** Undefined once pruned: the reference reads `expired`. */
  readonly frame: string | undefined
}

/** The journal: what crossed the boundary to runtimes, in a file of its own. */
export class Journal extends Context.Service<
  Journal,
  {
    /**
     * Appends in one grouped transaction; durable at the store's level when it resolves. An event whose id the session
     * has already seen is left out; the returned entries are what was stored.
     */
    readonly append: (
      entries: ReadonlyArray<JournalEntry>,
    ) => Effect.Effect<ReadonlyArray<JournalEntry>, StoreError>
    /** Records of a session after `seq`, rising, at most `limit`. Synchronous read. */
    readonly read: (query: {
      readonly threadId: string
      readonly generation: number
      readonly after: number
      readonly limit: number
    }) => ReadonlyArray<JournalRecord>
    /** The newest seq of a session; 0 when it has none. */
    readonly lastSeq: (threadId: string, generation: number) => number
    /** Erases a thread's records and blobs (purge). */
    readonly erase: (threadId: string) => Effect.Effect<void, StoreError>
    /** Large values by content hash: frames above 64 KiB, diffs above the cap. */
    readonly putBlob: (threadId: string, text: string) => Effect.Effect<string, StoreError>
    readonly blob: (hash: string) => string | undefined
  }
>()("tributary/store/Journal") {}

/** A process that was started for a session: intended before the spawn, identified after, until it is known to be gone. */
export interface SpawnedProcess {
  readonly threadId: string
  readonly generation: number
  readonly marker: string
  readonly identity?: ProcessIdentity
}

/** The processes that this data folder's sessions own, so that a new host can end an old host's survivors (section 7). */
export class Processes extends Context.Service<
  Processes,
  {
    readonly intend: (process: Omit<SpawnedProcess, "identity">) => Effect.Effect<void, StoreError>
    readonly spawned: (marker: string, identity: ProcessIdentity) => Effect.Effect<void, StoreError>
    readonly ended: (marker: string) => Effect.Effect<void, StoreError>
    readonly notEnded: Effect.Effect<ReadonlyArray<SpawnedProcess>, StoreError>
  }
>()("tributary/store/Processes") {}

/** A value SQLite stores. */
export type Cell = string | number | null | Uint8Array

/** One table of a projection. Rebuild makes a shadow of it under another name and swaps. */
export interface TableSpec {
  /** Without prefix; lower_snake. */
  readonly name: string
  /** `column definition`, in order; the first `key` of them are the primary key. */
  readonly columns: ReadonlyArray<readonly [name: string, definition: string]>
  readonly key: ReadonlyArray<string>
  /** Column lists, each optionally with a partial-index condition. */
  readonly indexes?: ReadonlyArray<{
    readonly name: string
    readonly columns: ReadonlyArray<string>
    readonly where?: string
    readonly unique?: boolean
  }>
  readonly withoutRowid?: boolean
}

/** What an event changes in rows: by key, never by listing. Changes of one group to one row are folded before they are written. */
export type RowChange =
  /** Inserts, or replaces all columns (missing ones become NULL). */
  | { readonly op: "put"; readonly table: string; readonly row: Readonly<Record<string, Cell>> }
  /** Changes some columns of an existing row, and adds to numeric ones; no row, no effect. */
  | {
      readonly op: "patch"
      readonly table: string
      readonly key: Readonly<Record<string, Cell>>
      readonly set?: Readonly<Record<string, Cell>>
      readonly add?: Readonly<Record<string, number>>
      /** Sets a column only where it is NULL. */
      readonly setIfNull?: Readonly<Record<string, Cell>>
    }
  /** `key` may be a prefix of the primary key: all rows under it go (chunks of one message). */
  | { readonly op: "delete"; readonly table: string; readonly key: Readonly<Record<string, Cell>> }
  /**
   * Joins the rows under a prefix of the primary key, greedily in key order: the text `column` of each row is appended
   * to the row before it, and the row deleted, as long as the joined text stays within `limit` UTF-16 code units. What
   * the same group changed under that prefix before is written first. Reads those rows: once per ended message.
   */
  | {
      readonly op: "merge"
      readonly table: string
      readonly key: Readonly<Record<string, Cell>>
      readonly column: string
      readonly limit: number
    }

/** A pure projector: rows from events. Given to the store, which writes them in the events' own transaction. */
export interface Projector {
  readonly tables: ReadonlyArray<TableSpec>
  /** Raise when rows would come out differently: the store rebuilds at start. */
  readonly version: number
  readonly project: (event: StoredEvent) => ReadonlyArray<RowChange>
}

/** The projector that the writer folds events into. */
export class Projection extends Context.Service<Projection, Projector>()("tributary/store/Projection") {}

/** Synchronous reads of projection rows on the read connection, for page queries. Statements are prepared once and kept. */
export class RowReader extends Context.Service<
  RowReader,
  {
    /** Runs in one read snapshot; `{table}` in SQL names a projection's table. */
    readonly all: (sql: string, ...parameters: ReadonlyArray<Cell>) => ReadonlyArray<Record<string, Cell>>
    readonly get: (sql: string, ...parameters: ReadonlyArray<Cell>) => Record<string, Cell> | undefined
    /** Several reads that see one state, with the sequence that the state stands on. */
    readonly snapshot: <A>(read: (sequence: number) => A) => A
  }
>()("tributary/store/RowReader") {}
