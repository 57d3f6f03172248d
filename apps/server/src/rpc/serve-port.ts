/** The server's end of a MessagePort. */
import { Caller } from "@tributary/contracts/api";
import { Deferred, Effect, Queue } from "effect";
import { Closing } from "../http/Closing.ts";
import { listenTo } from "./ports.ts";
import type { Port } from "./ports.ts";
import { openSession } from "./session.ts";
import type { Link } from "./session.ts";

/** Serves whoever has the other end, as the caller, until either end closes or the server stops. */
export const servePort = Effect.fnUntraced(function* (port: Port) {
  const caller = yield* Caller;
  const closing = yield* Closing;
  const over = Deferred.makeUnsafe<void>();
  const arrived = yield* Queue.unbounded<unknown>();
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      listenTo(
        port,
        (message) => Queue.offerUnsafe(arrived, message),
        () => Deferred.doneUnsafe(over, Effect.void),
      ),
    ),
    (stop) =>
      Effect.sync(() => {
        stop();
        port.close();
      }),
  );
  const send = (message: unknown) => Effect.sync(() => port.postMessage(message));
  const link: Link = {
    send,
    // A port has no code to close with; the client's calls fail with the reason.
    close: (_code, reason) =>
      Effect.andThen(
        send({ _tag: "Defect", defect: reason }),
        Effect.andThen(Deferred.succeed(over, undefined), Effect.never),
      ),
  };
  const session = yield* openSession(link, caller);
  const take = Effect.flatMap(Queue.take(arrived), session.receive);
  yield* Effect.raceAllFirst([Effect.forever(take), Deferred.await(over), closing.begun, caller.revoked]);
}, Effect.scoped);
