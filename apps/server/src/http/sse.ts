/** Server-sent events as bytes: encoded once, shared by whoever gets the same. Pure. */

const encoder = new TextEncoder();

/** One frame as text. `data` is JSON, which holds no line break; neither may `id` and `event`. */
export const frameText = (event: string, data: unknown, id?: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

export const encodeFrames = (text: string): Uint8Array => encoder.encode(text);

export const sseHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // Proxies that buffer would hold frames back.
  "x-accel-buffering": "no",
} as const;
