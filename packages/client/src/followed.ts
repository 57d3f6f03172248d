/** What is followed: views that somebody reads, and a stream that runs while somebody does. */
import { Changing } from "./changes.ts";
import { followFor, type Connection, type Following } from "./connection.ts";
import type { Retry } from "./retry.ts";

export abstract class Followed<View> implements AsyncIterable<View> {
  readonly #retry: Retry;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.close();
  protected readonly views = new Changing<View>({ first: () => this.#start(), last: () => this.#stop() });
  #connection: Connection = { state: "connecting" };
  #running: AbortController | undefined;

  constructor(retry: Retry, signal: AbortSignal | undefined) {
    this.#retry = retry;
    this.#signal = signal;
  }

  /** Where it starts from, its stream, and what its frames do. */
  protected abstract readonly following: Omit<Following, "connection">;
  /** Gives the view once more, where there is one: the connection changed. */
  protected abstract show(): void;

  /** The newest view; undefined before the snapshot. */
  get view(): View | undefined {
    return this.views.value;
  }

  get connection(): Connection {
    return this.#connection;
  }

  [Symbol.asyncIterator](): AsyncIterator<View, void> {
    return this.views.read();
  }

  /** Ends the following for good. */
  close(): void {
    this.#stop();
    this.views.end();
  }

  #stop(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#running?.abort();
    this.#running = undefined;
    this.#connection = { state: "closed" };
  }

  #start(): void {
    if (this.#signal?.aborted === true) return this.close();
    // Only while somebody reads: a signal may live as long as the app does.
    this.#signal?.addEventListener("abort", this.#onAbort);
    const running = new AbortController();
    this.#running = running;
    const connection = (now: Connection): void => {
      this.#connection = now;
      this.show();
    };
    const following = followFor({ ...this.following, connection }, this.#retry, running.signal);
    following.catch((error: unknown) => this.views.fail(error));
  }
}
