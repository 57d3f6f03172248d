/** HTTP and server-sent events by `fetch`: over the network, or into a handler of the same process. */
import { problem, silent, TributaryError, unreachable } from "./errors.ts";
import type { Frame } from "./reducer/index.ts";
import { aborted, orAborted } from "./retry.ts";
import { SseParser } from "./sse.ts";
import type { Call, Transport } from "./transport.ts";
import type { Bytes } from "./types.ts";

export interface HttpOptions {
  /** Without a slash at its end; empty: where the page came from. */
  readonly url: string;
  /** Sent as `Authorization: Bearer`, never in a URL. */
  readonly token?: string | (() => string | Promise<string>);
  /** Whether the browser sends its cookie instead. */
  readonly cookie?: boolean;
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Milliseconds without a frame after which a stream counts as dead. The server pings every ten seconds. */
  readonly silenceMs?: number;
  /** Milliseconds after which a call that may be repeated counts as lost. Default 60,000. */
  readonly answerMs?: number;
}

const isRaw = (payload: unknown): payload is Bytes =>
  payload instanceof Uint8Array || payload instanceof ArrayBuffer || payload instanceof Blob;

/** One parameter of a path. What no URL can hold must not become another path: “..” would name what is above. */
const segmentOf = (value: string): string => {
  const isLone = /\p{Surrogate}/u.test(value);
  if (value !== "" && value !== "." && value !== ".." && !isLone) return encodeURIComponent(value);
  throw new TributaryError({
    code: "bad_request",
    detail: `${isLone ? "Half a surrogate pair" : `“${value}”`} can't stand in a URL: name another id.`,
    userAction: "none",
  });
};

/** Parameters in the path, the others behind it. */
const targetOf = ({ route, params = {}, query = {} }: Call): string => {
  const path = route.path.replaceAll(/:([a-zA-Z]+)/g, (_, name: string) => segmentOf(String(params[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return text === "" ? path : `${path}?${text}`;
};

const bodyOf = async (response: Response): Promise<unknown> => {
  const text = await response.text();
  try {
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
};

/** The one answer that is not JSON. */
const isDownload = ({ name }: Call): boolean => name === "attachments.download";

/** Answered within moments, or lost: what may be repeated. Bytes and maintenance take the time that they take. */
const isQuick = (call: Call): boolean =>
  (call.route.keyed === true || call.route.method === "GET") &&
  !isDownload(call) &&
  !isRaw(call.payload) &&
  !call.route.path.startsWith("/maintenance/");

const isJson = (response: Response): boolean =>
  /^application\/([\w.]+\+)?json\b/.test(response.headers.get("content-type") ?? "");

const isStream = ({ headers }: Response): boolean =>
  (headers.get("content-type") ?? "").startsWith("text/event-stream");

export const httpTransport = (options: HttpOptions): Transport => {
  const { url, token, cookie = false, silenceMs = 25_000, answerMs = 60_000 } = options;
  const base = url.replace(/\/+$/, "");
  const send = options.fetch ?? ((request: Request) => globalThis.fetch(request));
  // A Request needs a whole URL; a page's own is where it came from.
  const origin = base === "" ? ((globalThis as { location?: { origin?: string } }).location?.origin ?? "") : base;

  const request = async (call: Call, accept: string, signal: AbortSignal | undefined): Promise<Response> => {
    const { route, payload, commandId } = call;
    const target = targetOf(call);
    const headers = new Headers({ accept });
    for (const [name, value] of Object.entries(call.headers ?? {})) if (value !== undefined) headers.set(name, value);
    const bearer = typeof token === "function" ? await token() : token;
    if (bearer !== undefined) headers.set("authorization", `Bearer ${bearer}`);
    if (commandId !== undefined) headers.set("idempotency-key", commandId);
    if (payload !== undefined && !isRaw(payload)) headers.set("content-type", "application/json");
    const init: RequestInit = {
      method: route.method,
      headers,
      credentials: cookie ? "include" : "omit",
      ...(payload === undefined ? {} : { body: isRaw(payload) ? payload : JSON.stringify(payload) }),
      ...(signal === undefined ? {} : { signal }),
    };
    try {
      return await send(new Request(`${origin}${target}`, init));
    } catch (error) {
      if (signal?.aborted === true) throw aborted(signal);
      throw unreachable(origin, error);
    }
  };

  const answered = async (one: Call, signal: AbortSignal | undefined): Promise<unknown> => {
    const response = await request(one, "application/json", signal);
    if (response.ok && isDownload(one)) return response;
    let body: unknown;
    try {
      body = await bodyOf(response);
    } catch (error) {
      if (signal?.aborted === true) throw aborted(signal);
      throw unreachable(origin, error);
    }
    if (!response.ok || !isJson(response)) throw problem(response.status, body);
    if (body === undefined) throw unreachable(origin, new Error("The answer was cut off."));
    return body;
  };

  const call = async (one: Call): Promise<unknown> => {
    if (!isQuick(one)) return await orAborted(answered(one, one.signal), one.signal);
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(silent(origin, answerMs)), answerMs);
    const stop = () => controller.abort(aborted(one.signal as AbortSignal));
    one.signal?.addEventListener("abort", stop);
    if (one.signal?.aborted === true) stop();
    try {
      return await orAborted(answered(one, controller.signal), controller.signal);
    } finally {
      clearTimeout(timer);
      one.signal?.removeEventListener("abort", stop);
    }
  };

  async function* stream(one: Call): AsyncGenerator<ReadonlyArray<Frame>, void> {
    const controller = new AbortController();
    const outer = one.signal ?? new AbortController().signal;
    const stop = () => controller.abort(outer.reason);
    if (outer.aborted) throw aborted(outer);
    outer.addEventListener("abort", stop);
    /** Only while something is waited for: a reader that takes its time is no silence of the server. */
    const watched = async <A>(promise: Promise<A>): Promise<A> => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(silent(origin, silenceMs)), silenceMs);
      });
      try {
        return await Promise.race([promise, silence]);
      } finally {
        clearTimeout(timer);
      }
    };
    try {
      const response = await watched(request(one, "text/event-stream", controller.signal));
      if (!response.ok || response.body === null || !isStream(response))
        throw problem(response.status, await watched(bodyOf(response)));
      const reader = response.body.getReader();
      const parser = new SseParser();
      for (;;) {
        const read = await watched(reader.read());
        if (read.done) return;
        const frames = parser.push(read.value).map(frameOf);
        if (frames.length > 0) yield frames;
      }
    } catch (error) {
      if (controller.signal.aborted) throw aborted(outer);
      if (error instanceof TributaryError) throw error;
      throw unreachable(origin, error);
    } finally {
      outer.removeEventListener("abort", stop);
      controller.abort();
    }
  }

  return { call, stream, close: () => undefined };
};

/** Frames of names that are not known go through as they are: the reducer skips them (I18). */
const frameOf = ({ event, data, id }: { event: string; data: string; id: string | undefined }): Frame =>
  ({ event, data: JSON.parse(data) as unknown, id }) as Frame;

/**
 * A server inside this process: anything that answers a `Request`, as `HttpEffect.toWebHandler` and
 * `HttpRouter.toWebHandler` give it.
 */
export const inProcess = (
  server: { readonly fetch: (request: Request) => Promise<Response> },
  options: Omit<HttpOptions, "url" | "fetch"> & { readonly url?: string } = {},
): Transport => httpTransport({ url: "http://localhost", ...options, fetch: (request) => server.fetch(request) });
