/** The client: every endpoint as a method, and threads that are followed. */
import type { AttachmentView } from "@tributary/contracts/api";
import { makeCalls } from "./calls.ts";
import { FollowedThread, type FollowOptions } from "./follow.ts";
import { httpTransport, type HttpOptions } from "./http.ts";
import { makeRetry, type RetryOptions } from "./retry.ts";
import { FollowedShells, type FollowShellsOptions } from "./shells.ts";
import type { Transport } from "./transport.ts";
import type { Calls } from "./types.ts";

export interface ClientOptions extends Partial<HttpOptions> {
  /** Another way to the server than HTTP at `url`. */
  readonly transport?: Transport;
  /** How calls are repeated and streams connected again. */
  readonly retry?: RetryOptions;
}

export interface Client extends Calls {
  /** One thread: iterate it for its views. Nothing is asked before somebody does. */
  readonly follow: (threadId: string, options?: FollowOptions) => FollowedThread;
  /** All threads as a list shows them, and the named ones whole. */
  readonly followShells: (options?: FollowShellsOptions) => FollowedShells;
  /** Stores a file, to be named by inputs: `attachments: [{ id: attachmentId }]`. Its type is the blob's own. */
  readonly upload: (file: Blob, name?: string) => Promise<AttachmentView>;
  /** Gives up kept connections. */
  readonly close: () => void;
}

/**
 * A client of one server. Calls throw `TributaryError`; mutating ones carry an `Idempotency-Key` and are repeated under it
 * when no answer came, so that they act once (I2).
 */
export const createClient = (options: ClientOptions): Client => {
  const { transport = httpTransport({ url: "", ...options }), retry: retryOptions } = options;
  const retry = makeRetry(retryOptions);
  const calls = makeCalls(transport, retry);
  return {
    ...calls,
    follow: (threadId, follow) => new FollowedThread(threadId, calls, transport, retry, follow),
    followShells: (shells) => new FollowedShells(calls, transport, retry, shells),
    upload: (file, name = file instanceof File ? file.name : undefined) =>
      calls.attachments.upload({
        headers: {
          "content-type": file.type,
          ...(name === undefined ? {} : { "x-filename": encodeURIComponent(name) }),
        },
        payload: file,
      }),
    close: transport.close,
  };
};
