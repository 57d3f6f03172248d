/** Failures that the decider words itself. */
import type { DomainPayloads, Failure } from "@tributary/contracts";

type ExitFacts = Pick<
  DomainPayloads["session.exited"],
  "exitCode" | "signal" | "reason" | "stderrTail" | "recoverable"
>;

/** The last line a person can read, at most 500 code units: where programs usually say why they died. */
const hint = (stderrTail: string | undefined): string | undefined =>
  stderrTail
    ?.trimEnd()
    .split("\n")
    .findLast((line) => line.trim() !== "")
    ?.trim()
    .slice(0, 500);

/** The runtime's process went away. */
export const exitFailure = (exit: ExitFacts): Failure => {
  const how =
    exit.signal !== undefined
      ? `by signal ${exit.signal}`
      : exit.exitCode !== undefined
        ? `with code ${exit.exitCode}`
        : "without saying why";
  const why = [exit.reason, hint(exit.stderrTail)].filter((part) => part !== undefined && part !== "");
  return {
    class: "transport",
    message: [`The runtime exited ${how}`, ...why].join(": ").slice(0, 4_000),
    retryable: exit.recoverable,
  };
};

/** The runtime would not take an input, or dropped it unread. */
export const inputRefused = (reason: string | undefined): Failure => ({
  class: "unknown",
  message: reason ?? "The runtime refused the input",
  retryable: true,
});
