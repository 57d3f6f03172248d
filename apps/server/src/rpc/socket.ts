/** `/rpc`: a session over a WebSocket. How it is opened is in `wire.ts`. */
import type { Socket as NetSocket } from "node:net";
import type { Caller } from "@tributary/contracts/api";
import { closeCodes } from "@tributary/contracts/rpc";
import { Deferred, Effect, Latch } from "effect";
import { Socket } from "effect/socket";
import { Closing } from "../http/Closing.ts";
import { limits } from "../http/limits.ts";
import { rateOf } from "./rate.ts";
import { openSession } from "./session.ts";
import type { Link, Session } from "./session.ts";

/** Bytes that may wait in a socket before more is made for it. */
const highWater = 1024 * 1024;

/** Messages in one frame. */
const mostTogether = 100;

/** How long a peer has to answer that the socket closes. */
const farewell = "1 second";

/** Room in the socket's buffer: what waits there is bounded, however many calls end (I11). */
const roomOf = (net: NetSocket) => {
  const latch = Latch.makeUnsafe(true);
  let isOver = false;
  net.on("drain", () => latch.openUnsafe());
  net.on("close", () => latch.openUnsafe());
  const wait = Effect.suspend(() => {
    if (isOver || net.destroyed || net.writableLength < highWater) return Effect.void;
    latch.closeUnsafe();
    return latch.await;
  });
  return {
    /** Does nothing any more once it is over. */
    write: (write: () => Effect.Effect<void>): Effect.Effect<void> =>
      Effect.andThen(
        wait,
        Effect.suspend(() => (isOver ? Effect.void : write())),
      ),
    over: Effect.sync(() => {
      isOver = true;
      latch.openUnsafe();
    }),
  };
};

const parse = (text: string): { readonly message: unknown } | undefined => {
  try {
    return { message: JSON.parse(text) };
  } catch {
    return undefined;
  }
};

/** One frame: a message, or several in an array. */
const takeFrame = Effect.fnUntraced(function* (
  frame: string | Uint8Array,
  link: Link,
  session: Session,
  slowly: Effect.Effect<void>,
) {
  if (typeof frame !== "string") return yield* link.close(closeCodes.binary, "Messages are text.");
  const parsed = parse(frame);
  if (parsed === undefined) return yield* link.close(closeCodes.malformed, "Messages are JSON.");
  const messages: ReadonlyArray<unknown> = Array.isArray(parsed.message) ? parsed.message : [parsed.message];
  if (messages.length > mostTogether)
    return yield* link.close(closeCodes.malformed, `At most ${mostTogether} messages in a frame.`);
  for (const message of messages) {
    yield* slowly;
    yield* session.receive(message);
  }
});

/** Resolves when the connection is gone. */
const goneOf = (net: NetSocket): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const gone = () => resume(Effect.void);
    if (net.destroyed) return gone();
    net.once("close", gone);
    return Effect.sync(() => net.off("close", gone));
  });

/** Speaks with the peer until it, its token or the server ends; says why, where that is ours to say. */
const converse = Effect.fnUntraced(function* (socket: Socket.Socket, net: NetSocket, caller: Caller["Service"]) {
  const closing = yield* Closing;
  const writer = yield* socket.writer;
  const { pull } = yield* socket.reader;
  const room = roomOf(net);
  const broken = Deferred.makeUnsafe<Socket.CloseEvent>();
  const link: Link = {
    send: (message) => room.write(() => Effect.ignore(writer.write(JSON.stringify(message)))),
    // Nothing of what comes after is read.
    close: (code, reason) =>
      Effect.andThen(Deferred.succeed(broken, new Socket.CloseEvent(code, reason)), Effect.never),
  };
  const slowly = rateOf(limits.maxMessagesPerSecond).take;

  const calls = Effect.gen(function* () {
    const session = yield* openSession(link, caller);
    const read = Effect.gen(function* () {
      for (;;) for (const frame of yield* pull) yield* takeFrame(frame, link, session, slowly);
    }).pipe(Effect.orElseSucceed(() => undefined));
    const end = yield* Effect.raceAllFirst<Effect.Effect<Socket.CloseEvent | undefined>>([
      read,
      Deferred.await(broken),
      Effect.as(caller.revoked, new Socket.CloseEvent(closeCodes.revoked, "The token no longer holds.")),
      Effect.as(closing.begun, new Socket.CloseEvent(closeCodes.goingAway, "The server stops.")),
    ]);
    // Nothing more is said, and the peer hears so, before the calls are interrupted: one of them may take its time.
    yield* room.over;
    if (end !== undefined) yield* writer.write(end);
  });

  yield* Effect.scoped(calls);
}, Effect.scoped);

/** Carries a session; when it is over, the peer has a moment to answer, then the connection is gone. */
export const carry = Effect.fnUntraced(function* (socket: Socket.Socket, net: NetSocket, caller: Caller["Service"]) {
  // A peer that goes away while it is spoken to is no failure of ours.
  yield* Effect.ignore(converse(socket, net, caller));
  yield* Effect.timeoutOption(goneOf(net), farewell);
  yield* Effect.sync(() => net.destroy());
});
