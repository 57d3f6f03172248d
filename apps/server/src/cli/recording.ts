/** A session as a native recording, as `tributary normalize` reads it: lines `{"t": ms, "dir": "in" | "out", "msg": frame}`, how each process ended as `meta`. */
import { closeSync, openSync, writeSync } from "node:fs";
import { Effect } from "effect";
import { clientFailure } from "./client.ts";
import type { Connection } from "./connection.ts";
import { failure } from "./failure.ts";

interface Exported {
  readonly generation: number;
  readonly dir: "in" | "out";
  readonly nativeKind: string;
  readonly at: number;
  readonly frame: unknown;
}

/** How a process ended: a note of the supervisor, and no frame of the runtime. */
const exitOf = ({ dir, nativeKind, frame }: Exported): Readonly<Record<string, unknown>> | undefined => {
  if (dir !== "in" || nativeKind !== "exit" || typeof frame !== "object" || frame === null) return undefined;
  const { exitCode = null, signal = null } = frame as Readonly<Record<string, unknown>>;
  return exitCode === null && signal === null ? undefined : { exit: exitCode, signal };
};

/** Records as lines of a recording. Further processes are told apart by where they begin. */
const makeLines = () => {
  let begin: number | undefined;
  let generation: number | undefined;
  const line = (at: number, dir: string, msg: unknown): string =>
    `${JSON.stringify({ t: at - (begin ?? at), dir, msg })}\n`;
  return (record: Exported): string => {
    const { at, dir, frame } = record;
    begin ??= at;
    const spawned = generation === undefined || generation === record.generation ? "" : line(at, "meta", { spawn: [] });
    ({ generation } = record);
    const exit = exitOf(record);
    return spawned + (exit === undefined ? line(at, dir, frame) : line(at, "meta", exit));
  };
};

/** Lines of all records of a thread, page by page, handed to `write`. */
export const eachRecordLine = Effect.fnUntraced(function* (
  { client, access }: Connection,
  threadId: string,
  write: (lines: string) => Effect.Effect<void, unknown>,
) {
  let after: string | undefined;
  const lineOf = makeLines();
  for (let done = false; !done;) {
    const page = yield* client.threads
      .records({ params: { threadId }, query: { limit: 500, ...(after === undefined ? {} : { after }) } })
      .pipe(Effect.mapError(clientFailure(access)));
    yield* write(page.records.map(lineOf).join(""));
    after = page.next;
    ({ done } = page);
  }
});

/** Writes them to a file (0600: frames may hold anything). */
export const writeRecording = (connection: Connection, threadId: string, file: string) =>
  Effect.acquireUseRelease(
    Effect.try({
      try: () => openSync(file, "w", 0o600),
      catch: (cause) => failure(`${file} can't be written: ${String(cause)}`),
    }),
    (fd) => eachRecordLine(connection, threadId, (lines) => Effect.sync(() => void writeSync(fd, lines))),
    (fd) => Effect.sync(() => closeSync(fd)),
  );
