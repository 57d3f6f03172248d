/**
 * Who may call at all (I17): only under names that are ours, and from a browser only out of pages that are ours. This
 * keeps a web page from reaching a loopback server by a name it rebinds, or by the browser's own hand. Pure.
 */
import { Forbidden } from "@tributary/contracts/api";

export interface Allowlist {
  readonly port: number;
  /** Names beside the loopback ones, without port. */
  readonly hosts: ReadonlyArray<string>;
  /** Origins beside our own, exactly as browsers send them. */
  readonly origins: ReadonlyArray<string>;
}

export interface Addressed {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  /** `Sec-Fetch-Site`: what a browser says of a request that carries no Origin. */
  readonly site?: string | undefined;
}

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

const refuse = (detail: string): Forbidden => new Forbidden({ detail, userAction: "none" });

const isOurs = (host: string, { port, hosts }: Allowlist): boolean => {
  const parts = /^(\[[0-9a-f:]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(host);
  if (parts === null) return false;
  const name = parts[1] ?? "";
  // A tunnel or proxy in front of us has a port of its own.
  return hosts.some((own) => own.toLowerCase() === name) || (loopback.has(name) && Number(parts[2] ?? 80) === port);
};

/** Why a request is refused before anything else of it is read; undefined when it may go on. */
export const refusal = (sent: Addressed, allowed: Allowlist): Forbidden | undefined => {
  const host = sent.host?.toLowerCase();
  if (host === undefined || !isOurs(host, allowed))
    return refuse(
      `This server is not called “${sent.host ?? ""}”: use http://127.0.0.1:${allowed.port}, or add the name to settings.allowedHosts.`,
    );
  if (sent.origin === undefined) {
    if (sent.site === "cross-site" || sent.site === "same-site")
      return refuse("A page of another site may not call this server.");
    return undefined;
  }
  if (isSameOrigin(sent.origin, host) || allowed.origins.includes(sent.origin)) return undefined;
  return refuse(`Pages of ${sent.origin} may not call this server; add the origin to settings.allowedOrigins.`);
};

/** Whether a page that we served ourselves is calling. */
export const isSameOrigin = (origin: string, host: string): boolean =>
  origin === `http://${host}` || origin === `https://${host}`;
