/** The end of a connection whose token ended while it was being answered (I17). */
import { IncomingMessage } from "node:http";
import { Effect } from "effect";
import type { Scope } from "effect";
import { HttpServerRequest } from "effect/http";

/** Streams end by themselves before that; a client that does not read would keep its connection, and get the rest. */
const grace = "500 millis";

/** Cuts the connection of this request some moments after `revoked`, unless it has been answered by then. */
export const cutOffWhen = Effect.fnUntraced(function* (
  revoked: Effect.Effect<void>,
): Effect.fn.Return<void, never, HttpServerRequest.HttpServerRequest | Scope.Scope> {
  const { source } = yield* HttpServerRequest.HttpServerRequest;
  if (!(source instanceof IncomingMessage)) return;
  const { socket } = source;
  yield* Effect.forkScoped(
    Effect.andThen(
      Effect.andThen(revoked, Effect.sleep(grace)),
      Effect.sync(() => socket.destroy()),
    ),
  );
});
