/** The typed client of the API, and live streams that survive a lost connection. */
import { Api, Authorization, CommandRejected, livePayloads } from "@tributary/contracts/api";
import type { LiveText, PublicEvent } from "@tributary/contracts/api";
import { Effect, Schedule, Schema, Stream } from "effect";
import { Sse } from "effect/encoding";
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http";
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api";
import { asFailure, failure } from "./failure.ts";
import type { CliFailure } from "./failure.ts";

/** How to reach a server: over the network, or a handler in this process. */
export interface Access {
  readonly baseUrl: string;
  readonly token: string;
  readonly fetch: typeof globalThis.fetch;
}

export type ApiClient = HttpApiClient.ForApi<typeof Api>;

/** Frames that the command line shows; others are skipped, also those of a newer server (I18). */
export type Frame =
  | { readonly frame: "event"; readonly data: PublicEvent }
  | { readonly frame: "live"; readonly data: LiveText }
  | { readonly frame: "synced" }
  | { readonly frame: "reset"; readonly reason: string };

const decoders = {
  event: Schema.decodeUnknownSync(livePayloads.event),
  live: Schema.decodeUnknownSync(livePayloads.live),
  reset: Schema.decodeUnknownSync(livePayloads.reset),
};

const frameOf = (event: string, data: string): Frame | undefined => {
  switch (event) {
    case "event":
      return { frame: "event", data: decoders.event(JSON.parse(data)) };
    case "live":
      return { frame: "live", data: decoders.live(JSON.parse(data)) };
    case "reset":
      return { frame: "reset", reason: decoders.reset(JSON.parse(data)).reason };
    case "synced":
      return { frame: "synced" };
    default:
      return undefined;
  }
};

const unreachable = (access: Access): string => `The server at ${access.baseUrl} does not answer`;

/** Where to look, in the command line's own words, for refusals that name something that is not there. */
const lookUp: Readonly<Record<string, string>> = {
  cwd_outside_roots: "; `tributary projects add DIR` registers one",
  runtime_unavailable: "; `tributary instances` lists them",
  thread_not_found: "; `tributary threads` lists them",
};

/** A refusal in its own words, with its code for scripts, what to do next, and whether the same may be sent again. */
const refusal = ({ detail, code, userAction, resend }: CommandRejected): CliFailure => {
  const next = userAction === "none" ? code : `${code}; next: ${userAction.replace("_", " ")}`;
  return failure(
    `${detail} (${next}${resend === "unsafe" ? "; sending it again may act twice" : ""})${lookUp[code] ?? ""}`,
  );
};

/** Any error of the client as one line: a problem's own words, or that the server can't be reached. */
export const clientFailure =
  (access: Access) =>
  (error: unknown): CliFailure => {
    if (HttpClientError.isHttpClientError(error) && error.reason._tag === "TransportError")
      return failure(`${unreachable(access)}; is it still running? \`tributary serve\` starts one.`);
    return error instanceof CommandRejected ? refusal(error) : asFailure(error);
  };

export const makeClient = (access: Access): Effect.Effect<ApiClient> =>
  HttpApiClient.make(Api, {
    transformClient: HttpClient.mapRequest(HttpClientRequest.prependUrl(access.baseUrl)),
  }).pipe(
    Effect.provide(
      HttpApiMiddleware.layerClient(Authorization, ({ next, request }) =>
        next(HttpClientRequest.bearerToken(request, access.token)),
      ),
    ),
    Effect.provide(FetchHttpClient.layer),
    Effect.provideService(FetchHttpClient.Fetch, access.fetch),
  );

/** One connection: events until it ends or breaks. */
const connection = (access: Access, threadId: string, after: string | undefined) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient;
      const query = after === undefined ? "" : `?after=${encodeURIComponent(after)}`;
      const request = HttpClientRequest.get(`${access.baseUrl}/threads/${encodeURIComponent(threadId)}/live${query}`);
      const response = yield* client.execute(HttpClientRequest.bearerToken(request, access.token));
      const ok = yield* HttpClientResponse.filterStatusOk(response);
      return ok.stream.pipe(Stream.decodeText, Stream.pipeThroughChannel(Sse.decode()));
    }).pipe(Effect.provide(FetchHttpClient.layer), Effect.provideService(FetchHttpClient.Fetch, access.fetch)),
  );

/** How often in a row a connection may fail before the server counts as gone. */
const patience = 20;
const pause = "250 millis";

/**
 * The frames of a thread after a cursor (absent: from its beginning), for ever: a connection that ends or breaks is opened
 * again after the newest cursor. Fails when the server refuses, or stays away for some seconds.
 */
export const followThread = (access: Access, threadId: string, after?: string): Stream.Stream<Frame, CliFailure> =>
  Stream.suspend(() => {
    let cursor = after;
    let failed = 0;
    return Stream.suspend(() => connection(access, threadId, cursor)).pipe(
      Stream.map((event) => {
        failed = 0;
        // The newest id holds for frames without one; it is where to go on in any case.
        cursor = event.id ?? cursor;
        return frameOf(event.event, event.data);
      }),
      Stream.filter((frame) => frame !== undefined),
      Stream.catch((error) => {
        failed += 1;
        const answered = HttpClientError.isHttpClientError(error) && error.reason._tag === "StatusCodeError";
        return answered || failed > patience ? Stream.fail(clientFailure(access)(error)) : Stream.empty;
      }),
      Stream.repeat(Schedule.spaced(pause)),
    );
  });
