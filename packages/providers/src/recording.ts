/**
 * Native recordings: one JSON object a line, `{"t": ms since start, "dir": …, "msg": …}`.
 *
 * `in` came from the runtime, `out` went to it; `in-raw` is a line of its output that was no JSON; `stderr` is text;
 * `meta` says how it was started (`{"spawn": …}`) and how it ended (`{"exit": code, "signal": name}`).
 */
import { Schema } from "effect";

/** A line that is no line of a recording. */
export class RecordingError extends Schema.TaggedError<RecordingError>()("RecordingError", {
  /** From 1. */
  line: Schema.Int,
  message: Schema.String,
}) {}

export type RecordingLine =
  | { readonly kind: "frame"; readonly dir: "in" | "out"; readonly msg: unknown }
  | { readonly kind: "spawn" }
  | { readonly kind: "exit"; readonly exitCode?: number; readonly signal?: string }
  /** Neither a frame nor an end: stderr, and whatever else a recorder noted. */
  | { readonly kind: "note" };

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

const readMeta = (msg: unknown): RecordingLine => {
  if (field(msg, "spawn") !== undefined) return { kind: "spawn" };
  const code = field(msg, "exit");
  const signal = field(msg, "signal");
  if (code === undefined && signal === undefined) return { kind: "note" };
  return {
    kind: "exit",
    ...(typeof code === "number" && Number.isInteger(code) ? { exitCode: code } : {}),
    ...(typeof signal === "string" ? { signal } : {}),
  };
};

const readLine = (text: string, line: number): RecordingLine => {
  const wrong = (why: string): RecordingError =>
    new RecordingError({
      line,
      message: `line ${line} is no line of a recording (${why}): each is {"t": milliseconds, "dir": "in" or "out", "msg": …}`,
    });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong("not JSON");
  }
  const dir = field(value, "dir");
  const msg = field(value, "msg");
  if (typeof dir !== "string" || msg === undefined) throw wrong('"dir" or "msg" is missing');
  if (dir === "in" || dir === "out") return { kind: "frame", dir, msg };
  if (dir === "in-raw") return { kind: "frame", dir: "in", msg: typeof msg === "string" ? msg : JSON.stringify(msg) };
  return dir === "meta" ? readMeta(msg) : { kind: "note" };
};

/** Reads a recording, given whole or line by line; blank lines are nothing. Throws `RecordingError` at the first that is none. */
export function* readRecording(lines: string | Iterable<string>): Generator<RecordingLine> {
  let number = 0;
  // Only LF separates lines: U+2028 is text.
  for (const raw of typeof lines === "string" ? lines.split("\n") : lines) {
    number += 1;
    const text = raw.trim();
    if (text !== "") yield readLine(text, number);
  }
}
