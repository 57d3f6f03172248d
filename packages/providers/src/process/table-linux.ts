/**
 * The process table of Linux, read from /proc (proc(5)): a few microseconds a process, no program started.
 *
 * Everything here is synchronous: a snapshot that is over in milliseconds misses fewer forks than one that yields, and
 * checking a start time and signalling can then happen in one step.
 */
import { readdirSync, readFileSync } from "node:fs";

import { MARKER_VARIABLE } from "./environment.ts";
import type { MarkerReading, ProcessRow } from "./table-row.ts";

/** Reads every process. A process that ends meanwhile is left out. Throws when /proc can't be listed. */
export const linuxSnapshot = (): Array<ProcessRow> => {
  const rows: Array<ProcessRow> = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = linuxStat(pid);
    if (stat !== undefined) rows.push({ ...stat, marker: stat.zombie ? { state: "unreadable" } : readMarker(pid) });
  }
  return rows;
};

/** The row of one process without its marker, or nothing when there is no such process. */
export const linuxStat = (pid: number): Omit<ProcessRow, "marker"> | undefined => {
  const text = readProc(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseStat(text.toString("latin1"));
};

/** Identifies the running boot; empty when the kernel does not say. */
export const linuxBootId = (): string => readProc("/proc/sys/kernel/random/boot_id")?.toString("latin1").trim() ?? "";

/** Parses /proc/<pid>/stat. The command stands in parentheses and may itself hold spaces, parentheses and newlines. */
export const parseStat = (text: string): Omit<ProcessRow, "marker"> | undefined => {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open === -1 || close < open) return undefined;
  // After the command: state ppid pgrp session tty_nr tpgid flags … (field 3 on); num_threads is 20, starttime 22.
  const fields = text
    .slice(close + 2)
    .trim()
    .split(" ");
  const [state, ppid, pgid, sid] = fields;
  const threads = fields[17];
  const startTime = fields[19];
  if (state === undefined || startTime === undefined) return undefined;
  return {
    pid: Number(text.slice(0, open)),
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: Number(sid),
    startTime,
    // A process whose first thread ended while others run shows Z too, and is very much alive.
    zombie: (state === "Z" || state === "X") && Number(threads) <= 1,
    command: text.slice(open + 1, close),
  };
};

/** Finds the marker in the block of NUL-separated variables that a process was started with. */
export const parseEnviron = (environ: Buffer): MarkerReading => {
  const needle = `${MARKER_VARIABLE}=`;
  let at = environ.indexOf(needle);
  while (at > 0 && environ[at - 1] !== 0) at = environ.indexOf(needle, at + 1);
  if (at === -1) return { state: "absent" };
  const end = environ.indexOf(0, at);
  return { state: "carried", marker: environ.toString("utf8", at + needle.length, end === -1 ? environ.length : end) };
};

const readMarker = (pid: number): MarkerReading => {
  const environ = readProc(`/proc/${pid}/environ`);
  return environ === undefined ? { state: "unreadable" } : parseEnviron(environ);
};

const readProc = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path);
  } catch {
    // Ended meanwhile, or another user's: both are ordinary here.
    return undefined;
  }
};
