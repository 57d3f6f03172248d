/**
 * The loop of every live stream. A subscription is a cursor: it waits for a signal, then reads pages after its cursor.
 * Nothing is queued for a client, so a slow one costs nothing and loses nothing (I10, I11): the connection asks for the
 * next page only when it has room for it.
 */
import type { LiveText } from "@tributary/contracts/api";
import { steadyMillis } from "@tributary/engine";
import type { Signal, StoreError } from "@tributary/store";
import { Clock, Context, Effect, Option, Stream } from "effect";
import type { Scope } from "effect";
import { eventCursor } from "./cursor.ts";
import type { Endings } from "./ending.ts";
import { limits } from "./limits.ts";
import { encodeFrames, frameText } from "./sse.ts";

/** Milliseconds between two pings of a stream. */
export const PingInterval = Context.Reference<number>("tributary/server/PingInterval", {
  defaultValue: () => limits.pingIntervalMs,
});

export type Frames = Stream.Stream<Uint8Array, StoreError>;

const iso = (millis: number): string => new Date(millis).toISOString();
const pingFrame = (now: number): Uint8Array => encodeFrames(frameText("ping", { serverTime: iso(now) }));
export const resetFrames = (reason: string): Frames => Stream.succeed(encodeFrames(frameText("reset", { reason })));

type Woken = "changed" | "ping" | "over";

/** Waits until something changed, the next ping is due, or the stream is to end. */
export const waiter =
  (signal: Signal, endings: Endings) =>
  (pingAt: number): Effect.Effect<Woken> =>
    Effect.flatMap(steadyMillis, (now) => {
      const woken: ReadonlyArray<Effect.Effect<Woken>> = [
        Effect.as(signal.wait, "changed"),
        ...endings.map((ending) => Effect.as(ending, "over" as const)),
        // Whole milliseconds, and at least one: a sleep that ends a fraction too early must not begin again without end.
        Effect.as(Effect.sleep(Math.max(1, Math.ceil(pingAt - now))), "ping"),
      ];
      return Effect.raceAllFirst(woken);
    });

/** Where one subscription stands. Mutable: it belongs to one connection. */
interface Position {
  readonly pingEvery: number;
  /** Everything up to here was sent. */
  cursor: number;
  /** On the clock that never jumps: pings go on when the wall's is set back. */
  pingAt: number;
  synced: boolean;
  /** Nothing more may be sent. */
  over: boolean;
}

/** What one look at the store gives: bytes to send, perhaps none. */
type Look = Effect.Effect<ReadonlyArray<Uint8Array>, StoreError>;

/**
 * The loop of every live stream: looks until there is nothing more, says `synced` once, then waits and looks again.
 * `look` moves the cursor; `caughtUp` gives what is to be said whenever everything committed was sent.
 */
export const loop = (options: {
  readonly position: Position;
  readonly look: Look;
  readonly caughtUp: Effect.Effect<ReadonlyArray<Uint8Array>, StoreError>;
  readonly epoch: string;
  readonly wait: (pingAt: number) => Effect.Effect<Woken>;
}): Frames => {
  const { position, look, caughtUp, epoch, wait } = options;

  const ping = Effect.zipWith(steadyMillis, Clock.currentTimeMillis, (now, wall) => {
    if (now < position.pingAt) return [];
    position.pingAt = now + position.pingEvery;
    return [pingFrame(wall)];
  });

  const synced = Effect.map(Clock.currentTimeMillis, (now) => {
    if (position.synced) return [];
    position.synced = true;
    const { cursor } = position;
    return [encodeFrames(frameText("synced", { serverTime: iso(now), sequence: cursor }, eventCursor(epoch, cursor)))];
  });

  const step = Effect.fnUntraced(function* (phase: "look" | "wait") {
    if (phase === "wait" && (yield* wait(position.pingAt)) === "over") position.over = true;
    if (position.over) return [[], Option.none()] as const;
    const before = position.cursor;
    const pages = yield* look;
    // More may be waiting; a ping is due all the same.
    if (position.cursor > before) return [[...pages, ...(yield* ping)], Option.some("look" as const)] as const;
    const frames = [...pages, ...(yield* synced), ...(yield* caughtUp), ...(yield* ping)];
    return [frames, Option.some("wait" as const)] as const;
  });

  return Stream.paginate<"look" | "wait", Uint8Array, StoreError>("look", step);
};

/** A position that is over when the stream is to end, also while a long backlog is being read. */
export const positionAt = Effect.fnUntraced(function* (
  cursor: number,
  endings: Endings,
): Effect.fn.Return<Position, never, Scope.Scope> {
  const pingEvery = yield* PingInterval;
  const now = yield* steadyMillis;
  const position: Position = { cursor, pingEvery, pingAt: now + pingEvery, synced: false, over: false };
  const finish = Effect.sync(() => (position.over = true));
  yield* Effect.forkScoped(Effect.andThen(Effect.raceAllFirst(endings), finish));
  return position;
});

export const encodeLive = (frames: ReadonlyArray<LiveText>): ReadonlyArray<Uint8Array> =>
  frames.length === 0 ? [] : [encodeFrames(frames.map((frame) => frameText("live", frame)).join(""))];
