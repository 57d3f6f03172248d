/** A way to a scripted runtime: what its adapter needs, whether the runtime runs in this process or in a child. */
import { RuntimeCallError } from "@tributary/contracts";
import type { RuntimeRecord } from "@tributary/contracts";
import { Deferred, Effect } from "effect";
import type { CallArguments, FromRuntime, Method, RuntimeExit, ToRuntime } from "./protocol.ts";
import { callRecord } from "./translate.ts";

/** How the runtime went, and who made it go. */
export interface LinkExit extends RuntimeExit {
  readonly stderrTail?: string;
}

export interface Link {
  /** Writes one message. Fails only with certainty that nothing arrived (`exited`) or without any (`unconfirmed`). */
  readonly write: (message: ToRuntime) => Effect.Effect<void, RuntimeCallError>;
  /** Resolves when the runtime is gone and all that it said was handed on. */
  readonly exit: Effect.Effect<LinkExit>;
  readonly signal: (signal: "terminate" | "kill") => Effect.Effect<void>;
}

/** Takes what came from the runtime; suspends while the reader above is full. */
export type Incoming = (frame: FromRuntime) => Effect.Effect<void>;

/** A call failed because the runtime is gone. */
export const exitedError = (method: string): RuntimeCallError =>
  new RuntimeCallError({
    reason: "exited",
    failure: {
      class: "transport",
      message: `The scripted runtime is gone; ${method} was not done. Send it again to open a new session.`,
      retryable: true,
    },
  });

const reasons = ["refused", "not_written", "unconfirmed", "unsupported", "exited"] as const;

/** Calls with replies over a link. */
export class Calls {
  readonly #link: Link;
  readonly #emit: (record: RuntimeRecord) => Effect.Effect<void>;
  readonly #pending = new Map<number, Deferred.Deferred<unknown, RuntimeCallError>>();
  #last = 0;

  constructor(link: Link, emit: (record: RuntimeRecord) => Effect.Effect<void>) {
    this.#link = link;
    this.#emit = emit;
  }

  /** Sends a call and waits for its reply, for ever if it does not come: the deadline is the caller's. */
  call<M extends Method>(
    method: M,
    params: CallArguments[M],
    secrets: ReadonlySet<string> = new Set(),
  ): Effect.Effect<unknown, RuntimeCallError> {
    return Effect.suspend(() => {
      this.#last += 1;
      const id = this.#last;
      // `method` and `params` belong together by M.
      const call = { id, method, params } as Extract<ToRuntime, { readonly id: number }>;
      const reply = Deferred.makeUnsafe<unknown, RuntimeCallError>();
      this.#pending.set(id, reply);
      // Stopping never waits for room in the reader's buffer: the record of an interrupt follows the call.
      const record = this.#emit(callRecord(call, secrets));
      const send = this.#link.write(call);
      const sent =
        method === "interrupt" ? Effect.andThen(send, Effect.forkDetach(record)) : Effect.andThen(record, send);
      return Effect.ensuring(
        Effect.andThen(sent, Deferred.await(reply)),
        Effect.sync(() => this.#pending.delete(id)),
      );
    });
  }

  /** Takes a reply; one without a waiting call (its deadline passed) is nothing. */
  settle(frame: Extract<FromRuntime, { readonly reply: number }>): void {
    const reply = this.#pending.get(frame.reply);
    if (reply === undefined) return;
    const { error } = frame;
    Deferred.doneUnsafe(
      reply,
      error === undefined
        ? Effect.succeed(frame.result)
        : Effect.fail(
            new RuntimeCallError({
              reason: reasons.find((reason) => reason === error.reason) ?? "refused",
              failure: { ...error.failure, code: error.failure.code ?? error.reason },
            }),
          ),
    );
  }

  /** The runtime is gone: whoever waits learns it. */
  readonly abandon: Effect.Effect<void> = Effect.sync(() => {
    for (const reply of this.#pending.values()) Deferred.doneUnsafe(reply, Effect.fail(exitedError("the call")));
  });
}
