import { event } from "@tributary/contracts";
import type { DomainEvent } from "@tributary/contracts";
import { evolveAll } from "../evolve/thread.ts";
import { queuedInputs, waitsInQueue } from "../queue.ts";
import type { ThreadState } from "../state.ts";

/**
 * With the last input that waits goes the hold, whatever took that input away: a later one would otherwise wait for the
 * failure of a run that nobody remembers.
 */
export const liftHold = <
  D extends { readonly ok: true; readonly events: ReadonlyArray<DomainEvent> } | { readonly ok: false },
>(
  state: ThreadState,
  decision: D,
): D => {
  if (!decision.ok || state.queueHeld === undefined || decision.events.length === 0) return decision;
  const after = evolveAll(state, decision.events);
  return after.queueHeld === undefined || after.deleted || queuedInputs(after).some(waitsInQueue)
    ? decision
    : { ...decision, events: [...decision.events, event("queue.resumed", {})] };
};
