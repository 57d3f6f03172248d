/**
 * `audit.ndjson`: what was done about access, one line each (0600), only ever appended to. At its limit it becomes
 * `audit.1.ndjson`, whose place it takes: the two hold the newest entries, and no more than twice the limit.
 */
import { appendFileSync, chmodSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { AuditEntry } from "@tributary/contracts/api";
import { Schema } from "effect";

export const auditFile = (dir: string): string => join(dir, "audit.ndjson");
export const olderAuditFile = (dir: string): string => join(dir, "audit.1.ndjson");

/** Of one file, in bytes. */
export const maxAuditBytes = 1024 * 1024;

const decode = Schema.decodeUnknownSync(AuditEntry);

/** Lines that are no entries are passed over: a crash may have cut one. */
const entryOf = (line: string): ReadonlyArray<AuditEntry> => {
  try {
    return [decode(JSON.parse(line))];
  } catch {
    return [];
  }
};

const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return "";
    throw cause;
  }
};

/** Everything that is kept, the oldest first. Throws what the file system throws. */
export const readAudit = (dir: string): ReadonlyArray<AuditEntry> =>
  [olderAuditFile(dir), auditFile(dir)].flatMap((path) => textOf(path).split("\n").flatMap(entryOf));

/** Appends to the files of a folder. Throws what the file system throws. */
export const makeAppender = (dir: string): ((entry: AuditEntry) => void) => {
  const path = auditFile(dir);
  const before = textOf(path);
  let bytes = Buffer.byteLength(before);
  // What a crash cut off must not swallow the next line.
  let lead = before === "" || before.endsWith("\n") ? "" : "\n";
  if (before !== "") chmodSync(path, 0o600);
  return (entry) => {
    const line = `${lead}${JSON.stringify(entry)}\n`;
    if (bytes > 0 && bytes + Buffer.byteLength(line) > maxAuditBytes) {
      renameSync(path, olderAuditFile(dir));
      bytes = 0;
    }
    appendFileSync(path, line, { mode: 0o600 });
    lead = "";
    bytes = statSync(path).size;
  };
};
