/**
 * Why a runtime's process did not start.
 */
import { existsSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";

import { Schema } from "effect";

/**
 * The process did not start; nothing runs. `message` names the thing and the next step.
 *
 * - `command_not_found`: install the runtime or correct the instance's command;
 * - `not_executable`: no permission, or neither a program nor a script;
 * - `cwd_missing`: the working folder does not exist or is no folder;
 * - `too_large`: arguments and environment exceed what the system passes on;
 * - `no_resources`: out of processes, files or memory: wait, then retry;
 * - `invalid_argument`: a NUL byte or an unusable marker: a fault of the caller;
 * - `other`: anything else the system said.
 */
export class SpawnError extends Schema.TaggedError<SpawnError>()("SpawnError", {
  reason: Schema.Literals([
    "command_not_found",
    "not_executable",
    "cwd_missing",
    "too_large",
    "no_resources",
    "invalid_argument",
    "other",
  ]),
  message: Schema.String,
}) {}

interface Attempt {
  readonly command: string;
  readonly args: ReadonlyArray<string>;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
}

/**
 * Finds what Node would refuse with the offending value in its message: values of the environment must not be told.
 */
export const invalidAttempt = (attempt: Attempt): SpawnError | undefined => {
  const invalid = (what: string): SpawnError => new SpawnError({ reason: "invalid_argument", message: what });
  if (!/^[\w.:-]{1,128}$/.test(attempt.marker)) {
    return invalid("a marker is 1 to 128 letters, digits, dots, colons, dashes or underscores: make another one");
  }
  if (attempt.command === "") return invalid("no command is given: set the instance's command");
  const texts = [
    attempt.command,
    attempt.cwd,
    ...attempt.args,
    ...Object.keys(attempt.env),
    ...Object.values(attempt.env),
  ];
  if (texts.some((text) => text.includes("\0"))) {
    return invalid(`a NUL byte in the command, an argument or the environment of ${attempt.command}: take it out`);
  }
  return undefined;
};

/** Names the reason behind what `spawn` reported. A missing folder and a missing program both come as ENOENT. */
export const spawnError = (attempt: Attempt, cause: unknown): SpawnError => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
  const { command, cwd } = attempt;
  const because = (reason: SpawnError["reason"], message: string): SpawnError => new SpawnError({ reason, message });

  if (!isFolder(cwd))
    return because("cwd_missing", `the working folder ${cwd} is missing or no folder: choose another one`);
  switch (code) {
    case "ENOENT":
      return isAbsolute(command) && existsSync(command)
        ? because("not_executable", `${command} exists, but the interpreter in its first line does not: reinstall it`)
        : because(
            "command_not_found",
            `${command} was not found: install it, or set the instance's command to its full path`,
          );
    case "ENOTDIR":
      return because("command_not_found", `a part of the path ${command} is no folder: correct the instance's command`);
    case "EACCES":
    case "EPERM":
      return because(
        "not_executable",
        `${command} may not be executed, or ${cwd} not be entered: check their permissions`,
      );
    case "ENOEXEC":
      return because("not_executable", `${command} is neither a program for this machine nor a script with a #! line`);
    case "E2BIG":
      return because("too_large", `arguments and environment of ${command} are too large: pass less`);
    case "EAGAIN":
    case "EMFILE":
    case "ENFILE":
    case "ENOMEM":
      return because("no_resources", `the system has no room for another process (${code}): close something and retry`);
    default:
      return because("other", `${command} did not start (${code})`);
  }
};

const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};
