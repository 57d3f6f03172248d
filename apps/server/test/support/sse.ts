/** A reader of server-sent events, written from the standard, not from the server's own encoder. */

export interface SseFrame {
  readonly id: string | undefined;
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
}

export interface SseOptions {
  readonly token: string;
  readonly lastEventId?: string;
  /** What takes the request: the network's unless said. */
  readonly fetch?: typeof fetch;
}

export interface SseStream {
  readonly status: number;
  /** The next frame; undefined when the server ended the stream. */
  readonly next: () => Promise<SseFrame | undefined>;
  /** Frames up to and with the first that `until` accepts. */
  readonly take: (until: (frame: SseFrame) => boolean) => Promise<ReadonlyArray<SseFrame>>;
  readonly close: () => void;
}

const parse = (block: string): SseFrame | undefined => {
  let id: string | undefined;
  let event = "message";
  const data: Array<string> = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") id = value;
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
  return data.length === 0 ? undefined : { id, event, data: JSON.parse(data.join("\n")) };
};

export const openSse = async (
  url: string,
  { token, lastEventId, fetch: ask = fetch }: SseOptions,
): Promise<SseStream> => {
  const controller = new AbortController();
  const response = await ask(url, {
    signal: controller.signal,
    headers: {
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const frames: Array<SseFrame> = [];
  const next = async (): Promise<SseFrame | undefined> => {
    for (;;) {
      const ready = frames.shift();
      if (ready !== undefined) return ready;
      const read = await reader?.read();
      if (read === undefined || read.done) return undefined;
      text += read.value;
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const frame = parse(block);
        if (frame !== undefined) frames.push(frame);
      }
    }
  };
  const take = async (until: (frame: SseFrame) => boolean): Promise<ReadonlyArray<SseFrame>> => {
    const taken: Array<SseFrame> = [];
    for (;;) {
      const frame = await next();
      if (frame === undefined) throw new Error(`the stream ended after ${JSON.stringify(taken)}`);
      taken.push(frame);
      if (until(frame)) return taken;
    }
  };
  return { status: response.status, next, take, close: () => controller.abort() };
};

export const is =
  (event: string, type?: string) =>
  (frame: SseFrame): boolean =>
    frame.event === event && (type === undefined || frame.data.type === type);
