/**
 * A child's stdin, one line at a time.
 */
import type { Writable } from "node:stream";

import { Effect, Schema } from "effect";

/**
 * The process does not take input any more. `wrote` decides what may be said about the input: after `nothing` it can
 * safely be offered again, after `unknown` part or all of it may have been read.
 */
export class StdinClosed extends Schema.TaggedError<StdinClosed>()("StdinClosed", {
  reason: Schema.Literals(["ended", "broken"]),
  wrote: Schema.Literals(["nothing", "unknown"]),
  message: Schema.String,
}) {}

/** What a runtime's input looks like to its adapter. */
export interface LineInput {
  /**
   * Writes the line and a LF (the line itself must hold none). Succeeds once the system has taken all of it, so a child
   * that does not read makes the writer wait. Lines reach the child in the order of the calls; one that is interrupted
   * while it waits is written all the same.
   */
  readonly write: (line: string) => Effect.Effect<void, StdinClosed>;
  /** Lets the child see the end of its input after what was written; later writes fail. Does not wait. */
  readonly endInput: Effect.Effect<void>;
}

/** `hasExited`: whether the process is known to be gone; a pipe that a leftover holds open is not worth writing to. */
export const lineInput = (stdin: Writable, hasExited: () => boolean): LineInput => {
  // Without a listener a broken pipe would end the host. Each write learns of it through its own callback.
  stdin.on("error", () => {});
  return {
    write: (line) =>
      Effect.callback<void, StdinClosed>((resume) => {
        if (hasExited() || !stdin.writable) {
          resume(Effect.fail(closed("ended", "nothing")));
          return;
        }
        stdin.write(`${line}\n`, (error) => {
          resume(error === null || error === undefined ? Effect.void : Effect.fail(closed("broken", "unknown")));
        });
      }),
    endInput: Effect.sync(() => {
      stdin.end();
    }),
  };
};

const closed = (reason: StdinClosed["reason"], wrote: StdinClosed["wrote"]): StdinClosed =>
  new StdinClosed({
    reason,
    wrote,
    message:
      wrote === "nothing"
        ? "the runtime takes no more input; nothing was written: open the session again, then retry"
        : "the runtime closed its input while it was being written to: look at what it did before retrying",
  });
