/** The clock on the wall jumps: people set it, networks correct it. Nothing that waits is longer or shorter for it. */
import { assert, describe, it } from "@effect/vitest";
import { Clock, Effect } from "effect";
import { approval, completed, makeWorld, started } from "./support/world.ts";

const hour = 3_600_000;

/** A clock whose wall is moved while it runs; sleeps and the steady time go on as they do. */
const withWall = <A, E, R>(use: (jump: (by: number) => void) => Effect.Effect<A, E, R>) =>
  Effect.clockWith((clock) => {
    let ahead = 10 * hour;
    const wall = () => clock.currentTimeMillisUnsafe() + ahead;
    const nanos = () => BigInt(wall()) * 1_000_000n;
    const jumping: Clock.Clock = {
      // With what a test moves time by.
      ...clock,
      currentTimeMillisUnsafe: wall,
      currentTimeMillis: Effect.sync(wall),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
    };
    return Effect.provideService(
      use((by) => {
        ahead += by;
      }),
      Clock.Clock,
      jumping,
    );
  });

describe.each([-hour, hour])("the clock jumps by %i ms", (by) => {
  it.effect("a stop takes its steps in their time (I9), and the order is the log's (I3, pain 12)", () =>
    withWall((jump) =>
      Effect.gen(function* () {
        const world = yield* makeWorld();
        for (const method of ["interrupt", "terminate", "kill", "close"] as const)
          world.stub.behaviours[method] = "hang";
        yield* world.create("T", { input: { inputId: "i1", text: "x" } });
        yield* world.says("T", started("t1", "i1"));
        yield* world.does({ type: "turn.interrupt", threadId: "T" });
        yield* world.pass(1_000);
        jump(by);
        yield* world.pass(3_999);
        assert.strictEqual(world.stub.count("terminate"), 0);
        yield* world.pass(1);
        assert.strictEqual(world.stub.count("terminate"), 1);
        jump(by);
        yield* world.pass(2_000);
        assert.strictEqual(world.stub.count("kill"), 1);
        yield* world.pass(1_000);
        assert.isUndefined(world.state().turn);
        const events = yield* world.events();
        assert.deepStrictEqual(
          events.map(({ version }) => version),
          events.map((_, index) => index + 1),
        );
      }),
    ),
  );

  it.effect("an unused session is let go of in its time", () =>
    withWall((jump) =>
      Effect.gen(function* () {
        const world = yield* makeWorld();
        yield* world.create("T", { input: { inputId: "i1", text: "x" } });
        yield* world.says("T", started("t1", "i1"), completed("t1"));
        yield* world.pass(60_000);
        jump(by);
        yield* world.does({ type: "thread.rename", threadId: "T", title: "looked at" });
        yield* world.pass(14 * 60_000 - 1);
        assert.strictEqual(world.state().session?.state, "ready");
        yield* world.pass(1);
        assert.strictEqual(world.state().session?.state, "released");
      }),
    ),
  );
});

describe("a request's own deadline", () => {
  it.effect("is an instant of the wall", () =>
    withWall((jump) =>
      Effect.gen(function* () {
        const world = yield* makeWorld();
        yield* world.create("T", { input: { inputId: "i1", text: "x" } });
        const expiresAt = new Date((yield* Clock.currentTimeMillis) + hour).toISOString();
        yield* world.says("T", started("t1", "i1"), approval("r1", "t1", { expiresAt }));
        jump(hour);
        yield* world.does({ type: "thread.rename", threadId: "T", title: "looked at" });
        assert.deepStrictEqual(world.state().requests, []);
      }),
    ),
  );
});
