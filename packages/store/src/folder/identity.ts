/** Which process this is, for good: pids are reused, start times and boots tell them apart. */
import type { ProcessIdentity } from "@tributary/contracts";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const attempt = <A>(read: () => A): A | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/**
 * proc(5): field 22 of `/proc/<pid>/stat` is the start in clock ticks since boot. The second field, the program's name
 * in parentheses, may hold spaces and parentheses, so fields are counted after the last one.
 */
const linuxStart = (pid: number): string | undefined =>
  attempt(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  });

const psStart = (pid: number): string | undefined =>
  attempt(() => execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || undefined);

/** Undefined: no such process, or nobody can tell. */
const startTime = (pid: number): string | undefined => (process.platform === "linux" ? linuxStart(pid) : psStart(pid));

let knownBoot: string | undefined;
const bootId = (): string => {
  knownBoot ??=
    (process.platform === "linux"
      ? attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim())
      : process.platform === "darwin"
        ? attempt(() => execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" }).trim())
        : undefined) ?? "";
  return knownBoot;
};

/** The identity of a running process; undefined when there is none, or none that can be told. */
export const identityOf = (pid: number): ProcessIdentity | undefined => {
  const start = startTime(pid);
  return start === undefined ? undefined : { pid, startTime: start, bootId: bootId() };
};

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there and belongs to somebody else.
    return typeof error === "object" && error !== null && "code" in error && error.code === "EPERM";
  }
};

/** Whether exactly this process still runs. Where start times cannot be told, a pid in use counts as it. */
export const isAlive = (identity: ProcessIdentity): boolean => {
  if (identity.bootId !== bootId()) return false;
  const start = startTime(identity.pid);
  if (start !== undefined && identity.startTime !== "") return start === identity.startTime;
  return exists(identity.pid);
};
