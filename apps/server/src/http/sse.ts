/** Server-sent events as bytes: encoded once, shared by whoever gets the same. Pure. */

const encoder = new TextEncoder();

/** One frame as text. `json` holds no line break, as JSON made by `stringify` does; neither may `id` and `event`. */
export const frameOf = (event: string, json: string, id?: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${json}\n\n`;

export const frameText = (event: string, data: unknown, id?: string): string =>
  frameOf(event, JSON.stringify(data), id);

export const encodeFrames = (text: string): Uint8Array => encoder.encode(text);

export const sseHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // Proxies that buffer would hold frames back.
  "x-accel-buffering": "no",
} as const;
