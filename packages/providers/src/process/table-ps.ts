/**
 * The process table where there is no /proc (macOS, BSD): read through ps(1).
 *
 * `sess` of macOS is an address, not a session number, so sessions are unknown there; descent, group and marker remain.
 * `-E` appends the environment to the command. It is read in a run of its own, and only the marker is taken from it:
 * environments hold secrets.
 */
import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";

import { MARKER_VARIABLE } from "./environment.ts";
import type { MarkerReading, ProcessRow } from "./table-row.ts";

const run = promisify(execFile);

// A fixed locale and zone: start times are parsed, and must not change with the settings of whoever asks.
const OPTIONS = {
  encoding: "utf8",
  maxBuffer: 256 * 1024 * 1024,
  env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C", TZ: "UTC" },
} as const;

const COLUMNS = "pid=,ppid=,pgid=,state=,lstart=,comm=";

/** Reads every process. Rejects when ps can't be run. */
export const psSnapshot = async (): Promise<Array<ProcessRow>> => {
  const [table, plain, environments] = await Promise.all([
    run("ps", ["-axo", COLUMNS], OPTIONS),
    run("ps", ["-axwwo", "pid=,command="], OPTIONS),
    run("ps", ["-axEwwo", "pid=,command="], OPTIONS),
  ]);
  const markers = parsePsMarkers(plain.stdout, environments.stdout);
  return parsePs(table.stdout).map((row) => ({ ...row, marker: markers.get(row.pid) ?? { state: "unreadable" } }));
};

/** The rows of the named processes, without markers; those that do not exist are left out. Rejects when ps can't be run. */
export const psRows = async (pids: ReadonlyArray<number>): Promise<Array<Omit<ProcessRow, "marker">>> => {
  if (pids.length === 0) return [];
  try {
    return parsePs((await run("ps", ["-o", COLUMNS, "-p", pids.join(",")], OPTIONS)).stdout);
  } catch (error) {
    if (foundNobody(error)) return [];
    throw error;
  }
};

/** As `psRows` for one process, at once: between a spawn and the next turn of the event loop nobody else can reap it. */
export const psRowNow = (pid: number): Omit<ProcessRow, "marker"> | undefined => {
  try {
    return parsePs(execFileSync("ps", ["-o", COLUMNS, "-p", String(pid)], { ...OPTIONS, stdio: "pipe" }))[0];
  } catch {
    return undefined;
  }
};

/** Identifies the running boot. `kern.boottime` alone moves when the clock is set, so it is only the second choice. */
export const psBootId = (): string => {
  for (const name of ["kern.bootsessionuuid", "kern.boottime"]) {
    try {
      const value = execFileSync("sysctl", ["-n", name], { ...OPTIONS, stdio: "pipe" });
      return /sec = (\d+)/.exec(value)?.[1] ?? value.trim();
    } catch {
      // Not known to this system: the next name.
    }
  }
  return "";
};

/** Parses the output for `COLUMNS`: `lstart` is five words in the C locale (`Mon Jan  5 09:08:07 2026`). */
export const parsePs = (text: string): Array<Omit<ProcessRow, "marker">> => {
  const rows: Array<Omit<ProcessRow, "marker">> = [];
  for (const line of text.split("\n")) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s*(.*)$/.exec(line);
    if (match === null) continue;
    const [, pid, ppid, pgid, state, started, command] = match;
    const startedAt = Date.parse(`${started} UTC`);
    rows.push({
      pid: Number(pid),
      ppid: Number(ppid),
      pgid: Number(pgid),
      startTime: Number.isNaN(startedAt) ? "" : String(startedAt / 1000),
      zombie: state?.startsWith("Z") ?? false,
      command: command?.split("/").at(-1) ?? "",
    });
  }
  return rows;
};

/**
 * Reads markers by comparing commands with and without environment: only what follows the command itself counts, so a
 * marker among a program's arguments is not mistaken for one in its environment.
 */
export const parsePsMarkers = (plain: string, withEnvironment: string): Map<number, MarkerReading> => {
  const commands = byPid(plain);
  const markers = new Map<number, MarkerReading>();
  for (const [pid, line] of byPid(withEnvironment)) {
    const command = commands.get(pid);
    if (command === undefined || !line.startsWith(command)) continue;
    const environment = line.slice(command.length);
    // Nothing at all means that the system hides it: even an empty program has a PATH.
    if (environment.trim() === "") continue;
    const marker = new RegExp(`\\s${MARKER_VARIABLE}=(\\S*)`).exec(environment)?.[1];
    markers.set(pid, marker === undefined ? { state: "absent" } : { state: "carried", marker });
  }
  return markers;
};

const byPid = (text: string): Map<number, string> => {
  const lines = new Map<number, string>();
  for (const line of text.split("\n")) {
    const match = /^\s*(\d+) (.*)$/.exec(line);
    if (match?.[1] !== undefined && match[2] !== undefined) lines.set(Number(match[1]), match[2]);
  }
  return lines;
};

/** ps exits with 1 when none of the pids exists. */
const foundNobody = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === 1;
