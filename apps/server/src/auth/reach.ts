/** How others reach this server, and who is calling. */
import { Context, Effect, Option } from "effect";
import type { HttpServerRequest } from "effect/http";

export interface Reach {
  /** Where another device finds it: what a pairing tells. Without a slash at its end. */
  readonly url: string;
  /** With TLS: `sha256/…` of the public key. */
  readonly pin?: string;
  /** A tunnel or proxy in front ends TLS: its word about who calls is taken. */
  readonly tunnel: boolean;
}

/** Set by whoever listens; a process that serves nobody else has the default. */
export const Reach = Context.Reference<Reach>("tributary/server/Reach", {
  defaultValue: () => ({ url: "http://localhost", tunnel: false }),
});

/** From where the request came that is being answered; `local` inside this process. */
export const RemoteAddress = Context.Reference<string>("tributary/server/RemoteAddress", {
  defaultValue: () => "local",
});

type Request = Pick<HttpServerRequest.HttpServerRequest, "headers" | "remoteAddress">;

/**
 * The address a request came from. Behind a tunnel the socket's is the tunnel's own; then the last entry of
 * `X-Forwarded-For` counts, the one that the tunnel itself wrote. Without a tunnel that header is anybody's word.
 */
export const addressOf = ({ headers, remoteAddress }: Request, { tunnel }: Reach): string => {
  const socket = Option.getOrElse(remoteAddress, () => "local");
  if (!tunnel) return socket;
  const last = headers["x-forwarded-for"]?.split(",").at(-1)?.trim();
  return last === undefined || !/^[0-9a-f.:]{2,45}$/i.test(last) ? socket : last;
};

/** Whether the answer travels encrypted: then cookies may travel no other way. */
export const isEncrypted = ({ headers }: Pick<Request, "headers">, { url, tunnel }: Reach): boolean =>
  tunnel ? new URL(url).hostname === (headers["host"] ?? "").replace(/:\d+$/, "") : url.startsWith("https:");

export const reach = Effect.service(Reach);
