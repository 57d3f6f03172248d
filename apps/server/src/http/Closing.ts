/** Says to everything that would go on for ever that the server stops. */
import { Context, Deferred, Effect, Layer } from "effect";

export class Closing extends Context.Service<
  Closing,
  {
    /** Resolves when the server begins to stop. */
    readonly begun: Effect.Effect<void>;
    readonly begin: Effect.Effect<void>;
  }
>()("tributary/server/Closing") {
  static readonly layer: Layer.Layer<Closing> = Layer.sync(Closing, () => {
    const begun = Deferred.makeUnsafe<void>();
    return { begun: Deferred.await(begun), begin: Effect.asVoid(Deferred.succeed(begun, undefined)) };
  });
}
