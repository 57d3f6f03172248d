/** Waiting before something is tried again. */

export interface RetryOptions {
  /** Repeats of one call after its first try. Default 5. */
  readonly attempts?: number;
  /** Milliseconds before the first repeat. Default 200. */
  readonly baseMs?: number;
  /** Milliseconds at most. Default 10,000. */
  readonly maxMs?: number;
  /** 0 to 1; for tests. */
  readonly random?: () => number;
}

export interface Retry {
  readonly attempts: number;
  /** Milliseconds before the repeat of this number, from 0: doubled each time, and half of it by chance. */
  readonly delay: (repeat: number) => number;
}

export const makeRetry = (options: RetryOptions = {}): Retry => {
  const { attempts = 5, baseMs = 200, maxMs = 10_000, random = Math.random } = options;
  return { attempts, delay: (repeat) => Math.min(maxMs, baseMs * 2 ** repeat) * (0.5 + random() / 2) };
};

/** The reason of a signal as something to throw. */
export const aborted = (signal: AbortSignal): unknown =>
  signal.reason ?? new DOMException("This operation was aborted", "AbortError");

/** Settles as the promise does; fails at once when the signal aborts, whatever becomes of the promise. */
export const orAborted = <A>(promise: Promise<A>, signal: AbortSignal | undefined): Promise<A> => {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(aborted(signal) as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
    const stop = () => signal.removeEventListener("abort", onAbort);
    promise.then(resolve, reject).then(stop, stop);
  });
};

const onlineSource = globalThis as { addEventListener?: unknown } as Partial<EventTarget>;

/** Waits; less when a browser says that it is online again. Throws the signal's reason when it aborts. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(aborted(signal) as Error);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      onlineSource.removeEventListener?.("online", onDue);
    };
    const onDue = () => {
      stop();
      resolve();
    };
    const onAbort = () => {
      stop();
      reject(aborted(signal as AbortSignal) as Error);
    };
    const timer = setTimeout(onDue, ms);
    signal?.addEventListener("abort", onAbort);
    onlineSource.addEventListener?.("online", onDue);
  });
