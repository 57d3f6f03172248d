/** An adapter that says what it is given, an event a record, whatever it is asked. */
import { noCapabilities } from "@tributary/contracts";
import type { Adapter, RuntimeEvent } from "@tributary/contracts";
import { Effect } from "effect";

export const saying = (events: ReadonlyArray<RuntimeEvent>): Adapter => ({
  runtime: "said",
  installation: () => Effect.succeed({ available: true, capabilities: noCapabilities }),
  open: ({ emit }) =>
    Effect.succeed({
      nativeSessionId: "n",
      resumed: false,
      capabilities: noCapabilities,
      prompt: () =>
        Effect.forEach(
          events,
          (event, n) => emit({ kind: "frame", native: { kind: "said", frame: { n } }, events: [event] }),
          { discard: true },
        ),
      interrupt: () => Effect.void,
      close: Effect.void,
      signal: () => Effect.void,
    }),
});
