/** Files that only their owner may read, written so that a reader never sees half of one. */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

let counter = 0;

/** Writes the whole text under another name (0600), then renames. Throws what the file system throws. */
export const writePrivateFile = (path: string, text: string): void => {
  counter += 1;
  const draft = `${path}.${process.pid}.${counter}.tmp`;
  // Left by a crash: in a container the next process has the same id.
  rmSync(draft, { force: true });
  const fd = openSync(draft, "wx", 0o600);
  try {
    // On a full disk one write may take a part and say nothing: this goes on until all is there, or it fails.
    writeFileSync(fd, text);
    fsyncSync(fd);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  chmodSync(draft, 0o600);
  renameSync(draft, path);
  syncFolder(dirname(path));
};

/** So that the new name is there after a power cut too: a revoked device must not come back. Windows has no such thing. */
const syncFolder = (dir: string): void => {
  if (process.platform === "win32") return;
  const fd = openSync(dir, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
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
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return true;
};
