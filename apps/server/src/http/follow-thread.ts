/** The live stream of one thread. */
import type { Caller, CursorProblem, Internal, Unavailable } from "@tributary/contracts/api";
import { ProviderRuntimeIngestion } from "@tributary/ingestion";
import { EventLog, Signals } from "@tributary/store";
import { Effect, Stream } from "effect";
import type { Closing } from "./Closing.ts";
import { readEventCursor } from "./cursor.ts";
import { endings } from "./ending.ts";
import { EventPages } from "./EventPages.ts";
import { encodeLive, loop, positionAt, resetFrames, waiter } from "./live-loop.ts";
import type { Frames } from "./live-loop.ts";
import { liveFrames } from "./live-text.ts";
import type { Sent } from "./live-text.ts";
import { storeProblem } from "./problems.ts";
import { reading } from "./reads.ts";

/** The events of a thread after a cursor (absent: from its beginning), then whatever comes. */
export const followThread = Effect.fnUntraced(function* (
  threadId: string,
  after: string | undefined,
): Effect.fn.Return<
  Frames,
  CursorProblem | Unavailable | Internal,
  EventLog | EventPages | ProviderRuntimeIngestion | Signals | Closing | Caller
> {
  const log = yield* EventLog;
  const pages = yield* EventPages;
  const texts = yield* ProviderRuntimeIngestion;
  const signals = yield* Signals;
  const ending = yield* endings;
  const head = yield* Effect.mapError(log.head, storeProblem);
  const from =
    after === undefined ? undefined : yield* reading(() => readEventCursor(after, { epoch: log.epoch, head }));
  if (from?.kind === "unservable") return resetFrames(from.reason);

  return Stream.unwrap(
    Effect.gen(function* () {
      // Before the first page: what changes meanwhile wakes us.
      const signal = yield* signals.subscribe([threadId, texts.liveKey(threadId)]);
      const position = yield* positionAt(from?.sequence ?? 0, ending);
      const sent = new Map<string, Sent>();
      const look = Effect.suspend(() =>
        Effect.map(pages.after(threadId, position.cursor), (page) => {
          position.cursor = page.next;
          return page.bytes.byteLength === 0 ? [] : [page.bytes];
        }),
      );
      return loop({
        position,
        look,
        caughtUp: Effect.sync(() => encodeLive(liveFrames(texts.live(threadId), sent))),
        epoch: log.epoch,
        wait: waiter(signal, ending),
      });
    }),
  );
});
