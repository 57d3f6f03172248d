/**
 * Live streams. A subscription is a cursor: it waits for a signal, then reads pages after its cursor. Nothing is queued
 * for a client, so a slow one costs nothing and loses nothing (I10, I11): the connection asks for the next page only when
 * it has room for it.
 */
import type { CursorProblem, Internal, LiveText, Unavailable } from "@tributary/contracts/api";
import { ProviderRuntimeIngestion } from "@tributary/ingestion";
import { Views } from "@tributary/projections";
import { EventLog, Signals } from "@tributary/store";
import type { Signal, StoreError } from "@tributary/store";
import { Clock, Context, Effect, Option, Stream } from "effect";
import { Closing } from "./Closing.ts";
import { eventCursor, readEventCursor } from "./cursor.ts";
import { EventPages } from "./EventPages.ts";
import { limits } from "./limits.ts";
import { liveFrames } from "./live-text.ts";
import type { Sent } from "./live-text.ts";
import { storeProblem } from "./problems.ts";
import { toPublic } from "./public-events.ts";
import { reading } from "./reads.ts";
import { encodeFrames, frameText } from "./sse.ts";

/** Milliseconds between two pings of a stream. */
export const PingInterval = Context.Reference<number>("tributary/server/PingInterval", {
  defaultValue: () => limits.pingIntervalMs,
});

type Frames = Stream.Stream<Uint8Array, StoreError>;

const iso = (millis: number): string => new Date(millis).toISOString();
const pingFrame = (now: number): Uint8Array => encodeFrames(frameText("ping", { serverTime: iso(now) }));
const resetFrames = (reason: string): Frames => Stream.succeed(encodeFrames(frameText("reset", { reason })));

type Woken = "changed" | "ping" | "closing";

/** Waits until something changed, the next ping is due, or the server stops. */
const waiter =
  (signal: Signal, closing: Effect.Effect<void>) =>
  (pingAt: number): Effect.Effect<Woken> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const woken: ReadonlyArray<Effect.Effect<Woken>> = [
        Effect.as(signal.wait, "changed"),
        Effect.as(closing, "closing"),
        Effect.as(Effect.sleep(Math.max(0, pingAt - now)), "ping"),
      ];
      return Effect.raceAllFirst(woken);
    });

/** Where one subscription stands. Mutable: it belongs to one connection. */
interface Position {
  readonly pingEvery: number;
  /** Everything up to here was sent. */
  cursor: number;
  pingAt: number;
  synced: boolean;
}

/** What one look at the store gives: bytes to send, perhaps none. */
type Look = Effect.Effect<ReadonlyArray<Uint8Array>, StoreError>;

/**
 * The loop of every live stream: looks until there is nothing more, says `synced` once, then waits and looks again.
 * `look` moves the cursor; `caughtUp` gives what is to be said whenever everything committed was sent.
 */
const loop = (options: {
  readonly position: Position;
  readonly look: Look;
  readonly caughtUp: Effect.Effect<ReadonlyArray<Uint8Array>, StoreError>;
  readonly epoch: string;
  readonly wait: (pingAt: number) => Effect.Effect<Woken>;
}): Frames => {
  const { position, look, caughtUp, epoch, wait } = options;

  const ping = Effect.map(Clock.currentTimeMillis, (now) => {
    if (now < position.pingAt) return [];
    position.pingAt = now + position.pingEvery;
    return [pingFrame(now)];
  });

  const synced = Effect.map(Clock.currentTimeMillis, (now) => {
    if (position.synced) return [];
    position.synced = true;
    const { cursor } = position;
    return [encodeFrames(frameText("synced", { serverTime: iso(now), sequence: cursor }, eventCursor(epoch, cursor)))];
  });

  const step = Effect.fnUntraced(function* (phase: "look" | "wait") {
    if (phase === "wait" && (yield* wait(position.pingAt)) === "closing") return [[], Option.none()] as const;
    const before = position.cursor;
    const pages = yield* look;
    // More may be waiting; a ping is due all the same.
    if (position.cursor > before) return [[...pages, ...(yield* ping)], Option.some("look" as const)] as const;
    const frames = [...pages, ...(yield* synced), ...(yield* caughtUp), ...(yield* ping)];
    return [frames, Option.some("wait" as const)] as const;
  });

  return Stream.paginate<"look" | "wait", Uint8Array, StoreError>("look", step);
};

const positionAt = Effect.fnUntraced(function* (cursor: number): Effect.fn.Return<Position> {
  const pingEvery = yield* PingInterval;
  const now = yield* Clock.currentTimeMillis;
  return { cursor, pingEvery, pingAt: now + pingEvery, synced: false };
});

/** The events of a thread after a cursor (absent: from its beginning), then whatever comes. */
export const followThread = Effect.fnUntraced(function* (
  threadId: string,
  after: string | undefined,
): Effect.fn.Return<
  Frames,
  CursorProblem | Unavailable | Internal,
  EventLog | EventPages | ProviderRuntimeIngestion | Signals | Closing
> {
  const log = yield* EventLog;
  const pages = yield* EventPages;
  const texts = yield* ProviderRuntimeIngestion;
  const signals = yield* Signals;
  const closing = yield* Closing;
  const head = yield* Effect.mapError(log.head, storeProblem);
  const from =
    after === undefined ? undefined : yield* reading(() => readEventCursor(after, { epoch: log.epoch, head }));
  if (from?.kind === "unservable") return resetFrames(from.reason);

  return Stream.unwrap(
    Effect.gen(function* () {
      // Before the first page: what changes meanwhile wakes us.
      const signal = yield* signals.subscribe([threadId, texts.liveKey(threadId)]);
      const position = yield* positionAt(from?.sequence ?? 0);
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
        wait: waiter(signal, closing.begun),
      });
    }),
  );
});

const encodeLive = (frames: ReadonlyArray<LiveText>): ReadonlyArray<Uint8Array> =>
  frames.length === 0 ? [] : [encodeFrames(frames.map((frame) => frameText("live", frame)).join(""))];

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
  EventLog | ProviderRuntimeIngestion | Signals | Closing | Views
> {
  const log = yield* EventLog;
  const views = yield* Views;
  const texts = yield* ProviderRuntimeIngestion;
  const signals = yield* Signals;
  const closing = yield* Closing;
  const head = yield* Effect.mapError(log.head, storeProblem);
  const from =
    after === undefined ? undefined : yield* reading(() => readEventCursor(after, { epoch: log.epoch, head }));
  if (from?.kind === "unservable") return resetFrames(from.reason);
  const named = new Set(threadIds);

  return Stream.unwrap(
    Effect.gen(function* () {
      const signal = yield* signals.subscribe(["*", ...threadIds.map(texts.liveKey)]);
      // Shells are read from now on, so everything up to now is in them; events of named threads go on from the cursor.
      const shellsUpTo = yield* log.head;
      const position = yield* positionAt(named.size === 0 ? shellsUpTo : (from?.sequence ?? shellsUpTo));
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
          const shown = named.has(event.streamId) ? toPublic(event, log.epoch) : undefined;
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
      const following = loop({
        position,
        look,
        caughtUp: live,
        epoch: log.epoch,
        wait: waiter(signal, closing.begun),
      });
      return Stream.concat(changedShells(views, from?.sequence), following);
    }),
  );
});
