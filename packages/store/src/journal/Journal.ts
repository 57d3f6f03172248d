import type { RuntimeEvent } from "@tributary/contracts";
import { Context, Deferred, Effect, type Scope } from "effect";
import { makeGroupLoop } from "../GroupLoop.ts";
import type { Connection } from "../sqlite/Connection.ts";
import { StoreError, storeError } from "../StoreError.ts";
import type { Blobs } from "./blobs.ts";
import { eraseThread, unusedAmong, type Removed } from "./erase.ts";
import { blobLimit, unpack } from "./pack.ts";
import { prune, type PruneOptions, type Pruned } from "./prune.ts";
import { makeSessions } from "./sessions.ts";

/** One record on its way into the journal. `events` are canonical events, checked; undecodable ones are in `problems`. */
export interface JournalEntry {
  readonly threadId: string;
  readonly generation: number;
  /** From 1, rising by 1 in each session; assigned by ingestion. */
  readonly seq: number;
  readonly kind: "frame" | "call" | "reply";
  readonly dir: "in" | "out";
  readonly nativeKind: string;
  /** JSON text of the native frame; above 64 KiB it is kept as a blob. */
  readonly frame: string;
  readonly replyTo?: string;
  readonly events: ReadonlyArray<RuntimeEvent>;
  /** Milliseconds since the epoch; informational. */
  readonly at: number;
}

export interface JournalRecord extends Omit<JournalEntry, "frame"> {
  /** Undefined once pruned: the reference reads `expired`. */
  readonly frame: string | undefined;
}

/** The journal: what crossed the boundary to runtimes, in a file of its own. */
export class Journal extends Context.Service<
  Journal,
  {
    /**
     * Appends in one grouped transaction; durable at the store's level when it resolves. An event whose id the session
     * has already seen is left out; the returned entries are what was stored.
     */
    readonly append: (entries: ReadonlyArray<JournalEntry>) => Effect.Effect<ReadonlyArray<JournalEntry>, StoreError>;
    /** Records of a session after `seq`, rising, at most `limit`. Synchronous read. Pruned ones are not there. */
    readonly read: (query: {
      readonly threadId: string;
      readonly generation: number;
      readonly after: number;
      readonly limit: number;
    }) => ReadonlyArray<JournalRecord>;
    /** What a position points at: `expired` once it was pruned, undefined where there never was a record. */
    readonly record: (position: {
      readonly threadId: string;
      readonly generation: number;
      readonly seq: number;
    }) => JournalRecord | "expired" | undefined;
    /** Records of a session up to this seq are gone; 0 when none is. */
    readonly prunedTo: (threadId: string, generation: number) => number;
    /** The newest seq of a session; 0 when it has none. */
    readonly lastSeq: (threadId: string, generation: number) => number;
    /** Erases a thread's records and blobs (purge). */
    readonly erase: (threadId: string) => Effect.Effect<void, StoreError>;
    /**
     * Lets go of old records, oldest first, never past what `keepAfter` says is still needed; and of blobs that a crash
     * left without a record.
     */
    readonly prune: (options: PruneOptions) => Effect.Effect<Pruned, StoreError>;
    /** Bytes that records and blobs take, as `prune` counts them. */
    readonly bytes: () => number;
    /** Large values by content hash: frames above 64 KiB, diffs above the cap. */
    readonly putBlob: (threadId: string, text: string) => Effect.Effect<string, StoreError>;
    readonly blob: (hash: string) => string | undefined;
  }
>()("tributary/store/Journal") {}

interface JournalJob {
  readonly done: Deferred.Deferred<unknown, StoreError>;
  readonly run: () => unknown;
}

/** A group ends with so many jobs, or after so much time: node:sqlite blocks the event loop meanwhile. */
const mostJobs = 256;
const mostMilliseconds = 4;

export const makeJournal = (
  connection: Connection,
  blobs: Blobs,
): Effect.Effect<Journal["Service"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const sessions = makeSessions(connection);
    /** Blobs on their way: written, but not yet named by a committed row, so that a prune leaves them alone. */
    const pins = new Map<string, number>();

    const run = (jobs: ReadonlyArray<JournalJob>): number => {
      const results: Array<readonly [JournalJob, Effect.Effect<unknown, StoreError>]> = [];
      try {
        connection.immediate(() => {
          const started = performance.now();
          for (const job of jobs) {
            results.push([job, runJob(job)]);
            if (performance.now() - started > mostMilliseconds) break;
          }
        });
        sessions.commit();
        for (const [job, result] of results) Deferred.doneUnsafe(job.done, result);
      } catch (cause) {
        sessions.forget();
        const failure = Effect.fail(storeError("The journal could not be written", cause));
        results.length = 0;
        for (const job of jobs) Deferred.doneUnsafe(job.done, failure);
      }
      return results.length === 0 ? jobs.length : results.length;
    };

    /** A job that faults has written nothing yet: it checks first. What the disk could not do undoes the group. */
    const runJob = (job: JournalJob): Effect.Effect<unknown, StoreError> => {
      try {
        return Effect.succeed(job.run());
      } catch (cause) {
        if (cause instanceof StoreError) return Effect.fail(cause);
        throw cause;
      }
    };

    const loop = yield* makeGroupLoop<JournalJob>({ most: mostJobs, run });

    const submit = <A>(run: () => A): Effect.Effect<A, StoreError> =>
      Effect.suspend(() => {
        const done = Deferred.makeUnsafe<unknown, StoreError>();
        // The job's result is what `run` returned.
        return Effect.andThen(loop.offer({ done, run }), Deferred.await(done)) as Effect.Effect<A, StoreError>;
      });

    const unpin = (hash: string): void => {
      const left = (pins.get(hash) ?? 0) - 1;
      if (left > 0) pins.set(hash, left);
      else pins.delete(hash);
    };

    /** Writes a blob that stays for as long as the scope of `use` and whatever row names it then. */
    const withBlobs = <A>(
      texts: ReadonlyArray<string>,
      use: (stored: ReadonlyArray<{ readonly hash: string; readonly bytes: number }>) => Effect.Effect<A, StoreError>,
    ): Effect.Effect<A, StoreError> => {
      const held: Array<string> = [];
      const put = (text: string) =>
        Effect.tap(blobs.put(text), ({ hash }) =>
          Effect.sync(() => {
            held.push(hash);
            pins.set(hash, (pins.get(hash) ?? 0) + 1);
          }),
        );
      return Effect.forEach(texts, put).pipe(
        Effect.flatMap(use),
        Effect.ensuring(Effect.sync(() => held.forEach(unpin))),
      );
    };

    /** After a commit that let go of uses: removes the files that nobody names any more. */
    const removeUnused = ({ hashes }: Removed): void => {
      const candidates = [...hashes].filter((hash) => !pins.has(hash));
      for (const hash of unusedAmong(connection, candidates)) blobs.remove(hash);
    };

    const sweep = Effect.suspend(() =>
      Effect.forEach(
        blobs.parts(),
        (part) =>
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => removeUnused({ hashes: new Set(part) })),
          ),
        { discard: true },
      ),
    );

    const appendSmall = (entries: ReadonlyArray<JournalEntry>) =>
      submit(() => sessions.append(entries, () => undefined));

    const append: Journal["Service"]["append"] = (entries) => {
      const large = entries.filter((entry) => entry.frame.length > blobLimit);
      if (large.length === 0) return appendSmall(entries);
      return withBlobs(
        large.map((entry) => entry.frame),
        (stored) => {
          const byEntry = new Map(large.map((entry, index) => [entry, stored[index]]));
          return submit(() => sessions.append(entries, (entry) => byEntry.get(entry)));
        },
      );
    };

    const sql = {
      packs: connection.prepare(
        "SELECT first_seq, heads, frames FROM packs WHERE session = ? AND last_seq > ? ORDER BY last_seq LIMIT ?",
      ),
      use: connection.prepare(
        "INSERT INTO blob_uses (hash, thread_id, session, seq, bytes) VALUES (?, ?, 0, 0, ?) ON CONFLICT DO NOTHING",
      ),
    };

    const read: Journal["Service"]["read"] = ({ threadId, generation, after, limit }) => {
      const session = sessions.find(threadId, generation);
      if (session === undefined) return [];
      const found: Array<JournalRecord> = [];
      for (const row of sql.packs.iterate(session.id, after, limit)) {
        const packed = {
          firstSeq: Number(row["first_seq"]),
          heads: String(row["heads"]),
          frames: String(row["frames"]),
        };
        for (const record of unpack({ threadId, generation }, packed, after, blobs.get)) {
          if (found.length >= limit) return found;
          found.push(record);
        }
      }
      return found;
    };

    return {
      append,
      read,
      record: ({ threadId, generation, seq }) => {
        const session = sessions.find(threadId, generation);
        if (session === undefined || seq < 1 || seq > session.lastSeq) return undefined;
        if (seq <= session.prunedTo) return "expired";
        return read({ threadId, generation, after: seq - 1, limit: 1 })[0];
      },
      prunedTo: (threadId, generation) => sessions.find(threadId, generation)?.prunedTo ?? 0,
      lastSeq: (threadId, generation) => sessions.find(threadId, generation)?.lastSeq ?? 0,
      erase: (threadId) =>
        eraseThread(submit, connection, sessions, threadId).pipe(
          Effect.tap((removed) => Effect.sync(() => removeUnused(removed))),
          Effect.asVoid,
        ),
      prune: (options) => Effect.tap(prune(submit, connection, sessions, options, removeUnused), () => sweep),
      bytes: () => sessions.bytes(),
      putBlob: (threadId, text) =>
        withBlobs([text], ([stored]) =>
          submit(() => {
            if (stored === undefined) throw new Error("a blob was written and not returned");
            if (sql.use.run(stored.hash, threadId, stored.bytes) > 0) sessions.count(stored.bytes);
            return stored.hash;
          }),
        ),
      blob: blobs.get,
    };
  });
