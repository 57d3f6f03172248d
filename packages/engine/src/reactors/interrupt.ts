/** Stopping, step by step (section 5). Each step is committed before it is taken; the plan says when the next is due. */
import { Effect } from "effect";
import type { Live } from "../live.ts";
import { steadyMillis } from "../time.ts";
import type { Tools } from "../tools.ts";
import { settleExit } from "./settle.ts";

type EscalationStep = "native" | "terminate" | "kill";

const before = { native: "requested", terminate: "native", kill: "terminate" } as const;

/** Takes one step, unless what was to be stopped is over. Never waits for the runtime (I9). */
export const escalate = Effect.fnUntraced(function* (tools: Tools, live: Live, step: EscalationStep) {
  const { threadId, session, scope } = live;
  let turnId: string | undefined;
  const isTaken = yield* tools.step(threadId, ({ interrupt }) => {
    if (interrupt?.generation !== live.generation || interrupt.step !== before[step]) return [];
    turnId = interrupt.turnId;
    return [{ type: "interrupt.escalate", step }];
  });
  live.escalatedAt = yield* steadyMillis;
  live.isEscalating = false;
  if (!isTaken || session === undefined) return;
  // An acknowledgement is not waited for: whether it works is seen in the state, and in time.
  const call =
    step === "native" ? Effect.ignore(session.interrupt(turnId === undefined ? {} : { turnId })) : session.signal(step);
  yield* Effect.forkIn(Effect.ignoreCause(call), scope, { startImmediately: true });
});

/** KILL was sent and nothing came back: the engine says what must be so. */
export const settleKilled = (tools: Tools, live: Live): Effect.Effect<void> =>
  settleExit(tools, live.threadId, (state) =>
    state.interrupt?.step === "kill"
      ? [
          {
            type: "session.exit",
            generation: live.generation,
            seen: "runtime",
            kind: "killed",
            signal: "SIGKILL",
            reason: "It was killed because it would not stop",
            recoverable: true,
            settledBy: "system",
          },
        ]
      : [],
  );
