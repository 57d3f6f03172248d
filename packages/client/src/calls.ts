/** The endpoints as methods, with what makes them safe to call over a bad connection. */
import { isTransient } from "./errors.ts";
import { pause, type Retry } from "./retry.ts";
import { routes } from "./routes.ts";
import type { Frame } from "./reducer/index.ts";
import type { Call, Route, Transport } from "./transport.ts";
import type { CallOptions, Calls } from "./types.ts";

/** A new random id. Also where a page was not loaded over TLS, and `crypto.randomUUID` is missing. */
export const randomId = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
};

type Given = Pick<Call, "params" | "query" | "headers" | "payload"> & CallOptions;

/** Not before the server says. */
const waitFor = (retryAt: string | undefined): number =>
  retryAt === undefined ? 0 : Math.min(60_000, Math.max(0, Date.parse(retryAt) - Date.now()) || 0);

/**
 * Makes one call, and repeats it where that can't act twice: reads, and mutating calls under the same key. What can't be
 * repeated is tried once.
 */
export const callWith =
  (transport: Transport, retry: Retry) =>
  async (name: string, route: Route, given: Given = {}): Promise<unknown> => {
    const { commandId, signal, ...rest } = given;
    const key = route.keyed === true ? (commandId ?? randomId()) : undefined;
    const mayRepeat = route.keyed === true || route.method === "GET";
    for (let repeat = 0; ; repeat += 1) {
      try {
        return await transport.call({ name, route, ...rest, commandId: key, signal });
      } catch (error) {
        if (!isTransient(error) || !mayRepeat || repeat >= retry.attempts) throw error;
        await pause(Math.max(retry.delay(repeat), waitFor(error.retryAt)), signal);
      }
    }
  };

async function* framesOf(chunks: AsyncIterable<ReadonlyArray<Frame>>): AsyncGenerator<Frame, void> {
  for await (const frames of chunks) yield* frames;
}

export const makeCalls = (transport: Transport, retry: Retry): Calls => {
  const call = callWith(transport, retry);
  const groups = Object.entries(routes).map(([group, endpoints]) => {
    const methods = Object.entries(endpoints).map(([endpoint, route]) => {
      const name = `${group}.${endpoint}`;
      const method =
        route.live === true
          ? (given: Given = {}) => framesOf(transport.stream({ name, route, ...given }))
          : (given?: Given) => call(name, route, given);
      return [endpoint, method] as const;
    });
    return [group, Object.fromEntries(methods)] as const;
  });
  // A test walks the contract: the table has what the type says.
  return Object.fromEntries(groups) as unknown as Calls;
};
