/** Public events of a thread, page by page: as JSON, as one array, as lines. Never more than a page is held. */
import { EventLog } from "@tributary/store";
import { Effect, Option, Stream } from "effect";
import { eventCursor, pageAfter } from "./cursor.ts";
import { limits } from "./limits.ts";
import { storeProblem } from "./problems.ts";
import { toPublic } from "./public-events.ts";
import { existing, reading } from "./reads.ts";

/** Events after a cursor, and where to go on. `done`: nothing more for now. */
export const eventPage = Effect.fnUntraced(function* (
  threadId: string,
  query: { readonly after?: string; readonly limit?: number },
) {
  yield* existing(threadId);
  const log = yield* EventLog;
  const head = yield* Effect.mapError(log.head, storeProblem);
  const after = yield* reading(() => pageAfter(query.after, { epoch: log.epoch, head }));
  const page = (from: number, limit: number) =>
    Effect.mapError(log.page({ after: from, threadId, limit, maxBytes: limits.maxPageBytes }), storeProblem);
  const events = yield* page(after, query.limit ?? limits.maxPageEvents);
  const end = events.at(-1)?.sequence ?? after;
  const more = events.length === 0 ? [] : yield* page(end, 1);
  return {
    events: events.flatMap((event) => toPublic(event, log.epoch) ?? []),
    next: eventCursor(log.epoch, end),
    done: more.length === 0,
  };
});

type Page = Effect.Success<ReturnType<typeof eventPage>>;

/** A page with where the next one begins, for `Stream.paginate`. */
export const withNext = (page: Page): readonly [ReadonlyArray<Page>, Option.Option<string>] => [
  [page],
  page.done ? Option.none() : Option.some(page.next),
];

export const ndjson = "application/x-ndjson";

export const asLines = <E, R>(pages: Stream.Stream<Page, E, R>): Stream.Stream<Uint8Array, E, R> =>
  pages.pipe(
    Stream.map(({ events }) => events.map((event) => `${JSON.stringify(event)}\n`).join("")),
    Stream.filter((text) => text !== ""),
    Stream.encodeText,
  );

export const asArray = <E, R>(pages: Stream.Stream<Page, E, R>): Stream.Stream<Uint8Array, E, R> => {
  const inner = pages.pipe(
    Stream.map(({ events }) => events.map((event) => JSON.stringify(event)).join(",\n")),
    Stream.filter((text) => text !== ""),
    Stream.mapAccum(
      () => "",
      (comma, text: string) => [",\n", [comma + text]] as const,
    ),
  );
  return Stream.encodeText(Stream.concat(Stream.concat(Stream.succeed("["), inner), Stream.succeed("]")));
};
