/**
 * The API as RPC (`docs/wire.md`), over whatever carries its messages: a WebSocket or a MessagePort. One link serves all
 * calls; it is opened with the first one, and again with the first one after it broke.
 *
 *   Request ──►            ◄── Chunk ⇄ Ack (streams: the next one comes when the last one was taken)
 *   Interrupt ──►          ◄── Exit
 */
import { problem, silent, TributaryError, unreachable } from "./errors.ts";
import type { Frame } from "./reducer/index.ts";
import { aborted, orAborted } from "./retry.ts";
import type { Call, Transport } from "./transport.ts";

/** One open link. */
export interface Link {
  readonly send: (message: object) => void;
  readonly close: () => void;
}

export interface Listener {
  readonly message: (message: unknown) => void;
  /** It is over, for this reason. */
  readonly closed: (error: TributaryError) => void;
}

export type OpenLink = (listener: Listener) => Promise<Link>;

export interface RpcOptions {
  /** Named in errors. */
  readonly where: string;
  /** For what only goes over HTTP: bodies that are bytes, pairing. Absent: such calls fail. */
  readonly http?: Transport;
  /** Milliseconds without a message, while one is waited for, after which the link counts as dead. */
  readonly silenceMs?: number;
}

type Exit =
  | { readonly _tag: "Success"; readonly value?: unknown }
  | { readonly _tag: "Failure"; readonly cause: ReadonlyArray<{ readonly _tag: string; readonly error?: unknown }> };

type Message =
  | { readonly _tag: "Chunk"; readonly requestId: string; readonly values: ReadonlyArray<unknown> }
  | { readonly _tag: "Exit"; readonly requestId: string; readonly exit: Exit }
  | { readonly _tag: "Defect"; readonly defect: unknown }
  | { readonly _tag: "Pong" };

/** What waits for messages of one request. */
interface Waiting {
  readonly chunk: (values: ReadonlyArray<unknown>) => void;
  readonly done: (value: unknown) => void;
  readonly failed: (error: unknown) => void;
}

/** What is not said is not there: a port would carry `undefined`. */
const present = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const statusOf = (error: unknown): number =>
  typeof error === "object" && error !== null && "status" in error && typeof error.status === "number"
    ? error.status
    : 500;

/** How a request failed. One that was interrupted by the other side may be asked again. */
const failureOf = (exit: Extract<Exit, { readonly _tag: "Failure" }>, where: string): TributaryError => {
  const fail = exit.cause.find(({ _tag }) => _tag === "Fail");
  if (fail !== undefined) return problem(statusOf(fail.error), fail.error);
  return unreachable(where, exit.cause);
};

/** The requests of one link. */
class Peer {
  readonly link: Link;
  readonly #waiting = new Map<string, Waiting>();
  readonly #where: string;
  readonly #silenceMs: number;
  #heard = Date.now();
  #timer: ReturnType<typeof setInterval> | undefined;
  #newest = 0;
  isOver = false;

  constructor(link: Link, where: string, silenceMs: number) {
    this.link = link;
    this.#where = where;
    this.#silenceMs = silenceMs;
  }

  /** Throws, having changed nothing, for what is no message. Tags that are not known are passed over (I18). */
  take(message: Message): void {
    this.#heard = Date.now();
    if (message._tag === "Defect")
      return this.close(
        new TributaryError({ code: "internal", detail: String(message.defect), userAction: "retry", status: 500 }),
      );
    if (message._tag === "Pong") return undefined;
    const waiting = this.#waiting.get(message.requestId);
    if (waiting === undefined) return undefined;
    if (message._tag === "Chunk") {
      if (!Array.isArray(message.values)) throw new TypeError("A chunk without values.");
      return waiting.chunk(message.values);
    }
    if (message._tag !== "Exit") return undefined;
    const { exit } = message;
    const failure = exit._tag === "Success" ? undefined : failureOf(exit, this.#where);
    this.#forget(message.requestId);
    return failure === undefined ? waiting.done("value" in exit ? exit.value : undefined) : waiting.failed(failure);
  }

  /** Everything that waits fails. */
  close(error: TributaryError): void {
    this.isOver = true;
    const waiting = [...this.#waiting];
    for (const [id] of waiting) this.#forget(id);
    for (const [, { failed }] of waiting) failed(error);
    this.link.close();
  }

  /** Returns how to acknowledge a chunk and how to give up. */
  ask({ name, params, query, payload, commandId }: Call, waiting: Waiting) {
    this.#newest += 1;
    const id = String(this.#newest);
    this.#waiting.set(id, waiting);
    if (this.#timer === undefined) {
      this.#heard = Date.now();
      this.#timer = setInterval(() => this.#watch(), this.#silenceMs / 5);
    }
    const given = present({ params: params && present(params), query: query && present(query), payload, commandId });
    this.link.send({ _tag: "Request", id, tag: name, payload: given, headers: [] });
    return {
      ack: () => {
        if (this.#waiting.has(id)) this.link.send({ _tag: "Ack", requestId: id });
      },
      interrupt: () => {
        if (!this.#waiting.has(id)) return;
        this.#forget(id);
        this.link.send({ _tag: "Interrupt", requestId: id });
      },
    };
  }

  #forget(id: string): void {
    this.#waiting.delete(id);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Asks for a sign of life before it is too late for one. */
  #watch(): void {
    const quiet = Date.now() - this.#heard;
    if (quiet >= this.#silenceMs) this.close(silent(this.#where, this.#silenceMs));
    else if (quiet >= this.#silenceMs / 2) this.link.send({ _tag: "Ping" });
  }
}

export const rpcTransport = (openLink: OpenLink, options: RpcOptions): Transport => {
  const { where, http, silenceMs = 25_000 } = options;
  let current: Promise<Peer> | undefined;

  const open = async (): Promise<Peer> => {
    const opened: { peer?: Peer; early?: TributaryError } = {};
    const link = await openLink({
      message: (message) => {
        try {
          for (const one of Array.isArray(message) ? message : [message]) opened.peer?.take(one as Message);
        } catch (error) {
          // Whoever waits must hear of it: what was said to them is lost.
          opened.peer?.close(unreachable(where, error));
        }
      },
      closed: (error) => {
        opened.early = error;
        opened.peer?.close(error);
      },
    });
    if (opened.early !== undefined) throw opened.early;
    opened.peer = new Peer(link, where, silenceMs);
    return opened.peer;
  };

  const connected = async (): Promise<Peer> => {
    for (;;) {
      const opening = (current ??= open());
      try {
        const peer = await opening;
        if (!peer.isOver) return peer;
      } catch (error) {
        if (current === opening) current = undefined;
        throw error;
      }
      // It broke: the first who finds out opens another one.
      if (current === opening) current = undefined;
    }
  };

  const call = async (one: Call): Promise<unknown> => {
    if (one.route.http === true && http !== undefined) return http.call(one);
    const { signal } = one;
    const peer = await orAborted(connected(), signal);
    return await new Promise((resolve, reject) => {
      const items: Array<unknown> = [];
      let isStream = false;
      const asked = peer.ask(one, {
        // An answer that is one body over HTTP may come in pieces here.
        chunk: (values) => {
          isStream = true;
          items.push(...values);
          asked.ack();
        },
        done: (value) => {
          signal?.removeEventListener("abort", giveUp);
          resolve(isStream ? items : value);
        },
        failed: (error) => {
          signal?.removeEventListener("abort", giveUp);
          reject(error as Error);
        },
      });
      const giveUp = () => {
        asked.interrupt();
        reject(aborted(signal as AbortSignal) as Error);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  };

  async function* stream(one: Call): AsyncGenerator<ReadonlyArray<Frame>, void> {
    const { signal } = one;
    const peer = await orAborted(connected(), signal);
    const chunks: Array<ReadonlyArray<Frame>> = [];
    let end: { readonly error?: unknown } | undefined;
    let wake = (): void => undefined;
    const finish = (how: { readonly error?: unknown }) => {
      end ??= how;
      wake();
    };
    const asked = peer.ask(one, {
      chunk: (values) => {
        chunks.push(values as ReadonlyArray<Frame>);
        wake();
      },
      done: () => finish({}),
      failed: (error) => finish({ error }),
    });
    const giveUp = () => finish({ error: aborted(signal as AbortSignal) });
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      for (;;) {
        const chunk = chunks.shift();
        if (chunk !== undefined) {
          yield chunk;
          // Only now that it was taken may the next one be made.
          asked.ack();
        } else if (end !== undefined) {
          if ("error" in end) throw end.error;
          return;
        } else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      signal?.removeEventListener("abort", giveUp);
      asked.interrupt();
    }
  }

  const close = (): void => {
    const opened = current;
    current = undefined;
    const error = new TributaryError({ code: "closed", detail: "The client was closed.", userAction: "none" });
    opened?.then(
      (peer) => peer.close(error),
      () => undefined,
    );
  };

  return { call, stream, close };
};
