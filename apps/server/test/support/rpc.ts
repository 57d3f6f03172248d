/** A client of the RPC protocol, written from its description in docs/wire.md: plain messages, and promises. */

// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

/** What carries messages: a WebSocket or a port. */
export interface Wire {
  readonly send: (message: unknown) => void;
  /** Called once, before anything is sent. */
  readonly listen: (onMessage: (message: Any) => void, onClose: (why: Closed) => void) => void;
  readonly close: () => void;
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

export interface Frame {
  readonly id?: string;
  readonly event: string;
  readonly data: Any;
}

export type Outcome = { readonly value: Any } | { readonly problem: Any } | { readonly interrupted: true };

export interface Following {
  /** The next frame; undefined when the stream ended. What ended it is in `ended`. */
  readonly next: () => Promise<Frame | undefined>;
  /** Frames up to and with the first that `until` accepts. */
  readonly take: (until: (frame: Frame) => boolean) => Promise<ReadonlyArray<Frame>>;
  readonly ended: Promise<Outcome>;
  /** Chunks that came; each is acknowledged when its last frame was taken. */
  readonly chunks: () => number;
  readonly stop: () => void;
}

export interface RpcClient {
  readonly call: (tag: string, payload?: unknown) => Promise<Outcome>;
  readonly follow: (tag: string, payload?: unknown) => Following;
  readonly ping: () => Promise<void>;
  /** A message as it is. */
  readonly send: (message: unknown) => void;
  /** The next message that belongs to no call. */
  readonly closed: Promise<Closed>;
  readonly close: () => void;
}

const outcomeOf = (exit: Any): Outcome => {
  if (exit._tag === "Success") return { value: exit.value };
  const [first] = exit.cause;
  if (first._tag === "Fail") return { problem: first.error };
  if (first._tag === "Interrupt") return { interrupted: true };
  throw new Error(`the server said ${JSON.stringify(exit)}`);
};

interface Open {
  readonly chunk: (values: ReadonlyArray<Frame>) => void;
  readonly exit: (outcome: Outcome) => void;
}

export const rpcClient = (wire: Wire): RpcClient => {
  const open = new Map<number | string, Open>();
  const pongs: Array<() => void> = [];
  let ids = 0;
  const closed = new Promise<Closed>((resolve) => {
    wire.listen(
      (message) => {
        if (message._tag === "Pong") return pongs.shift()?.();
        const call = open.get(message.requestId);
        if (message._tag === "Chunk") return call?.chunk(message.values);
        if (message._tag !== "Exit") throw new Error(`the server said ${JSON.stringify(message)}`);
        open.delete(message.requestId);
        call?.exit(outcomeOf(message.exit));
      },
      (why) => {
        for (const { exit } of open.values()) exit({ interrupted: true });
        open.clear();
        resolve(why);
      },
    );
  });

  const begin = (tag: string, payload: unknown, call: Open): number => {
    const id = (ids += 1);
    open.set(id, call);
    wire.send({ _tag: "Request", id, tag, payload, headers: [] });
    return id;
  };

  const follow = (tag: string, payload: unknown = {}): Following => {
    const waiting: Array<() => void> = [];
    const frames: Array<Frame | "acknowledge"> = [];
    let chunks = 0;
    let over = false;
    const { promise: ended, resolve: finish } = Promise.withResolvers<Outcome>();
    const wake = () => {
      for (const one of waiting.splice(0)) one();
    };
    const id = begin(tag, payload, {
      chunk: (values) => {
        chunks += 1;
        frames.push(...values, "acknowledge");
        wake();
      },
      exit: (outcome) => {
        over = true;
        finish(outcome);
        wake();
      },
    });
    const next = async (): Promise<Frame | undefined> => {
      for (;;) {
        const frame = frames.shift();
        if (frames[0] === "acknowledge") {
          frames.shift();
          wire.send({ _tag: "Ack", requestId: id });
        }
        if (frame !== undefined && frame !== "acknowledge") return frame;
        if (over) return undefined;
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.push(resolve);
        await promise;
      }
    };
    const take = async (until: (frame: Frame) => boolean): Promise<ReadonlyArray<Frame>> => {
      const taken: Array<Frame> = [];
      for (;;) {
        const frame = await next();
        if (frame === undefined) throw new Error(`the stream ended after ${JSON.stringify(taken.slice(-5))}`);
        taken.push(frame);
        if (until(frame)) return taken;
      }
    };
    return { next, take, ended, chunks: () => chunks, stop: () => wire.send({ _tag: "Interrupt", requestId: id }) };
  };

  return {
    call: (tag, payload = {}) => {
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      begin(tag, payload, { chunk: () => undefined, exit: resolve });
      return promise;
    },
    follow,
    ping: () =>
      new Promise((resolve) => {
        pongs.push(resolve);
        wire.send({ _tag: "Ping" });
      }),
    send: wire.send,
    closed,
    close: wire.close,
  };
};

/** The result of a call that has to succeed. */
export const valueOf = (outcome: Outcome): Any => {
  if ("value" in outcome) return outcome.value;
  throw new Error(`the call ended with ${JSON.stringify(outcome)}`);
};

/** Over the built-in WebSocket, once it is open; rejects where the upgrade is refused. */
export const socketWire = (socket: WebSocket): Promise<Wire> => {
  const { promise, resolve, reject } = Promise.withResolvers<Wire>();
  socket.addEventListener("error", () => reject(new Error("the upgrade was refused")));
  socket.addEventListener("open", () =>
    resolve({
      send: (message) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
      listen: (onMessage, onClose) => {
        socket.addEventListener("message", ({ data }) => onMessage(JSON.parse(data as string)));
        socket.addEventListener("close", ({ code, reason }) => onClose({ code, reason }));
      },
      close: () => socket.close(),
    }),
  );
  return promise;
};

export interface Ported {
  readonly postMessage: (message: unknown) => void;
  readonly close: () => void;
  readonly on: (event: "message" | "close", listener: (message: unknown) => void) => unknown;
}

/** Over a MessagePort of Node. */
export const portWire = (port: Ported): Wire => ({
  send: (message) => port.postMessage(message),
  listen: (onMessage, onClose) => {
    port.on("message", onMessage);
    port.on("close", () => onClose({ code: 1000, reason: "" }));
  },
  close: () => port.close(),
});

export const toSocketUrl = (url: string, ticket: string): string =>
  `${url.replace(/^http/, "ws")}/rpc?ticket=${encodeURIComponent(ticket)}`;
