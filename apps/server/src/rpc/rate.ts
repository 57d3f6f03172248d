/** How fast a client's messages are taken. A faster one is not refused: it waits, and its socket fills up. */
import { steadyMillis } from "@tributary/engine";
import { Effect } from "effect";

/** A bucket that holds one second's messages. A clock that is set back makes nobody wait. */
export const rateOf = (perSecond: number) => {
  let left = perSecond;
  let at: number | undefined;
  return {
    /** Resolves when one more message may be taken. */
    take: Effect.flatMap(steadyMillis, (now) => {
      left = Math.min(perSecond, left + ((now - (at ?? now)) * perSecond) / 1000);
      at = now;
      left -= 1;
      return left >= 0 ? Effect.void : Effect.sleep((-left * 1000) / perSecond);
    }),
  };
};
