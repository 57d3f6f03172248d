/** What ends a live stream from our side. */
import { Caller } from "@tributary/contracts/api";
import { Effect } from "effect";
import { Closing } from "./Closing.ts";

/** Resolve when nothing more may be sent: the server stops, or the caller's token no longer holds (I17). */
export type Endings = ReadonlyArray<Effect.Effect<void>>;

export const endings: Effect.Effect<Endings, never, Closing | Caller> = Effect.gen(function* () {
  const closing = yield* Closing;
  const { revoked } = yield* Caller;
  // Most streams are the owner's: they need not wait for what never comes.
  return revoked === Effect.never ? [closing.begun] : [closing.begun, revoked];
});
