import type { DomainEventType, DomainPayloads } from "@tributary/contracts";
import type { ThreadState } from "../state.ts";

/** What each event makes of a thread; versions are counted in one place. A missing handler does not compile. */
export type Evolvers<K extends DomainEventType> = {
  readonly [T in K]: (state: ThreadState, payload: DomainPayloads[T]) => ThreadState;
};

/** An event that a decider has no use for. */
export const unchanged = (state: ThreadState): ThreadState => state;
