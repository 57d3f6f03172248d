/** A session as a native recording: lines `{"t": ms, "dir": "in" | "out", "msg": frame}`, as `tributary normalize` reads them. */
import { closeSync, openSync, writeSync } from "node:fs";
import { Effect } from "effect";
import { clientFailure } from "./client.ts";
import type { Connection } from "./connection.ts";
import { failure } from "./failure.ts";

/** Lines of all records of a thread, page by page, handed to `write`. */
export const eachRecordLine = Effect.fnUntraced(function* (
  { client, access }: Connection,
  threadId: string,
  write: (lines: string) => Effect.Effect<void, unknown>,
) {
  let after: string | undefined;
  let begin: number | undefined;
  for (let done = false; !done;) {
    const page = yield* client.threads
      .records({ params: { threadId }, query: { limit: 500, ...(after === undefined ? {} : { after }) } })
      .pipe(Effect.mapError(clientFailure(access)));
    begin ??= page.records[0]?.at;
    const start = begin ?? 0;
    yield* write(
      page.records.map(({ at, dir, frame }) => `${JSON.stringify({ t: at - start, dir, msg: frame })}\n`).join(""),
    );
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
