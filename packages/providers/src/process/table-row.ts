/**
 * What one row of the process table says, and what identifies a process for good.
 */
import { Schema } from "effect";

/**
 * One incarnation of a process. A pid alone is reused; with its start time and the boot it belongs to it is not.
 * Plain data, made to be stored.
 */
export const ProcessIdentity = Schema.Struct({
  pid: Schema.Int,
  /**
   * Digits, comparable within one boot: clock ticks since boot on Linux, seconds since 1970 elsewhere.
   * Empty where the platform did not say: such an identity matches no process.
   */
  startTime: Schema.String,
  /** Changes with every boot of the machine; empty where the platform does not say. */
  bootId: Schema.String,
});
export type ProcessIdentity = typeof ProcessIdentity.Type;

/** What the environment of a process says about our marker. */
export type MarkerReading =
  | { readonly state: "carried"; readonly marker: string }
  | { readonly state: "absent" }
  /** Another user's process, or a platform that hides it: nothing follows from it. */
  | { readonly state: "unreadable" };

/** One process as the table showed it. */
export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  /** Absent where the platform does not tell (macOS). */
  readonly sid?: number;
  /** As in `ProcessIdentity`. */
  readonly startTime: string;
  /** Over, only its parent has not asked how it ended. It holds its numbers, but runs nothing and takes no signal. */
  readonly zombie: boolean;
  /** The program's name. Arguments are left out on purpose: they may hold secrets. */
  readonly command: string;
  readonly marker: MarkerReading;
}

/** The process table could not be read. Without it a tree can't be ended safely: only the direct child can. */
export class ProcessTableError extends Schema.TaggedError<ProcessTableError>()("ProcessTableError", {
  reason: Schema.Literals(["unsupported_platform", "unreadable"]),
  message: Schema.String,
}) {}

/** What tells one process from another within a boot. */
export const processKey = (process: Pick<ProcessRow, "pid" | "startTime">): string =>
  `${process.pid}@${process.startTime}`;

/** Whether a row is the very process that was recorded. An identity without a start time is nobody's. */
export const isSameProcess = (
  row: Pick<ProcessRow, "pid" | "startTime">,
  identity: Pick<ProcessIdentity, "pid" | "startTime">,
): boolean => identity.startTime !== "" && row.pid === identity.pid && row.startTime === identity.startTime;
