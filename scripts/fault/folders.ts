import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { findSurvivors, type ProcessRow } from "@tributary/providers";
import { Effect } from "effect";

export interface Folders {
  readonly base: string;
  /** Of the server. */
  readonly data: string;
  /** Where agents work. */
  readonly work: string;
}

/** Fresh folders for `use`; removed afterwards unless it throws, so that what is wrong can be looked at. */
export const withFolders = async <A>(name: string, use: (folders: Folders) => Promise<A>): Promise<A> => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), `tributary-fault-${name}-`)));
  const folders = { base, data: join(base, "data"), work: join(base, "work") };
  mkdirSync(folders.work);
  let result: A;
  try {
    result = await use(folders);
  } catch (cause) {
    process.stderr.write(`The data folder is kept: ${folders.data}\n`);
    throw cause;
  }
  rmSync(base, { recursive: true, force: true });
  return result;
};

const files = ["main.db", "main.db-wal", "journal.db", "journal.db-wal"];

/**
 * Opens a copy of the databases as a kill left them, and removes it. A copy, because opening replays the write-ahead log:
 * the next server shall do that itself.
 */
export const inCopy = <A>(data: string, use: (main: DatabaseSync, journal: DatabaseSync) => A): A => {
  const copy = mkdtempSync(join(data, "..", "copy-"));
  try {
    for (const file of files) if (existsSync(join(data, file))) copyFileSync(join(data, file), join(copy, file));
    const main = new DatabaseSync(join(copy, "main.db"));
    const journal = new DatabaseSync(join(copy, "journal.db"));
    try {
      return use(main, journal);
    } finally {
      main.close();
      journal.close();
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
};

/** What SQLite finds wrong with a database. */
export const integrityProblems = (database: DatabaseSync): ReadonlyArray<string> =>
  [...database.prepare("PRAGMA integrity_check").all(), ...database.prepare("PRAGMA foreign_key_check").all()]
    .map((row) => String(Object.values(row)[0]))
    .filter((text) => text !== "ok");

/** Rows that say something is under way, of every thread and turn there ever was. */
const underWay = {
  turns: "state = 'running'",
  messages: "streaming = 1",
  reasoning: "streaming = 1",
  activities: "status = 'in_progress'",
  tasks: "status = 'in_progress'",
  requests: "state IN ('pending', 'answering')",
  inputs: "state IN ('handed_over', 'started')",
} as const;

/** What is open in a database that no process works on (I8). */
export const openRows = (main: DatabaseSync): ReadonlyArray<string> =>
  Object.entries(underWay).flatMap(([table, where]) =>
    main
      .prepare(`SELECT * FROM p_${table} WHERE ${where}`)
      .all()
      .map((row) => `${table}: ${JSON.stringify(row).slice(0, 200)}`),
  );

/** Markers of the processes that a data folder's sessions own, as far as its database knows. */
export const markersOf = (main: DatabaseSync): ReadonlyArray<string> =>
  main
    .prepare("SELECT marker FROM processes")
    .all()
    .map((row) => String(row["marker"]));

/** Processes that still carry one of the markers, or descend from one that does. */
export const survivorsOf = async (markers: ReadonlyArray<string>): Promise<ReadonlyArray<ProcessRow>> => {
  const found = await Effect.runPromise(Effect.forEach(markers, (marker) => findSurvivors({ marker })));
  return found.flat();
};
