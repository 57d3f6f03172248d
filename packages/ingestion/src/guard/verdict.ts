/** What may become of a canonical event, and what a check of the guard sees. */
import type { RefusalReason, RuntimeEventOf, RuntimeEventType } from "@tributary/contracts";
import type { Lookups, SessionState, ThreadState } from "@tributary/domain";

/** `late`: its own turn is over; it may finalise what is its own, at once, and wakes nothing. */
export type Verdict =
  | { readonly verdict: "apply" }
  | { readonly verdict: "late" }
  | { readonly verdict: "fold"; readonly reason: string }
  | { readonly verdict: "refuse"; readonly reason: RefusalReason };

export const apply: Verdict = { verdict: "apply" };
export const late: Verdict = { verdict: "late" };
/** Nothing to do with it: its place is the journal. */
export const fold = (reason: string): Verdict => ({ verdict: "fold", reason });
export const refuse = (reason: RefusalReason): Verdict => ({ verdict: "refuse", reason });

/** A thread that is there and whose current session is the event's. */
export interface Facts {
  readonly state: ThreadState;
  readonly session: SessionState;
  readonly look: Lookups;
}

/** Undefined: nothing against it. */
export type Check<T extends RuntimeEventType> = (event: RuntimeEventOf<T>, facts: Facts) => Verdict | undefined;
