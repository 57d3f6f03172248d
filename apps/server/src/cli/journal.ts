/** `tributary journal`: records of threads, through the API. */
import { Effect } from "effect";
import { clientFailure } from "./client.ts";
import { connect } from "./connection.ts";
import { oneLine, print, printJson, table } from "./output.ts";
import { eachRecordLine } from "./recording.ts";
import type { Target } from "./root.ts";

/** Threads that ever had a session. */
export const listJournals = Effect.fn("cli.journal.list")(function* (target: Target) {
  const { client, access } = yield* connect(target, "store");
  const found: Array<{ readonly threadId: string; readonly generations: number; readonly instance: string }> = [];
  for (let before: string | undefined, more = true; more;) {
    const page = yield* client.threads
      .list({ query: { limit: 200, ...(before === undefined ? {} : { before }) } })
      .pipe(Effect.mapError(clientFailure(access)));
    for (const { threadId, session, instance } of page.threads)
      if (session !== undefined) found.push({ threadId, generations: session.generation, instance });
    before = page.before;
    more = before !== undefined;
  }
  if (target.json) return yield* printJson({ threads: found });
  if (found.length === 0) return yield* print("No agent was ever started here.\n");
  return yield* print(
    table([
      ["THREAD", "AGENT", "SESSIONS"],
      ...found.map(({ threadId, instance, generations }) => [threadId, instance, String(generations)]),
    ]),
  );
}, Effect.scoped);

/** Every record of a thread, one line each, page by page. */
export const showJournal = Effect.fn("cli.journal.show")(function* (target: Target, threadId: string) {
  const { client, access } = yield* connect(target, "store");
  let after: string | undefined;
  for (let done = false; !done;) {
    const page = yield* client.threads
      .records({ params: { threadId }, query: { limit: 500, ...(after === undefined ? {} : { after }) } })
      .pipe(Effect.mapError(clientFailure(access)));
    for (const record of page.records) {
      if (target.json) yield* printJson(record);
      else {
        const { generation, seq, dir, kind, nativeKind, events, frame } = record;
        const what = frame === null ? "(pruned)" : oneLine(JSON.stringify(frame), 80);
        yield* print(
          `${generation}.${seq}\t${dir === "in" ? "←" : "→"} ${kind}\t${nativeKind}\t${events.length} events\t${what}\n`,
        );
      }
    }
    after = page.next;
    ({ done } = page);
  }
}, Effect.scoped);

export const exportJournal = Effect.fn("cli.journal.export")(function* (target: Target, threadId: string) {
  const connection = yield* connect(target, "store");
  yield* eachRecordLine(connection, threadId, print);
}, Effect.scoped);
