/**
 * JSON-RPC with a runtime over lines: both sides ask, both sides answer.
 *
 * - Ids belong to whoever asked. Ours are numbers from 1; the runtime's may be any number or string, 0 and ones that
 *   equal ours included: the two are never looked up in the same table.
 * - One fiber reads, in order, and runs the hooks in place: a hook that takes its time makes the runtime wait, which is
 *   how pressure reaches the pipe. A hook must therefore not wait for an answer of the same connection: fork that.
 * - What can't be placed (noise, a reply that nobody waits for) is handed over and never ends the connection.
 */
import { Deferred, Duration, Effect, type Scope, Semaphore, Stream } from "effect";

import {
  type RpcAlreadyReplied,
  rpcAlreadyReplied,
  type RpcClosed,
  rpcClosed,
  RpcError,
  type RpcTimeout,
  rpcTimeout,
} from "./json-rpc-error.ts";
import { frameWriter, parseFrame, readFrame, type RpcErrorBody, type RpcFrame, type RpcId } from "./json-rpc-frame.ts";
import { isOversize, type Line } from "./lines.ts";
import type { StdinClosed } from "./stdin.ts";

/** What a connection runs on; an `AgentHandle` is one. */
export interface LineTransport {
  readonly lines: Stream.Stream<Line>;
  readonly write: (line: string) => Effect.Effect<void, StdinClosed>;
}

/** A request of the runtime. It waits until it is answered, by `reply` or `fail`, once. */
export interface IncomingRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: unknown;
  /** Succeeds once the reply is written. `RpcClosed` says whether the runtime may have read it. */
  readonly reply: (result: unknown) => Effect.Effect<void, RpcAlreadyReplied | RpcClosed>;
  readonly fail: (error: RpcErrorBody) => Effect.Effect<void, RpcAlreadyReplied | RpcClosed>;
}

/** A reply that nobody waits for. */
export interface OrphanReply {
  /** `late`: after its deadline; `cancelled`: after its request was interrupted; `unknown`: we have no such request. */
  readonly why: "late" | "cancelled" | "unknown";
  /** The method that was asked, where it is still known. */
  readonly method?: string;
  readonly frame: RpcFrame;
}

/** A request of ours that was given up after it was sent. */
export interface GivenUpCall {
  readonly id: RpcId;
  readonly method: string;
  readonly why: "deadline" | "interrupted";
}

export interface JsonRpcOptions<R = never> {
  readonly transport: LineTransport;
  /** Whether frames carry `"jsonrpc": "2.0"`; default `2.0`. Incoming frames are read either way. */
  readonly dialect?: "2.0" | "bare";
  /** Takes note of a request; the answer may come later, from anywhere. Default: answered as an unknown method. */
  readonly onRequest?: (request: IncomingRequest) => Effect.Effect<void, never, R>;
  readonly onNotification?: (method: string, params: unknown, frame: RpcFrame) => Effect.Effect<void, never, R>;
  /** A line that is no JSON object, or an object that is no frame, or one that was too long. */
  readonly onNoise?: (line: Line) => Effect.Effect<void, never, R>;
  readonly onOrphan?: (reply: OrphanReply) => Effect.Effect<void, never, R>;
  /** Names the notification that tells the runtime to stop working on it, where the protocol has one. */
  readonly onCancel?: (call: GivenUpCall) => { readonly method: string; readonly params: unknown } | undefined;
  /**
   * Sees every frame of both directions, in their order on the wire: `in` before it is acted on, `out` right before it is
   * written (if that fails, the sender learns so). Synchronous; it must not throw.
   */
  readonly tap?: (direction: "in" | "out", frame: RpcFrame) => void;
}

export interface JsonRpc {
  /** Asks and waits for the answer. Interrupting it gives the request up. Without a deadline it waits for the end of the connection. */
  readonly request: (
    method: string,
    params?: unknown,
    options?: { readonly deadline?: Duration.Input },
  ) => Effect.Effect<unknown, RpcError | RpcTimeout | RpcClosed>;
  /** Succeeds once it is written. */
  readonly notify: (method: string, params?: unknown) => Effect.Effect<void, RpcClosed>;
  /** Resolves when the runtime's output has ended and every open request has failed. */
  readonly closed: Effect.Effect<void>;
  /** How many replies found nobody waiting. */
  readonly orphans: Effect.Effect<number>;
}

interface OpenCall {
  readonly id: number;
  readonly method: string;
  readonly answer: Deferred.Deferred<unknown, RpcError | RpcClosed>;
  isSent: boolean;
}

/** How many given-up requests are remembered, to name the method of a late reply. */
const REMEMBERED_CALLS = 1000;

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

/** Starts reading the transport. Ends with the scope, which fails what is still open. */
export const makeJsonRpc = Effect.fnUntraced(function* <R = never>(
  options: JsonRpcOptions<R>,
): Effect.fn.Return<JsonRpc, never, R | Scope.Scope> {
  const { transport, tap } = options;
  const write = frameWriter(options.dialect ?? "2.0");
  const scope = yield* Effect.scope;
  const turn = Semaphore.makeUnsafe(1);
  const open = new Map<number, OpenCall>();
  const givenUp = new Map<number, GivenUpCall>();
  const closed = Deferred.makeUnsafe<void>();
  let nextId = 1;
  let orphans = 0;

  /** One writer at a time, so that the tap's order is the wire's. */
  const send = (method: string, frame: RpcFrame, onSend?: () => void): Effect.Effect<void, RpcClosed> =>
    turn.withPermit(
      Effect.suspend(() => {
        if (Deferred.isDoneUnsafe(closed)) return Effect.fail(rpcClosed(method, "nothing"));
        const line = JSON.stringify(frame);
        onSend?.();
        tap?.("out", frame);
        return Effect.mapError(transport.write(line), (error) => rpcClosed(method, error.wrote));
      }),
    );

  const notify: JsonRpc["notify"] = (method, params) => send(method, write.notification(method, params));

  const giveUp = (call: OpenCall, why: GivenUpCall["why"]): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (!open.delete(call.id) || !call.isSent) return Effect.void;
      const given: GivenUpCall = { id: call.id, method: call.method, why };
      givenUp.set(call.id, given);
      for (const id of givenUp.keys()) {
        if (givenUp.size <= REMEMBERED_CALLS) break;
        givenUp.delete(id);
      }
      const notification = options.onCancel?.(given);
      if (notification === undefined) return Effect.void;
      // Not waited for: who gave up is gone, and a runtime that does not read must not hold them.
      return notify(notification.method, notification.params).pipe(Effect.ignore, Effect.forkIn(scope), Effect.asVoid);
    });

  const request: JsonRpc["request"] = (method, params, requestOptions) =>
    Effect.suspend(() => {
      const call: OpenCall = { id: nextId, method, answer: Deferred.makeUnsafe(), isSent: false };
      nextId += 1;
      open.set(call.id, call);
      const sending = send(method, write.request(call.id, method, params), () => {
        call.isSent = true;
      });
      // The end of the connection must reach a caller whose write is stuck, hence a race and not a sequence.
      const exchange = Effect.raceFirst(Deferred.await(call.answer), Effect.andThen(sending, Effect.never));
      const deadline = requestOptions?.deadline;
      const bounded =
        deadline === undefined
          ? exchange
          : Effect.timeoutOrElse(exchange, {
              duration: deadline,
              orElse: () =>
                Effect.andThen(
                  giveUp(call, "deadline"),
                  Effect.fail(rpcTimeout(method, Duration.toMillis(Duration.fromInputUnsafe(deadline)))),
                ),
            });
      return bounded.pipe(
        Effect.onInterrupt(() => giveUp(call, "interrupted")),
        Effect.ensuring(Effect.sync(() => open.delete(call.id))),
      );
    });

  const incoming = (
    id: RpcId,
    method: string,
    params: unknown,
  ): IncomingRequest & { readonly isOpen: () => boolean } => {
    let isOpen = true;
    const once = (frame: () => RpcFrame): Effect.Effect<void, RpcAlreadyReplied | RpcClosed> =>
      Effect.suspend((): Effect.Effect<void, RpcAlreadyReplied | RpcClosed> => {
        if (!isOpen) return Effect.fail(rpcAlreadyReplied(method));
        isOpen = false;
        return send(method, frame());
      });
    return {
      id,
      method,
      params,
      isOpen: () => isOpen,
      reply: (result) => once(() => write.result(id, result)),
      fail: (error) => once(() => write.error(id, error)),
    };
  };

  const onRequest = (asked: ReturnType<typeof incoming>): Effect.Effect<void, never, R> => {
    const refuse = (code: number, message: string): Effect.Effect<void> => Effect.ignore(asked.fail({ code, message }));
    if (options.onRequest === undefined) return refuse(METHOD_NOT_FOUND, `unknown method ${asked.method}`);
    return Effect.catchDefect(options.onRequest(asked), (defect) =>
      // The runtime waits for an answer: a fault of ours must not hang it.
      Effect.andThen(
        Effect.logError(`the handler of ${asked.method} failed`, defect),
        asked.isOpen() ? refuse(INTERNAL_ERROR, `${asked.method} failed`) : Effect.void,
      ),
    );
  };

  const onReply = (
    id: RpcId | null,
    frame: RpcFrame,
    settle: (call: OpenCall) => void,
  ): Effect.Effect<void, never, R> | undefined => {
    const call = typeof id === "number" ? open.get(id) : undefined;
    if (call !== undefined) {
      open.delete(call.id);
      settle(call);
      return undefined;
    }
    orphans += 1;
    const given = typeof id === "number" ? givenUp.get(id) : undefined;
    if (given === undefined) return options.onOrphan?.({ why: "unknown", frame });
    givenUp.delete(Number(given.id));
    return options.onOrphan?.({ why: given.why === "deadline" ? "late" : "cancelled", method: given.method, frame });
  };

  /** Acts on one line; an effect where there is something to wait for. */
  const onLine = (line: Line): Effect.Effect<void, never, R> | undefined => {
    const frame = isOversize(line) ? undefined : parseFrame(line);
    const message = frame === undefined ? undefined : readFrame(frame);
    if (frame === undefined || message === undefined) return options.onNoise?.(line);
    tap?.("in", frame);
    switch (message.kind) {
      case "request":
        return onRequest(incoming(message.id, message.method, message.params));
      case "notification":
        return options.onNotification?.(message.method, message.params, frame);
      case "result":
        return onReply(message.id, frame, (call) => Deferred.doneUnsafe(call.answer, Effect.succeed(message.result)));
      case "error":
        return onReply(message.id, frame, (call) =>
          Deferred.doneUnsafe(call.answer, Effect.fail(new RpcError(message.error))),
        );
    }
  };

  const close = Effect.sync(() => {
    Deferred.doneUnsafe(closed, Effect.void);
    for (const call of open.values()) {
      Deferred.doneUnsafe(call.answer, Effect.fail(rpcClosed(call.method, call.isSent ? "unknown" : "nothing")));
    }
    open.clear();
  });

  yield* Stream.runForEachArray(
    transport.lines,
    Effect.fnUntraced(function* (lines) {
      for (const line of lines) {
        const effect = onLine(line);
        if (effect !== undefined)
          yield* Effect.catchDefect(effect, (defect) => Effect.logError("a hook failed", defect));
      }
    }),
  ).pipe(Effect.ensuring(close), Effect.forkScoped);

  return { request, notify, closed: Deferred.await(closed), orphans: Effect.sync(() => orphans) };
});
