/** One dependency that the architecture does not allow. */
export interface Violation {
  /** Path from the repository's root. */
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** What was done, as in `imports "x" (re-export)`. */
  readonly what: string;
  /** What is allowed instead. */
  readonly allowed: string;
  /** The reason, one sentence. */
  readonly why: string;
}

/** The line that a person reads: where, what, what would be right, and why. */
export const describeViolation = ({ file, line, what, allowed, why }: Violation): string =>
  `${file}:${line} ${what}. ${allowed} Why: ${why}`;
