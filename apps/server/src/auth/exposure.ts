/** Where to listen, and whether that is safe: only this machine, unless TLS or a tunnel was named. Pure. */
import type { Reach } from "./reach.ts";

export interface ExposureOptions {
  /** The address to listen on. */
  readonly host: string;
  /** With `--tls-cert` and `--tls-key`: the pin. */
  readonly pin?: string | undefined;
  /** The address at which a tunnel or proxy in front is reached. It ends TLS. */
  readonly tunnel?: string | undefined;
}

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);

const isEverywhere = (host: string): boolean => host === "0.0.0.0" || host === "::";
const inUrl = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** The origin of a tunnel's address; undefined for what is none, or is not encrypted. */
const tunnelOrigin = (tunnel: string): string | undefined => {
  const url = URL.canParse(tunnel) ? new URL(tunnel) : undefined;
  return url?.protocol === "https:" && url.pathname === "/" && url.search === "" && url.username === ""
    ? url.origin
    : undefined;
};

/** Why not to listen; undefined when it is safe. */
export const exposureProblem = ({ host, pin, tunnel }: ExposureOptions): string | undefined => {
  if (tunnel !== undefined && tunnelOrigin(tunnel) === undefined)
    return `--tunnel takes the https:// address under which the tunnel is reached, such as https://name.example, not “${tunnel}”.`;
  if (isLoopback(host) || pin !== undefined || tunnel !== undefined) return undefined;
  return (
    `${host} can be reached by others, and what is sent would not be encrypted. Listen on 127.0.0.1; ` +
    "or name a certificate with --tls-cert FILE --tls-key FILE; or, where a tunnel or proxy in front ends TLS, say so with --tunnel URL."
  );
};

export interface Exposure {
  /** Where this machine itself finds the server. */
  readonly url: string;
  readonly reach: Reach;
  /** Names that the server has beside the loopback ones. */
  readonly hosts: ReadonlyArray<string>;
}

/** What follows from where it listens. `addresses`: this machine's own in its networks. */
export const exposureOf = (
  { host, pin, tunnel }: ExposureOptions,
  port: number,
  addresses: ReadonlyArray<string>,
): Exposure => {
  const scheme = pin === undefined ? "http" : "https";
  const at = (name: string): string => `${scheme}://${inUrl(name)}:${port}`;
  const own = isEverywhere(host) ? addresses : isLoopback(host) ? [] : [host];
  const public_ = tunnel === undefined ? undefined : tunnelOrigin(tunnel);
  const url = at(isEverywhere(host) ? (host === "::" ? "::1" : "127.0.0.1") : host);
  return {
    url,
    reach: {
      url: public_ ?? (own[0] === undefined ? url : at(own[0])),
      tunnel: public_ !== undefined,
      // What a tunnel shows is the tunnel's key, not ours.
      ...(pin === undefined || public_ !== undefined ? {} : { pin }),
    },
    hosts: [
      ...own.map((name) => inUrl(name).toLowerCase()),
      ...(public_ === undefined ? [] : [new URL(public_).hostname]),
    ],
  };
};
