import { Schema } from "effect";

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

export type StoreErrorReason = StoreError["reason"];

/** SQLite's primary result codes that are not a bug of ours: https://www.sqlite.org/rescode.html */
const reasons: Readonly<Record<number, StoreErrorReason>> = {
  5: "locked",
  6: "locked",
  8: "io",
  10: "io",
  11: "corrupt",
  13: "full",
  14: "io",
  26: "corrupt",
};

/** What to do about each, as the end of a message. */
const advice: Readonly<Record<StoreErrorReason, string>> = {
  full: "Free disk space, then send it again.",
  locked: "Another process is using the database: end it, then try again.",
  corrupt: "Run `tributary doctor`, or restore a backup.",
  io: "Check the disk and the folder's permissions, then try again.",
  fault: "It was undone alone; please report it with this message.",
  closed: "Start Tributary again.",
};

/** SQLite's or Node's code may be inside what a library made of the error. */
const find = <A>(cause: unknown, read: (error: object) => A | undefined): A | undefined => {
  for (let error = cause, depth = 0; typeof error === "object" && error !== null && depth < 8; depth += 1) {
    const found = read(error);
    if (found !== undefined) return found;
    error = "cause" in error ? error.cause : undefined;
  }
  return undefined;
};

const errorCode = (cause: unknown): number | undefined =>
  find(cause, (error) => ("errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : undefined));

/** Node's own file errors that mean the same. */
const fileReasons: Readonly<Record<string, StoreErrorReason>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EACCES: "io",
  EPERM: "io",
  EROFS: "io",
  EIO: "io",
  EMFILE: "io",
  ENFILE: "io",
  ENOENT: "io",
  ENOTDIR: "io",
  EISDIR: "io",
};

const fileCode = (cause: unknown): string | undefined =>
  find(cause, (error) => ("code" in error && typeof error.code === "string" ? error.code : undefined));

/** Why something thrown by SQLite or the file system failed. Anything else is a `fault`: a bug. */
export const reasonOf = (cause: unknown): StoreErrorReason =>
  reasons[errorCode(cause) ?? 0] ?? fileReasons[fileCode(cause) ?? ""] ?? "fault";

/** Turns what was thrown while `doing` into a `StoreError`; one that is a `StoreError` already stays. */
export const storeError = (doing: string, cause: unknown): StoreError => {
  if (cause instanceof StoreError) return cause;
  const reason = reasonOf(cause);
  const what = cause instanceof Error ? cause.message : String(cause);
  return new StoreError({ reason, message: `${doing}: ${what}. ${advice[reason]}`, cause });
};
