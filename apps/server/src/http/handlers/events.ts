import { Api } from "@tributary/contracts/api";
import type { Views } from "@tributary/projections";
import type { EventLog } from "@tributary/store";
import { Effect, Stream } from "effect";
import type { HttpServerRequest } from "effect/http";
import { HttpServerResponse } from "effect/http";
import { HttpApiBuilder } from "effect/http-api";
import { asArray, asLines, eventPage, ndjson, withNext } from "../event-pages.ts";
import { followShells } from "../follow-shells.ts";
import { followThread } from "../follow-thread.ts";
import { badRequest } from "../problems.ts";
import { existing } from "../reads.ts";
import { sseHeaders } from "../sse.ts";

/** A reconnecting browser sends the newest id in a header and the old one in the URL: the header counts. */
const resumeAt = ({ headers }: HttpServerRequest.HttpServerRequest, after: string | undefined): string | undefined =>
  headers["last-event-id"] ?? after;

const liveOf = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  threadId: string,
  after: string | undefined,
) {
  yield* existing(threadId);
  const frames = yield* followThread(threadId, resumeAt(request, after));
  return HttpServerResponse.stream(frames, { headers: sseHeaders, contentType: sseHeaders["content-type"] });
});

/** Events of threads: pages, and streams that follow. */
export const events = HttpApiBuilder.group(Api, "events", (handlers) =>
  handlers.handleAll({
    page: ({ params, query }) => eventPage(params.threadId, query),
    live: ({ params, query, request }) => liveOf(request, params.threadId, query.after),
    sessionLive: ({ params, query, request }) => liveOf(request, params.threadId, query.after),
    liveMany: Effect.fnUntraced(function* ({ query, request }) {
      const threadIds = query.threads === undefined ? [] : query.threads.split(",").filter((id) => id !== "");
      if (threadIds.length > 64)
        return yield* badRequest("At most 64 threads on one connection.", ["query", "threads"]);
      for (const threadId of threadIds) yield* existing(threadId);
      const frames = yield* followShells(threadIds, resumeAt(request, query.after));
      return HttpServerResponse.stream(frames, { headers: sseHeaders, contentType: sseHeaders["content-type"] });
    }),
    replay: Effect.fnUntraced(function* ({ params: { threadId }, query, request }) {
      const first = yield* eventPage(threadId, query);
      const whole = query.limit === undefined && !first.done;
      const pages = Stream.concat(
        Stream.succeed(first),
        whole
          ? Stream.paginate(first.next, (after) => Effect.map(eventPage(threadId, { after }), withNext))
          : Stream.empty,
      );
      const lines = request.headers["accept"]?.includes(ndjson) === true;
      const services = yield* Effect.context<EventLog | Views>();
      return HttpServerResponse.stream(Stream.provideContext(lines ? asLines(pages) : asArray(pages), services), {
        contentType: lines ? ndjson : "application/json",
      });
    }),
  }),
);
