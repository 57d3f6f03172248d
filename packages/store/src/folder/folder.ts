/** The data folder: 0700, its files 0600. */
import { chmodSync, closeSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { homedir } from "node:os";
import { join, parse, resolve } from "node:path";
import { expectFolder } from "../attachments/files.ts";
import { StoreError } from "../StoreError.ts";

export interface Paths {
  readonly dir: string;
  readonly main: string;
  readonly journal: string;
  readonly blobs: string;
  readonly attachments: string;
  readonly lock: string;
}

export const pathsOf = (dir: string): Paths => {
  const whole = resolve(dir);
  return {
    dir: whole,
    main: join(whole, "main.db"),
    journal: join(whole, "journal.db"),
    blobs: join(whole, "blobs"),
    attachments: join(whole, "attachments"),
    lock: join(whole, "lock"),
  };
};

/**
 * Creates a file that only its owner may read. SQLite gives the log and shared-memory files of a database the mode of
 * the database. An existing file is not opened: closing it would drop this process's own locks on it (fcntl(2)).
 */
const createPrivate = (path: string): void => {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(typeof error === "object" && error !== null && "code" in error && error.code === "EEXIST")) throw error;
    chmodSync(path, 0o600);
  }
};

/** Makes the folder and its empty databases, or tightens what is there. */
export const prepareFolder = (dir: string): Paths => {
  const paths = pathsOf(dir);
  if (paths.dir === parse(paths.dir).root || paths.dir === homedir()) {
    throw new StoreError({
      reason: "io",
      message: `${paths.dir} can't be the data folder: only its owner could use it afterwards. Name a folder inside it.`,
    });
  }
  mkdirSync(paths.dir, { recursive: true, mode: 0o700 });
  mkdirSync(paths.blobs, { recursive: true, mode: 0o700 });
  expectFolder(paths.attachments, lstatSync(paths.attachments, { throwIfNoEntry: false }));
  mkdirSync(paths.attachments, { recursive: true, mode: 0o700 });
  chmodSync(paths.attachments, 0o700);
  chmodSync(paths.dir, 0o700);
  chmodSync(paths.blobs, 0o700);
  createPrivate(paths.main);
  createPrivate(paths.journal);
  return paths;
};
