/** The last record of a session: how its process ended. */
import type { RuntimePayloads, RuntimeRecord } from "@tributary/contracts";

export interface ProcessEnd {
  readonly exitCode?: number;
  /** The signal's name, such as `SIGKILL`. */
  readonly signal?: string;
  /** What it said last on stderr, without secrets; at most 4 KiB. */
  readonly stderrTail?: string;
  /** What we asked for before it ended. */
  readonly asked?: "close" | "signal";
}

/** Ended as asked, or by itself with code 0: graceful. By a signal: killed. Anything else: crash. */
const kindOf = ({ exitCode, signal, asked }: ProcessEnd): RuntimePayloads["session.exited"]["kind"] => {
  if (asked === "signal" || (signal !== undefined && asked === undefined)) return "killed";
  return asked === "close" || exitCode === 0 ? "graceful" : "crash";
};

/**
 * `recoverable`: whether the runtime can resume a session whose process has ended. `isOpen`: whether there was a session;
 * one that did not open has no exit, its failure says everything, and an exit told beside it would race with that.
 */
export const exitRecord = (
  end: ProcessEnd,
  session: { readonly generation: number; readonly recoverable: boolean; readonly isOpen: boolean },
): RuntimeRecord => {
  const { generation, recoverable, isOpen } = session;
  const facts = {
    ...(end.exitCode === undefined ? {} : { exitCode: end.exitCode }),
    ...(end.signal === undefined ? {} : { signal: end.signal }),
    ...(end.stderrTail === undefined || end.stderrTail === "" ? {} : { stderrTail: end.stderrTail }),
  };
  return {
    kind: "frame",
    dir: "in",
    native: { kind: "exit", frame: facts },
    events: isOpen
      ? [{ id: `exit/${generation}`, type: "session.exited", payload: { kind: kindOf(end), ...facts, recoverable } }]
      : [],
  };
};
