/**
 * One writer per data folder. Two things must agree that the folder is free:
 *
 * - the kernel: the journal's database is held open in exclusive locking mode for as long as the store is open. The
 *   kernel lets go when the process dies, whatever the reason, and it knows processes of other containers too;
 * - the `lock` file: it names the owner with pid, start time and boot, so that people and the command line can be told
 *   who it is, and so that a file system without working locks does not go unnoticed.
 *
 * The kernel's lock comes first; while we hold it nobody else writes the lock file. A file whose owner is gone, or whose
 * pid is now another process, is taken over.
 */
import { Schema } from "effect";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { ProcessIdentity } from "@tributary/contracts";
import { StoreError } from "../StoreError.ts";
import { identityOf, isAlive } from "./identity.ts";

/** What the lock file says, as JSON. */
export const LockOwner = Schema.Struct({
  ...ProcessIdentity.fields,
  host: Schema.String,
  /** ISO 8601. */
  since: Schema.String,
});
export type LockOwner = typeof LockOwner.Type;

const decode = Schema.decodeUnknownSync(LockOwner);

/** Who holds a data folder according to its lock file; undefined where there is none or it cannot be read. */
export const readLock = (path: string): LockOwner | undefined => {
  try {
    return decode(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
};

/** The refusal that names the owner and what to do about it. */
export const lockedBy = (dir: string, owner: LockOwner | undefined): StoreError =>
  new StoreError({
    reason: "locked",
    message:
      owner === undefined
        ? `The data folder ${dir} is in use by another process. End it, or use another folder.`
        : `The data folder ${dir} is in use by process ${owner.pid} on ${owner.host} (since ${owner.since}). ` +
          `Use that one, end it, or use another folder.`,
  });

/**
 * Writes the lock file, unless it names a live process of this host. To be called with the kernel's lock held.
 * Returns the release, which removes the file.
 */
export const writeLock = (dir: string, path: string, now: string): (() => void) => {
  const found = readLock(path);
  // Another host's processes cannot be looked up here, and an earlier store of this process is closed: for both the
  // kernel's lock has spoken.
  const isElsewhere = found?.host !== hostname() || found.pid === process.pid;
  if (found !== undefined && !isElsewhere && isAlive(found)) throw lockedBy(dir, found);
  const identity = identityOf(process.pid) ?? { pid: process.pid, startTime: "", bootId: "" };
  const owner: LockOwner = { ...identity, host: hostname(), since: now };
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  renameSync(draft, path);
  return () => rmSync(path, { force: true });
};
