/** Copies of a running store, and the check of one. */
import { Effect } from "effect";
import { cpSync, existsSync } from "node:fs";
import { backup } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { prepareFolder, type Paths } from "./folder/folder.ts";
import { Connection } from "./sqlite/Connection.ts";
import { StoreError, storeError } from "./StoreError.ts";

/** Pages copied between two turns of the event loop. */
const pagesATurn = 256;

/**
 * Makes a copy a store of its own: cursors of the original do not fit it, and the processes that the original has running
 * are not its to end.
 */
const detach = (path: string): void => {
  const copy = new Connection({ path, synchronous: "full" });
  try {
    copy.immediate(() => {
      copy.exec("DELETE FROM meta WHERE name = 'epoch'");
      copy.exec("DELETE FROM processes");
    });
  } finally {
    copy.close();
  }
};

/** How often a copy may begin anew, and milliseconds in between, which pass for the disk: a store that is never idle. */
const attempts = 400;
const pauseMilliseconds = 10;

/**
 * The copy runs in a thread beside us. Where its first step meets a transaction of the writer, the source counts as locked
 * (https://www.sqlite.org/c3ref/backup_finish.html), which Node reports as an error without a code; later steps it repeats.
 */
const isLocked = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && (error.errcode === 0 || error.errcode === 5 || error.errcode === 6);

const copy = async (source: Connection, target: string): Promise<void> => {
  for (let left = attempts; ; left -= 1) {
    try {
      await backup(source.db, target, { rate: pagesATurn });
      return;
    } catch (error) {
      if (left <= 1 || !isLocked(error)) throw error;
      await pause(pauseMilliseconds);
    }
  }
};

/**
 * Copies a store into an empty folder while it goes on. The journal is copied after the log, so that it holds at least
 * what the checkpoints of the copied log stand on; blobs come last.
 */
export const backupTo = (
  target: string,
  source: { readonly main: Connection; readonly journal: Connection; readonly paths: Paths | undefined },
): Effect.Effect<void, StoreError> =>
  Effect.tryPromise({
    try: async () => {
      const taken = new StoreError({
        reason: "io",
        message: `${target} holds a data folder already. Name an empty folder for the backup.`,
      });
      if (existsSync(`${target}/main.db`)) throw taken;
      const paths = prepareFolder(target);
      await copy(source.main, paths.main);
      detach(paths.main);
      await copy(source.journal, paths.journal);
      if (source.paths !== undefined) cpSync(source.paths.blobs, paths.blobs, { recursive: true });
    },
    catch: (cause) => storeError("The backup could not be made", cause),
  });

/** SQLite's own checks, and ours: sequences, versions and records without a gap, states that stand on the newest event (I3). */
export const problemsOf = (main: Connection, journal: Connection): ReadonlyArray<string> => {
  const broken = (name: string, connection: Connection) =>
    connection
      .prepare("PRAGMA integrity_check(20)")
      .all()
      .map((row) => String(Object.values(row)[0]))
      .filter((line) => line !== "ok")
      .map((line) => `${name}: ${line}`);

  const log = main.prepare("SELECT count(*) AS events, coalesce(max(sequence), 0) AS head FROM events").get();
  const gap = Number(log?.["events"]) === Number(log?.["head"]) ? [] : ["main.db: the sequences of the log have a gap"];

  const versions = main
    .prepare(
      "SELECT stream_id FROM events GROUP BY stream_id HAVING count(*) <> max(version) OR min(version) <> 1 LIMIT 20",
    )
    .all()
    .map((row) => `main.db: the versions of stream ${String(row["stream_id"])} have a gap`);

  const states = main
    .prepare(
      "SELECT thread_id FROM thread_states WHERE state ->> 'version' IS NOT " +
        "(SELECT max(version) FROM events WHERE stream_id = thread_id) LIMIT 20",
    )
    .all()
    .map((row) => `main.db: the state of thread ${String(row["thread_id"])} does not stand on its newest event`);

  const records = journal
    .prepare(
      "SELECT thread_id, generation FROM sessions LEFT JOIN packs USING (session) GROUP BY session " +
        "HAVING coalesce(sum(packs.last_seq - packs.first_seq + 1), 0) <> sessions.last_seq - pruned_to LIMIT 20",
    )
    .all()
    .map((row) => `journal.db: thread ${row["thread_id"]}, generation ${row["generation"]} lacks records`);

  return [...broken("main.db", main), ...broken("journal.db", journal), ...gap, ...versions, ...states, ...records];
};
