/** A clock on the wall that somebody sets while things run; sleeps and the steady time go on as they do. */
import { Clock, Effect } from "effect";

/** `jump` moves it by milliseconds, back with a negative number. */
export const withWall = <A, E, R>(
  use: (jump: (by: number) => void) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => {
    let ahead = 0;
    const wall = () => clock.currentTimeMillisUnsafe() + ahead;
    return Effect.provideService(
      use((by) => {
        ahead += by;
      }),
      Clock.Clock,
      // With what a test moves time by.
      { ...clock, currentTimeMillisUnsafe: wall, currentTimeMillis: Effect.sync(wall) },
    );
  });
