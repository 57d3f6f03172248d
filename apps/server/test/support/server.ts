/** A server as a client meets it: a real socket, a data folder of its own, the token from its file. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Adapter } from "@tributary/contracts";
import { Writer } from "@tributary/store";
import { Context, Effect, Layer } from "effect";
import type { Scope } from "effect";
import { tokenFile } from "../../src/config/token.ts";
import { DeviceLifetime } from "../../src/auth/Devices.ts";
import { authLayer } from "../../src/auth/layer.ts";
import { PairingLifetime } from "../../src/auth/Pairings.ts";
import { Core } from "../../src/core.ts";
import { Closing } from "../../src/http/Closing.ts";
import { EventPages } from "../../src/http/EventPages.ts";
import { PingInterval } from "../../src/http/live-loop.ts";
import { addressOf, serveHttp } from "../../src/http/listen.ts";
import type { ListenOptions } from "../../src/http/listen.ts";

/** A folder that goes with the scope: `data` for the store, `work` for agents. */
export const temporaryFolders = Effect.acquireRelease(
  Effect.sync(() => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "tributary-server-")));
    const folders = { base, data: join(base, "data"), work: join(base, "work") };
    mkdirSync(folders.work);
    return folders;
  }),
  ({ base }) => Effect.sync(() => rmSync(base, { recursive: true, force: true })),
);

export interface Answered {
  readonly status: number;
  readonly type: string;
  readonly headers: Headers;
  /** Parsed where it is JSON, else the text. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface TestServer {
  readonly url: string;
  readonly token: string;
  readonly data: string;
  readonly work: string;
  /** One request with the token; a body makes it a POST unless said otherwise. */
  readonly call: (path: string, options?: CallOptions) => Promise<Answered>;
  /** For who measures: events may be written without an agent. */
  readonly writer: Writer["Service"];
}

export interface CallOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `null`: none. */
  readonly token?: string | null;
}

export const client = (url: string, token: string): TestServer["call"] => answeredBy(fetch)(url, token);

/** The same over something else that takes requests. */
export const answeredBy =
  (ask: typeof fetch) =>
  (url: string, token: string): TestServer["call"] =>
  async (path, { method, body, raw, headers, token: given = token } = {}) => {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await ask(`${url}${path}`, {
      method: method ?? (sent === undefined ? "GET" : "POST"),
      ...(sent === undefined ? {} : { body: sent }),
      headers: {
        ...(given === null ? {} : { authorization: `Bearer ${given}` }),
        ...(sent === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
    });
    const text = await response.text();
    const type = response.headers.get("content-type") ?? "";
    const isJson = /^application\/(problem\+)?json/.test(type);
    return { status: response.status, type, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };

export interface ServerOptions {
  readonly adapters?: Readonly<Record<string, Adapter>>;
  /** Milliseconds. */
  readonly pingInterval?: number;
  readonly durability?: "full" | "normal";
  /** How it is reached by others. */
  readonly listen?: Pick<ListenOptions, "tls" | "tunnel" | "limits">;
  /** Milliseconds that pairings and devices' tokens hold. */
  readonly lifetimes?: { readonly pairing?: number; readonly device?: number };
}

/** Starts a server over a data folder; it stops, in good order, with the scope. */
export const startServer = Effect.fnUntraced(function* (
  folders: { readonly data: string; readonly work: string },
  { adapters = {}, pingInterval, durability = "full", listen = {}, lifetimes = {} }: ServerOptions = {},
): Effect.fn.Return<TestServer, never, Scope.Scope> {
  const { data, work } = folders;
  const services = yield* Layer.build(
    serveHttp({ host: "127.0.0.1", port: 0, ...listen }).pipe(
      Layer.provideMerge(Layer.mergeAll(EventPages.layer, Closing.layer, authLayer(data))),
      Layer.provideMerge(Core.layer({ dir: data, start: true, adapters, synchronous: durability })),
      Layer.provide(pingInterval === undefined ? Layer.empty : Layer.succeed(PingInterval, pingInterval)),
      Layer.provide(lifetimes.pairing === undefined ? Layer.empty : Layer.succeed(PairingLifetime, lifetimes.pairing)),
      Layer.provide(lifetimes.device === undefined ? Layer.empty : Layer.succeed(DeviceLifetime, lifetimes.device)),
    ),
  ).pipe(Effect.orDie);
  const url = yield* Effect.provideContext(addressOf, services);
  const token = readFileSync(tokenFile(data), "utf8").trim();
  return { url, token, data, work, call: client(url, token), writer: Context.get(services, Writer) };
});

/** A server with `work` registered as a project. */
export const freshServer = Effect.gen(function* () {
  const server = yield* startServer(yield* temporaryFolders);
  yield* Effect.promise(() => server.call("/projects", { body: { projectId: "P", root: server.work } }));
  return server;
});
