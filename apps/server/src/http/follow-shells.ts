/** The live stream of all threads: their shells, and the events of some. */
import type { CursorProblem, Internal, Unavailable } from "@tributary/contracts/api";
import { Caller } from "@tributary/contracts/api";
import { ProviderRuntimeIngestion } from "@tributary/ingestion";
import { Views } from "@tributary/projections";
import { EventLog, ReadMarkers, Signals } from "@tributary/store";
import type { StoreError } from "@tributary/store";
import { Effect, Option, Stream } from "effect";
import type { Closing } from "./Closing.ts";
import { eventCursor, readEventCursor } from "./cursor.ts";
import { endings } from "./ending.ts";
import { limits } from "./limits.ts";
import { encodeLive, loop, positionAt, resetFrames, waiter } from "./live-loop.ts";
import type { Frames } from "./live-loop.ts";
import { liveFrames } from "./live-text.ts";
import type { Sent } from "./live-text.ts";
import { storeProblem } from "./problems.ts";
import { toPublic } from "./public-events.ts";
import { reading } from "./reads.ts";
import { encodeFrames, frameText } from "./sse.ts";

const shellPage = 100;

/** Shells that changed after a sequence, the most recently changed first; absent: all. A few older ones may be among them. */
const changedShells = (views: Views["Service"], after: number | undefined): Frames =>
  Stream.paginate<string | undefined, Uint8Array, StoreError>(
    undefined,
    Effect.fnUntraced(function* (before) {
      const page = yield* views
        .shells({ limit: shellPage, ...(before === undefined ? {} : { before }) })
        .pipe(Effect.catchTag("CursorInvalid", Effect.die));
      const frames = page.shells.map((shell) => frameText("shell", shell)).join("");
      const next = page.before;
      const more = next !== undefined && (after === undefined || Number(next.slice("e:".length)) > after);
      return [frames === "" ? [] : [encodeFrames(frames)], more ? Option.some(next) : Option.none()] as const;
    }),
  );

/** Shells of threads that the same person has read on elsewhere: reading is no event, so the log does not tell of it. */
const readElsewhere = Effect.fnUntraced(function* (
  markers: ReadMarkers["Service"],
  views: Views["Service"],
  actorId: string,
) {
  let revision = 0;
  const changes = Effect.gen(function* () {
    const changed: Array<string> = [];
    for (;;) {
      const page = yield* markers.page({ actorId, after: revision });
      const last = page.at(-1);
      if (last === undefined) return changed;
      revision = last.revision;
      changed.push(...page.map(({ threadId }) => threadId));
    }
  });
  // What was read before is in the shells that the stream begins with.
  yield* changes;
  return Effect.gen(function* () {
    const shells = yield* Effect.forEach(yield* changes, (threadId) => views.shell(threadId));
    const text = shells.map((shell) => (shell === undefined ? "" : frameText("shell", shell))).join("");
    return text === "" ? [] : [encodeFrames(text)];
  });
});

/** A thread that is deleted has no shell any more: of any thread, the event says so. */
const isGone = ({ type }: { readonly type: string }): boolean => type === "thread.deleted";

/**
 * The shells of all threads as they change, and the events of some threads, on one connection. Without a cursor it begins
 * with every shell and with the named threads' events from now on.
 *
 * The shells that a page of events touched go before its events, without an id: whoever reconnects in between gets
 * them again, and never misses one. The last frame of a page has the cursor of its end.
 */
export const followShells = Effect.fnUntraced(function* (
  threadIds: ReadonlyArray<string>,
  after: string | undefined,
): Effect.fn.Return<
  Frames,
  CursorProblem | Unavailable | Internal,
  EventLog | ProviderRuntimeIngestion | Signals | Closing | Views | ReadMarkers | Caller
> {
  const log = yield* EventLog;
  const views = yield* Views;
  const texts = yield* ProviderRuntimeIngestion;
  const signals = yield* Signals;
  const ending = yield* endings;
  const markers = yield* ReadMarkers;
  const caller = yield* Caller;
  const head = yield* Effect.mapError(log.head, storeProblem);
  const from =
    after === undefined ? undefined : yield* reading(() => readEventCursor(after, { epoch: log.epoch, head }));
  if (from?.kind === "unservable") return resetFrames(from.reason);
  const named = new Set(threadIds);

  return Stream.unwrap(
    Effect.gen(function* () {
      const signal = yield* signals.subscribe(["*", `read:${caller.person}`, ...threadIds.map(texts.liveKey)]);
      // Shells are read from now on, so everything up to now is in them; events of named threads go on from the cursor.
      const shellsUpTo = yield* log.head;
      const position = yield* positionAt(named.size === 0 ? shellsUpTo : (from?.sequence ?? shellsUpTo), ending);
      const sent = new Map(threadIds.map((threadId) => [threadId, new Map<string, Sent>()]));

      const look = Effect.gen(function* () {
        const page = yield* log.page({ after: position.cursor, limit: limits.maxPageEvents });
        const end = page.at(-1)?.sequence;
        if (end === undefined) return [];
        const frames: Array<(id?: string) => string> = [];
        const touched = new Set(page.flatMap(({ sequence, streamId }) => (sequence > shellsUpTo ? [streamId] : [])));
        for (const threadId of touched) {
          const shell = yield* views.shell(threadId);
          if (shell !== undefined) frames.push((id) => frameText("shell", shell, id));
        }
        for (const event of page) {
          const shown = named.has(event.streamId) || isGone(event) ? toPublic(event, log.epoch) : undefined;
          if (shown !== undefined) frames.push((id) => frameText("event", shown, id ?? shown.cursor));
        }
        position.cursor = end;
        const last = frames.length - 1;
        const text = frames
          .map((frame, index) => frame(index === last ? eventCursor(log.epoch, end) : undefined))
          .join("");
        return text === "" ? [] : [encodeFrames(text)];
      });

      const live = Effect.sync(() =>
        [...sent].flatMap(([threadId, known]) => encodeLive(liveFrames(texts.live(threadId), known))),
      );
      const read = yield* readElsewhere(markers, views, caller.person);
      const following = loop({
        position,
        look,
        caughtUp: Effect.zipWith(read, live, (shells, texts) => [...shells, ...texts]),
        epoch: log.epoch,
        wait: waiter(signal, ending),
      });
      const shells = Stream.takeWhile(changedShells(views, from?.sequence), () => !position.over);
      return Stream.concat(shells, following);
    }),
  );
});
