/** How a command ends when it does not succeed: one readable line with the next step, and the exit code. */
import { Schema } from "effect";

export class CliFailure extends Schema.TaggedError<CliFailure>()("CliFailure", {
  message: Schema.String,
  /** 1: it failed. 2: it was called wrongly. 130: it was interrupted. */
  exitCode: Schema.Literals([1, 2, 130]),
}) {}

export const failure = (message: string): CliFailure => new CliFailure({ message, exitCode: 1 });
export const usage = (message: string): CliFailure => new CliFailure({ message, exitCode: 2 });

const hasMessage = (error: unknown): error is { readonly message: string } =>
  typeof error === "object" && error !== null && "message" in error && typeof error.message === "string";

/** Any error as a failure of the command, in its own words. */
export const asFailure = (error: unknown): CliFailure => {
  if (error instanceof CliFailure) return error;
  return failure(hasMessage(error) && error.message !== "" ? error.message : String(error));
};
