/**
 * `fetch` for a server of this machine whose certificate we know from its own file: no authority has to vouch for it, and
 * the name under which we call it does not matter. Anything else than that certificate is refused.
 */
import { X509Certificate } from "node:crypto";
import { Agent, request } from "node:https";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { pinOf } from "../auth/tls.ts";

/** `certificate`: PEM. */
export const pinnedFetch = (certificate: string): typeof globalThis.fetch => {
  const pin = pinOf(new X509Certificate(certificate));
  const agent = new Agent({
    ca: certificate,
    allowPartialTrustChain: true,
    checkServerIdentity: (_host, { raw }) =>
      pinOf(new X509Certificate(raw)) === pin ? undefined : new Error("The server has another key than its file says."),
  });
  return async (input, init) => {
    const asked = new Request(input, init);
    const body = asked.body === null ? undefined : Buffer.from(await asked.arrayBuffer());
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const sent = request(
      asked.url,
      { agent, method: asked.method, headers: Object.fromEntries(asked.headers), signal: asked.signal },
      (answer) => {
        const { statusCode = 502, headers } = answer;
        const isEmpty = statusCode === 204 || statusCode === 304;
        // Node's and the browser's types of one stream.
        const stream = isEmpty
          ? null
          : (Readable.toWeb(answer) as ReadableStream<Uint8Array> as globalThis.ReadableStream);
        const told = Object.entries(headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((one): [string, string] => [name, one]),
        );
        resolve(new Response(stream, { status: statusCode, headers: told }));
      },
    );
    sent.on("error", reject);
    sent.end(body);
    return await promise;
  };
};
