/**
 * Follows one thread's live stream over as many connections as it takes. Everything that a case waits for is an event or
 * live text: nothing here polls, and a wait that comes to nothing says what was seen instead.
 */
import type { DomainEventType } from "@tributary/contracts";
import type { LiveText } from "@tributary/contracts/api";
import type { Client } from "./client.ts";
import { decodeLiveText, decodePublicEvent, seenEvent, type SeenEvent, type SeenEventOf } from "./events.ts";
import { Fold } from "./fold.ts";
import type { SseStream } from "./sse.ts";

/** How long a wait may take, milliseconds; a loaded machine gets more by `TRIBUTARY_PATIENCE`. */
export const patience = Number(process.env["TRIBUTARY_PATIENCE"] ?? 25_000);

export class Feed {
  readonly threadId: string;
  readonly events: Array<SeenEvent> = [];
  readonly lives: Array<LiveText> = [];
  readonly fold = new Fold();
  #cursor: string | undefined;
  #stream: SseStream | undefined;
  #failure: Error | undefined;
  readonly #waiting = new Set<() => void>();
  #reading: Promise<void> = Promise.resolve();

  constructor(threadId: string) {
    this.threadId = threadId;
  }

  /** Connects, again where it stopped. */
  async connect(client: Client): Promise<void> {
    const stream = await client.live(this.threadId, this.#cursor);
    this.#stream = stream;
    this.#reading = this.#read(stream);
  }

  /** Cuts the connection; resolves when nothing more is read. */
  async cut(): Promise<void> {
    this.#stream?.close();
    await this.#reading;
  }

  /** Resolves when the server has ended the stream. */
  get over(): Promise<void> {
    return this.#reading;
  }

  async #read(stream: SseStream): Promise<void> {
    try {
      for await (const { id, event, data } of stream.frames) {
        const value: unknown = JSON.parse(data);
        if (event === "reset") throw new Error(`the stream was reset: ${data}`);
        if (event === "live") this.lives.push(decodeLiveText(value));
        if (event === "event") this.#take(id, value);
        this.#tell();
      }
    } catch (error) {
      this.#failure ??= error as Error;
      this.#tell();
    }
  }

  #take(id: string | undefined, value: unknown): void {
    const event = decodePublicEvent(value);
    if (event.streamId !== this.threadId) throw new Error(`an event of ${event.streamId}`);
    if (id !== event.cursor) throw new Error(`the frame has the id ${id}, its event the cursor ${event.cursor}`);
    const seen = seenEvent(event);
    this.fold.apply(seen);
    this.events.push(seen);
    this.#cursor = id;
  }

  #tell(): void {
    for (const look of this.#waiting) look();
  }

  /** Resolves with the first value that `look` gives; looked at whenever something arrives. */
  until<A>(what: string, look: () => A | undefined): Promise<A> {
    return new Promise<A>((resolve, reject) => {
      const done = (settle: () => void): void => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        settle();
      };
      const check = (): void => {
        const found = look();
        if (found !== undefined) done(() => resolve(found));
        else if (this.#failure !== undefined) done(() => reject(this.#failure as Error));
      };
      const timer = setTimeout(
        () => done(() => reject(new Error(`${what} did not come in ${patience} ms. Seen last:\n${this.tail()}`))),
        patience,
      );
      this.#waiting.add(check);
      check();
    });
  }

  /** The first event of a type at or after `from` that fits, past or coming. */
  next<T extends DomainEventType>(
    type: T,
    fits: (payload: SeenEventOf<T>["payload"]) => boolean = () => true,
    from = 0,
  ): Promise<SeenEventOf<T>> {
    return this.until(type, () => this.all(type, from).find(({ payload }) => fits(payload)));
  }

  all<T extends DomainEventType>(type: T, from = 0): ReadonlyArray<SeenEventOf<T>> {
    // The compiler can't narrow a union by a generic member.
    return this.events.slice(from).filter((event) => event.type === type) as unknown as ReadonlyArray<SeenEventOf<T>>;
  }

  /** What a person sees of a turn now: the log, and the live text behind it. */
  shown(turnId: string): string {
    const rows = new Map<string, string>();
    for (const [id, text] of this.fold.texts)
      if (text.kind === "message" && !text.retracted && text.start.turnId === turnId && isRoot(text.start.agentPath))
        rows.set(id, text.text);
    for (const { rowId, turnId: of, stream, agentPath, offset, text } of this.lives) {
      if (of !== turnId || stream !== "assistant_text" || !isRoot(agentPath)) continue;
      const known = rows.get(rowId) ?? "";
      if (this.fold.texts.get(rowId)?.open === false || offset > known.length) continue;
      if (offset + text.length > known.length) rows.set(rowId, known.slice(0, offset) + text);
    }
    return [...rows.values()].join("");
  }

  tail(): string {
    return this.events
      .slice(-14)
      .map(({ sequence, type, payload }) => `  ${sequence} ${type} ${JSON.stringify(payload).slice(0, 300)}`)
      .join("\n");
  }
}

const isRoot = (agentPath: ReadonlyArray<string>): boolean => agentPath.length === 0;
