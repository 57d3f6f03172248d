/** Short words for what deciders say. */
import { reject } from "@tributary/contracts";
import type { DomainEvent, RefusalReason, Rejection, RejectionCode } from "@tributary/contracts";
import type { Decision, InternalDecision } from "./state.ts";

/** Accepted, with these events; none: nothing had to change. */
export const accept = (
  ...events: ReadonlyArray<DomainEvent>
): { readonly ok: true; readonly events: ReadonlyArray<DomainEvent> } => ({
  ok: true,
  events,
});

/** A client command is rejected. */
export const rejected = (
  code: RejectionCode,
  message: string,
  over?: Partial<Omit<Rejection, "code" | "message">>,
): Extract<Decision, { readonly ok: false }> => ({ ok: false, rejection: reject(code, message, over) });

/** An internal command is refused. */
export const refused = (reason: RefusalReason): Extract<InternalDecision, { readonly ok: false }> => ({
  ok: false,
  reason,
});
