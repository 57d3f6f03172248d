/**
 * Tells whether a shell that an agent started is alive, without looking for it: the shell holds a named pipe open, and the
 * pipe ends when the last process that has it is gone.
 */
import { execFile } from "node:child_process";
import { constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { promisify } from "node:util";

export interface Lifeline {
  /** A shell command that takes hold of the pipe, says so and then sleeps for longer than any case. */
  readonly command: string;
  /** Likewise, and it ignores TERM: whoever ends it has to insist. */
  readonly stubborn: string;
  /** The command runs. */
  readonly up: Promise<void>;
  /** It and everything that it started are gone. */
  readonly gone: Promise<void>;
  readonly close: () => void;
}

export const lifeline = async (path: string): Promise<Lifeline> => {
  await promisify(execFile)("mkfifo", ["-m", "666", path]);
  // Not blocking: a reader may come before the writer, and only then is the end of the pipe the writer's end.
  const socket = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true });
  const up = new Promise<void>((resolve) => {
    socket.once("data", () => resolve());
  });
  const gone = new Promise<void>((resolve) => {
    socket.once("end", () => resolve());
  });
  const command = `exec 9>${path}; echo up >&9; sleep 1000`;
  return { command, stubborn: `trap '' TERM INT HUP; ${command}`, up, gone, close: () => socket.destroy() };
};
