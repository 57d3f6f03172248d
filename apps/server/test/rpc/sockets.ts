/** WebSockets to a server under test, and how an upgrade was answered. */
import { request as httpRequest } from "node:http";
import type { Duplex } from "node:stream";
import * as NodeWS from "@effect/platform-node/NodeWS";
import { assert } from "@effect/vitest";
import { Effect } from "effect";
import { rpcClient, socketWire, toSocketUrl } from "../support/rpc.ts";
import { pairDevice as pair } from "../auth/devices.ts";
import type { TestServer } from "../support/server.ts";

type Server = Pick<TestServer, "url" | "call">;

export const ticketFor = ({ call }: Server, token?: string) =>
  Effect.promise(async () => {
    const { status, body } = await call("/auth/ticket", {
      method: "POST",
      ...(token === undefined ? {} : { token }),
    });
    assert.strictEqual(status, 200, JSON.stringify(body));
    return body.ticket as string;
  });

/** The built-in WebSocket, as a browser has it. */
export const openSocket = Effect.fnUntraced(function* (server: Server, token?: string) {
  const ticket = yield* ticketFor(server, token);
  return yield* Effect.acquireRelease(
    Effect.promise(() => Promise.resolve(new WebSocket(toSocketUrl(server.url, ticket)))),
    (socket) => Effect.sync(() => socket.close()),
  );
});

export const connectRpc = Effect.fnUntraced(function* (server: Server, token?: string) {
  const socket = yield* openSocket(server, token);
  return rpcClient(yield* Effect.promise(() => socketWire(socket)));
});

/** A client that can be made to stop reading, or not to answer pings. */
export const openRawSocket = Effect.fnUntraced(function* (server: Server, options: object = {}) {
  const ticket = yield* ticketFor(server);
  return yield* Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<NodeWS.WebSocket>((resolve, reject) => {
          const socket = new NodeWS.WebSocket(toSocketUrl(server.url, ticket), options);
          socket.on("open", () => resolve(socket));
          socket.on("error", reject);
        }),
    ),
    (socket) => Effect.sync(() => socket.terminate()),
  );
});

const handshake = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": Buffer.from("0123456789abcdef").toString("base64"),
};

/** The connection below a WebSocket that was just opened: frames can be anything. */
export const openConnection = Effect.fnUntraced(function* (server: Server) {
  const ticket = yield* ticketFor(server);
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const sent = httpRequest(`${server.url}/rpc?ticket=${ticket}`, { headers: handshake, agent: false });
  sent.on("upgrade", (_response, socket) => resolve(socket));
  sent.on("error", reject);
  sent.end();
  return yield* Effect.acquireRelease(
    Effect.promise(() => promise),
    (socket) => Effect.sync(() => socket.destroy()),
  );
});

/** Asks for the upgrade; the body of what refused it, or 101. */
export const upgrade = (url: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(
    () =>
      // oxlint-disable-next-line typescript/no-explicit-any
      new Promise<{ readonly status: number; readonly type?: string | undefined; readonly body?: any }>(
        (resolve, reject) => {
          const sent = httpRequest(`${url}${path}`, { headers: { ...handshake, ...headers } });
          sent.on("upgrade", (_response, socket) => {
            socket.destroy();
            resolve({ status: 101 });
          });
          sent.on("response", (response) => {
            let text = "";
            response.setEncoding("utf8").on("data", (more: string) => (text += more));
            response.on("end", () =>
              resolve({
                status: response.statusCode ?? 0,
                type: response.headers["content-type"],
                body: text.startsWith("{") ? JSON.parse(text) : text,
              }),
            );
          });
          sent.on("error", reject);
          sent.end();
        },
      ),
  );

/** A device with some scopes. */
export const pairDevice = (server: TestServer, scopes: ReadonlyArray<string>) => pair(server, { scopes });
