/** A reader of server-sent events, written from the standard and not from the server's encoder. */

export interface SseFrame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Takes text as it arrives and gives the frames that are whole. */
export class SseParser {
  #rest = "";

  push(text: string): ReadonlyArray<SseFrame> {
    this.#rest += text;
    const blocks = this.#rest.split(/\r\n\r\n|\n\n|\r\r/u);
    this.#rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => frameOf(block));
  }
}

const frameOf = (block: string): ReadonlyArray<SseFrame> => {
  let id: string | undefined;
  let event = "message";
  const data: Array<string> = [];
  for (const line of block.split(/\r\n|\n|\r/u)) {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /u, "");
    if (field === "id") id = value;
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
  // A block without data, such as a comment, is no frame.
  return data.length === 0 ? [] : [{ id, event, data: data.join("\n") }];
};

export interface SseStream {
  /** Frames until the server ends the stream or it is closed. */
  readonly frames: AsyncIterable<SseFrame>;
  readonly close: () => void;
}

export interface SseOptions {
  readonly token: string;
  readonly lastEventId?: string | undefined;
}

/** Opens a stream; fails with the answer's text when the server refuses it. */
export const openSse = async (url: string, { token, lastEventId }: SseOptions): Promise<SseStream> => {
  const controller = new AbortController();
  const response = await fetch(url, {
    signal: controller.signal,
    headers: {
      accept: "text/event-stream",
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    },
  });
  if (!response.ok || response.body === null)
    throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return { frames: framesOf(response.body, controller.signal), close: () => controller.abort() };
};

async function* framesOf(body: ReadableStream<Uint8Array>, closed: AbortSignal): AsyncGenerator<SseFrame> {
  const parser = new SseParser();
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) yield* parser.push(decoder.decode(chunk, { stream: true }));
  } catch (error) {
    // Closed by us, or cut: a server that is killed ends its streams like this.
    if (!closed.aborted && !(error instanceof TypeError)) throw error;
  }
}
