/** RPC over a WebSocket: opened with a one-time ticket, since a token does not belong into a URL. */
import { silent, TributaryError, unreachable } from "./errors.ts";
import { httpTransport, type HttpOptions } from "./http.ts";
import { orAborted } from "./retry.ts";
import { rpcTransport, type OpenLink } from "./rpc.ts";
import { routes } from "./routes.ts";
import type { Route, Transport } from "./transport.ts";

export interface WebSocketOptions extends HttpOptions {
  /** Where the platform has none of its own. */
  readonly WebSocket?: typeof globalThis.WebSocket;
}

/** The token was revoked or ran out. */
const revoked = 4401;

const closedBy = (url: string, { code, reason }: CloseEvent): TributaryError =>
  code === revoked
    ? new TributaryError({ code: "unauthorized", detail: reason, userAction: "login", status: 401 })
    : unreachable(url, new Error(`The WebSocket closed with ${code} ${reason}`));

/** Calls and streams over one WebSocket. Tickets, and bodies that are bytes, go over HTTP. */
export const webSocketTransport = (options: WebSocketOptions): Transport => {
  const http = httpTransport(options);
  const Socket = options.WebSocket ?? (globalThis as { WebSocket?: typeof globalThis.WebSocket }).WebSocket;
  if (Socket === undefined)
    throw new TributaryError({
      code: "no_websocket",
      detail:
        "There is no WebSocket here (Node has one from 22 on): give one as `WebSocket`, or use `url` and `token`.",
      userAction: "none",
    });
  const page = (globalThis as { location?: { origin?: string } }).location?.origin ?? "";
  const url = options.url === "" ? page : options.url.replace(/\/+$/, "");

  const { silenceMs } = options;
  const openMs = silenceMs ?? 25_000;

  /** A ticket, and the socket that it opens. */
  const openSocket = async (signal: AbortSignal): Promise<WebSocket> => {
    const route = routes["rpc"]?.["ticket"] as Route;
    const { ticket } = (await http.call({ name: "rpc.ticket", route, signal })) as { readonly ticket: string };
    const socket = new Socket(`${url.replace(/^http/, "ws")}/rpc?ticket=${encodeURIComponent(ticket)}`);
    const opened = new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("close", (event) => reject(closedBy(url, event)));
    });
    try {
      await orAborted(opened, signal);
      return socket;
    } catch (error) {
      socket.close();
      throw error;
    }
  };

  const open: OpenLink = async ({ message, closed }) => {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(silent(url, openMs)), openMs);
    const socket = await openSocket(controller.signal).finally(() => clearTimeout(timer));
    socket.addEventListener("message", ({ data }) => {
      let parsed: unknown;
      try {
        parsed = JSON.parse(String(data));
      } catch (error) {
        closed(unreachable(url, error));
        return;
      }
      message(parsed);
    });
    socket.addEventListener("close", (event) => closed(closedBy(url, event)));
    return {
      send: (one) => {
        if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(one));
      },
      close: () => socket.close(),
    };
  };

  return rpcTransport(open, { where: url, http, ...(silenceMs === undefined ? {} : { silenceMs }) });
};

/** What a `MessagePort` has in browsers, in Node and in Electron's windows. */
export interface PortLike {
  readonly postMessage: (message: unknown) => void;
  readonly addEventListener: (type: string, listener: (event: { readonly data: unknown }) => void) => void;
  readonly start?: () => void;
  readonly close: () => void;
}

/** RPC over a MessagePort whose other end a server of the same machine serves. It can't be opened again. */
export const portTransport = (port: PortLike): Transport =>
  rpcTransport(
    ({ message, closed }) => {
      port.addEventListener("message", ({ data }) => message(data));
      port.addEventListener("close", () => closed(unreachable("The other end of the port", undefined)));
      port.start?.();
      return Promise.resolve({ send: (one) => port.postMessage(one), close: () => port.close() });
    },
    { where: "The other end of the port" },
  );
