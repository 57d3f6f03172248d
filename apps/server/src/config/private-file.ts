/** Files that only their owner may read, written so that a reader never sees half of one. */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";

let counter = 0;

/** Writes the whole text under another name (0600), then renames. Throws what the file system throws. */
export const writePrivateFile = (path: string, text: string): void => {
  counter += 1;
  const draft = `${path}.${process.pid}.${counter}.tmp`;
  const fd = openSync(draft, "wx", 0o600);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  chmodSync(draft, 0o600);
  renameSync(draft, path);
};

/** Writes a file that must not be there yet (0600). False: it is there already. */
export const createPrivateFile = (path: string, text: string): boolean => {
  let fd: number;
  try {
    fd = openSync(path, "wx", 0o600);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return true;
};
