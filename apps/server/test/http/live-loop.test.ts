import { assert, describe, it } from "@effect/vitest";
import { Effect, Fiber, Stream } from "effect";
import { TestClock } from "effect/testing";
import { loop, PingInterval, positionAt, waiter } from "../../src/http/live-loop.ts";
import { withWall } from "../support/wall.ts";

const every = 10_000;

/** Frames of a stream on which nothing happens, as text. */
const quiet = Effect.gen(function* () {
  const position = yield* positionAt(0, [Effect.never]);
  return loop({
    position,
    look: Effect.succeed([]),
    caughtUp: Effect.succeed([]),
    epoch: "ep",
    wait: waiter({ wait: Effect.never }, [Effect.never]),
  }).pipe(Stream.map((bytes) => new TextDecoder().decode(bytes)));
});

describe("pings", () => {
  it.effect("go on when somebody sets the clock back: clients that hear none connect again (pain 18)", () =>
    withWall((jump) =>
      Effect.gen(function* () {
        const frames = yield* quiet;
        const reading = yield* Effect.forkChild(Stream.runCollect(Stream.take(frames, 3)));
        yield* TestClock.adjust(every);
        jump(-3_600_000);
        yield* TestClock.adjust(every);
        const [synced, ...pings] = yield* Fiber.join(reading);
        assert.match(synced ?? "", /^id: e:ep\.0\nevent: synced\n/);
        assert.lengthOf(pings, 2);
        for (const ping of pings) assert.match(ping, /^event: ping\n/);
      }),
    ).pipe(Effect.scoped, Effect.provideService(PingInterval, every)),
  );
});
