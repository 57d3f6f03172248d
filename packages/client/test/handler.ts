/** Servers inside the test: they answer requests as a real one would, and write down what was asked. */
import { createClient, inProcess, type ClientOptions } from "../src/index.ts";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly token: string | null;
  readonly body: unknown;
}

export type Answer = (asked: Asked, request: Request) => Response | Promise<Response>;

export const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": status >= 400 ? "application/problem+json" : "application/json" },
  });

/** Frames as a stream that goes on until the reader leaves, or ends after them. */
export const stream = (
  frames: ReadonlyArray<{ readonly event: string; readonly id?: string | undefined; readonly data: unknown }>,
  ends = false,
) => {
  const text = frames
    .map(
      ({ event, id, data }) =>
        `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
    )
    .join("");
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(text));
      if (ends) controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
};

/** A client of a server that answers so; repeats follow each other at once. */
export const against = (answer: Answer, options: ClientOptions = {}) => {
  const asked: Array<Asked> = [];
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const text = await request.clone().text();
    const one: Asked = {
      method: request.method,
      path: pathname + search,
      key: request.headers.get("idempotency-key"),
      token: request.headers.get("authorization"),
      body: text === "" ? undefined : JSON.parse(text),
    };
    asked.push(one);
    return answer(one, request);
  };
  const { silenceMs, answerMs } = options;
  const transport = inProcess(
    { fetch },
    {
      token: "secret",
      ...(silenceMs === undefined ? {} : { silenceMs }),
      ...(answerMs === undefined ? {} : { answerMs }),
    },
  );
  const client = createClient({ transport, retry: { baseMs: 1, maxMs: 2, random: () => 0, ...options.retry } });
  return { client, asked };
};
