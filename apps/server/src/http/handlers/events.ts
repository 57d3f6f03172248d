import { Api } from "@tributary/contracts/api";
import type { Views } from "@tributary/projections";
import type { EventLog } from "@tributary/store";
import { Effect, Stream } from "effect";
import type { HttpServerRequest } from "effect/http";
import { HttpServerResponse } from "effect/http";
import { HttpApiBuilder } from "effect/http-api";
import type { EndpointOf, CallOf } from "../calls.ts";
import { asArray, asLines, eventPage, ndjson, withNext } from "../event-pages.ts";
import { followShells } from "../follow-shells.ts";
import { followThread } from "../follow-thread.ts";
import type { Frames } from "../live-loop.ts";
import { badRequest } from "../problems.ts";
import { existing } from "../reads.ts";
import { sseHeaders } from "../sse.ts";

type Call<Name extends "page" | "live" | "liveMany" | "replay" | "sessionLive"> = CallOf<EndpointOf<"events", Name>>;

/** At most so many threads on one connection. */
const maxThreads = 64;

/** Ids in a list: what separates them is written `%2C` within one, and `%` itself `%25`. */
const idsIn = (list: string): ReadonlyArray<string> =>
  list
    .split(",")
    .filter((id) => id !== "")
    .map((id) => id.replaceAll(/%(25|2C)/gi, (code) => (code === "%25" ? "%" : ",")));

const live = ({ params, query }: Call<"live">) =>
  Effect.andThen(existing(params.threadId), followThread(params.threadId, query.after));

/** Events of threads: pages, and streams that follow. */
export const eventCalls = {
  page: ({ params, query }: Call<"page">) => eventPage(params.threadId, query),
  live,
  sessionLive: live,
  liveMany: Effect.fnUntraced(function* ({ query }: Call<"liveMany">) {
    const threadIds = idsIn(query.threads ?? "");
    if (threadIds.length > maxThreads)
      return yield* badRequest(`At most ${maxThreads} threads on one connection.`, ["query", "threads"]);
    for (const threadId of threadIds) yield* existing(threadId);
    return yield* followShells(threadIds, query.after);
  }),
  /** Pages: the first is read when this succeeds, so that what is wrong with the call is told before anything else. */
  replay: Effect.fnUntraced(function* ({ params: { threadId }, query }: Call<"replay">) {
    const first = yield* eventPage(threadId, query);
    const services = yield* Effect.context<EventLog | Views>();
    const rest =
      query.limit === undefined && !first.done
        ? Stream.paginate(first.next, (after) => Effect.map(eventPage(threadId, { after }), withNext))
        : Stream.empty;
    return Stream.provideContext(Stream.concat(Stream.succeed(first), rest), services);
  }),
};

/** A reconnecting browser sends the newest id in a header and the old one in the URL: the header counts. */
const resumed = <Q extends { readonly after?: string }>(
  query: Q,
  { headers }: HttpServerRequest.HttpServerRequest,
): Q => {
  const last = headers["last-event-id"];
  return last === undefined ? query : { ...query, after: last };
};

const asStream = (frames: Frames) =>
  HttpServerResponse.stream(frames, { headers: sseHeaders, contentType: sseHeaders["content-type"] });

export const events = HttpApiBuilder.group(Api, "events", (handlers) =>
  handlers.handleAll({
    page: eventCalls.page,
    live: ({ params, query, request }) =>
      Effect.map(eventCalls.live({ params, query: resumed(query, request) }), asStream),
    sessionLive: ({ params, query, request }) =>
      Effect.map(eventCalls.sessionLive({ params, query: resumed(query, request) }), asStream),
    liveMany: ({ query, request }) => Effect.map(eventCalls.liveMany({ query: resumed(query, request) }), asStream),
    replay: Effect.fnUntraced(function* ({ params, query, request }) {
      const pages = yield* eventCalls.replay({ params, query });
      const lines = request.headers["accept"]?.includes(ndjson) === true;
      return HttpServerResponse.stream(lines ? asLines(pages) : asArray(pages), {
        contentType: lines ? ndjson : "application/json",
      });
    }),
  }),
);
