/**
 * The processes of an instance, found by a variable that its environment sets: children, shells in sessions of their own,
 * and what was orphaned. Reads /proc, so only Linux sees any.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Set by the configured instances to the id of the run. */
export const runVariable = "CONFORMANCE_RUN";

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly cwd: string;
  readonly command: string;
}

/** Live processes that carry the run's id; what is dead and not reaped has no environment any more. */
export const processesOf = (run: string): ReadonlyArray<Process> => {
  if (process.platform !== "linux") return [];
  const mark = `${runVariable}=${run}\0`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((name) => {
      try {
        const root = `/proc/${name}`;
        if (!`${readFileSync(`${root}/environ`, "latin1")}\0`.includes(mark)) return [];
        const stat = readFileSync(`${root}/stat`, "latin1");
        const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
        const command = readFileSync(`${root}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        return [{ pid: Number(name), parent, cwd: readlinkSync(`${root}/cwd`), command }];
      } catch {
        // Gone while we looked, or not ours to look at.
        return [];
      }
    });
};

/** Arguments of every process of this machine that may be read. */
export const allArguments = (): ReadonlyArray<string> =>
  process.platform === "linux"
    ? readdirSync("/proc")
        .filter((name) => /^\d+$/u.test(name))
        .flatMap((name) => {
          try {
            return [readFileSync(`/proc/${name}/cmdline`, "utf8")];
          } catch {
            return [];
          }
        })
    : [];

/** No event tells when the process of another is gone: this looks until it is, or fails with what is left. */
export const noneLeft = async (look: () => ReadonlyArray<Process>, withinMillis: number): Promise<void> => {
  const deadline = performance.now() + withinMillis;
  for (;;) {
    const left = look();
    if (left.length === 0) return;
    if (performance.now() > deadline)
      throw new Error(
        `Still running after ${withinMillis} ms: ${left.map(({ pid, command }) => `${pid} ${command}`).join("; ")}`,
      );
    await pause(20);
  }
};
