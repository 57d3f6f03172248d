/** How many WebSockets there may be. */
import { Unavailable } from "@tributary/contracts/api";
import { Effect } from "effect";
import type { Scope } from "effect";

/** Takes one of so many seats for as long as the scope lasts. */
export const seats = (max: number): Effect.Effect<void, Unavailable, Scope.Scope> => {
  let taken = 0;
  const take = Effect.suspend(() => {
    if (taken >= max)
      return Effect.fail(
        new Unavailable({
          detail: `${max} WebSockets are open, and there can be no more (GET /limits).`,
          userAction: "wait",
        }),
      );
    taken += 1;
    return Effect.void;
  });
  return Effect.acquireRelease(take, () => Effect.sync(() => (taken -= 1)));
};
