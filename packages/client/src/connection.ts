/** A live stream that survives: connects, reads, and connects again after the newest cursor, for as long as it is wanted. */
import { isTransient, TributaryError } from "./errors.ts";
import type { Frame } from "./reducer/index.ts";
import { pause, type Retry } from "./retry.ts";

/** What a person may be shown of the connection. */
export type Connection =
  | { readonly state: "connecting" }
  /** Everything up to now is shown. */
  | { readonly state: "live" }
  /** Trying again at `retryAt` (milliseconds since the epoch). What is shown may be old. */
  | { readonly state: "waiting"; readonly retryAt: number; readonly error: TributaryError }
  | { readonly state: "closed" };

export interface Following {
  /** Reads what the stream starts from; called at the beginning and, `again`, whenever a cursor can't be served any more. */
  readonly open: (signal: AbortSignal, again: boolean) => Promise<void>;
  /** The stream after the newest cursor. */
  readonly stream: (signal: AbortSignal) => AsyncIterable<ReadonlyArray<Frame>>;
  readonly frames: (frames: ReadonlyArray<Frame>) => void;
  readonly connection: (connection: Connection) => void;
}

/** The cursor is of a log that is no more, or damaged: only a new snapshot helps. */
const needsSnapshot = (error: unknown): boolean => error instanceof TributaryError && error.code === "cursor_invalid";

/** A server that fails, or is away, may be in order again after a while; so may what stands in front of it. */
const mayPass = (error: unknown): boolean =>
  isTransient(error) ||
  (error instanceof TributaryError && ((error.status ?? 0) >= 500 || error.code.startsWith("http_")));

/** Milliseconds after which a misreading is no sign of the next one. */
const forgivenMs = 600_000;

/** What was said does not fit together, by a newer server perhaps. */
const unreadable = (cause: unknown): TributaryError =>
  new TributaryError(
    { code: "unreadable", detail: `What the server says can't be read (${String(cause)}).`, userAction: "none" },
    { cause },
  );

/** Goes on until the signal aborts (then it returns) or something fails that waiting does not help (then it throws). */
export const followFor = async (following: Following, retry: Retry, signal: AbortSignal): Promise<void> => {
  let isOpen = false;
  let again = false;
  /** Tries since the stream last was in order. */
  let tries = 0;
  let misreadings = { count: 0, last: 0 };
  following.connection({ state: "connecting" });
  while (!signal.aborted) {
    let error = new TributaryError({ code: "ended", detail: "The server ended the stream.", userAction: "wait" });
    try {
      if (!isOpen) await following.open(signal, again);
      isOpen = true;
      again = true;
      for await (const frames of following.stream(signal)) {
        if (frames.some(({ event }) => event === "reset")) {
          isOpen = false;
          break;
        }
        following.frames(frames);
        if (frames.some(({ event }) => event === "synced")) {
          tries = 0;
          following.connection({ state: "live" });
        }
      }
      // A snapshot at once, unless that is what was just tried.
      if (!isOpen && tries === 0) {
        tries += 1;
        continue;
      }
    } catch (caught) {
      if (signal.aborted) return;
      error = caught instanceof TributaryError ? caught : unreadable(caught);
      if (error !== caught) {
        // Once a new snapshot may help; what is never read is no matter of waiting.
        const now = Date.now();
        misreadings = { count: now - misreadings.last > forgivenMs ? 1 : misreadings.count + 1, last: now };
        if (misreadings.count > retry.attempts) throw error;
        tries = Math.max(tries, misreadings.count);
      }
      if (needsSnapshot(caught) || error !== caught) isOpen = false;
      else if (!mayPass(caught)) throw caught;
    }
    // A server that stops ends its streams: its successor is seconds away at most.
    const wait = retry.delay(tries);
    tries += 1;
    following.connection({ state: "waiting", retryAt: Date.now() + wait, error });
    try {
      await pause(wait, signal);
    } catch {
      return;
    }
  }
};
