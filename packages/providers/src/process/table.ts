/**
 * The process table of this machine: who runs, whose child it is, and which incarnation of a pid it is.
 *
 * Linux reads /proc, other Unixes run ps. Windows has no table here (`unsupported_platform`): there only a direct child
 * can be ended.
 */
import { Effect } from "effect";

import { linuxBootId, linuxSnapshot, linuxStat } from "./table-linux.ts";
import { psBootId, psRowNow, psRows, psSnapshot } from "./table-ps.ts";
import { isSameProcess, type ProcessIdentity, type ProcessRow, ProcessTableError } from "./table-row.ts";

const isLinux = process.platform === "linux";
const hasTable = process.platform !== "win32";

/** Every process of the machine that we may see. */
export const snapshot: Effect.Effect<ReadonlyArray<ProcessRow>, ProcessTableError> = Effect.suspend(() => {
  if (!hasTable) return unsupported;
  return isLinux
    ? Effect.try({ try: linuxSnapshot, catch: unreadable })
    : Effect.tryPromise({ try: psSnapshot, catch: unreadable });
});

let knownBootId: string | undefined;

/** Identifies the running boot of this machine; empty where the platform does not say. */
export const bootId = (): string => {
  knownBootId ??= isLinux ? linuxBootId() : hasTable ? psBootId() : "";
  return knownBootId;
};

/**
 * Identifies a process that runs now; nothing when there is none. Synchronous, so that a parent can ask before it
 * returns to the event loop: until then its child can't be reaped and the pid can't be anyone else's.
 */
export const identity = (pid: number): ProcessIdentity | undefined => {
  const row = isLinux ? linuxStat(pid) : hasTable ? psRowNow(pid) : undefined;
  return row === undefined ? undefined : { pid, startTime: row.startTime, bootId: bootId() };
};

/** Which of these processes still run. Another process under the same pid does not count, nor does a zombie. */
export const stillAlive = <Known extends Pick<ProcessIdentity, "pid" | "startTime">>(
  known: ReadonlyArray<Known>,
): Effect.Effect<ReadonlyArray<Known>, ProcessTableError> => {
  if (!hasTable) return unsupported;
  if (isLinux) {
    return Effect.sync(() =>
      known.filter((one) => {
        const row = linuxStat(one.pid);
        return row !== undefined && !row.zombie && isSameProcess(row, one);
      }),
    );
  }
  return Effect.tryPromise({ try: () => psRows(known.map((one) => one.pid)), catch: unreadable }).pipe(
    Effect.map((rows) => known.filter((one) => rows.some((row) => !row.zombie && isSameProcess(row, one)))),
  );
};

/** Whether that very process still runs: false after a reboot, for a reused pid and for a zombie. */
export const isAlive = (one: ProcessIdentity): Effect.Effect<boolean, ProcessTableError> =>
  one.bootId === bootId() ? Effect.map(stillAlive([one]), (alive) => alive.length > 0) : Effect.succeed(false);

const unsupported = Effect.fail(
  new ProcessTableError({
    reason: "unsupported_platform",
    message: `the process table can't be read on ${process.platform}: end leftovers of the runtime by hand`,
  }),
);

const unreadable = (cause: unknown): ProcessTableError =>
  new ProcessTableError({
    reason: "unreadable",
    message: `the process table can't be read (${cause instanceof Error ? cause.message : "unknown cause"}): check that ${isLinux ? "/proc is mounted" : "ps can be run"}`,
  });
