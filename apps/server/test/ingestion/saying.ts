/** An adapter that says what it is given, an event a record, whatever it is asked. */
import type { Adapter, RuntimeEvent } from "@tributary/contracts";
import { Effect } from "effect";

const capabilities = {
  steer: false,
  queue: { durable: false, withdraw: false },
  approvals: false,
  userInput: false,
  images: false,
  attribution: "none",
  resume: { survivesKill: false, replaysHistory: false },
  usage: false,
  mcp: { stdio: false, http: false, listChanged: false },
  refusedOptions: {},
} as const;

export const saying = (events: ReadonlyArray<RuntimeEvent>): Adapter => ({
  runtime: "said",
  installation: () => Effect.succeed({ available: true, capabilities }),
  open: ({ emit }) =>
    Effect.succeed({
      nativeSessionId: "n",
      resumed: false,
      capabilities,
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
