/** Where a runtime's report belongs: its generation first, then whether that is over, then its turn (4.3, I6). */
import type { RefusalReason } from "@tributary/contracts";
import { isLive } from "./queue.ts";
import type { Lookups, SessionState, ThreadState } from "./state.ts";

/** The session of this generation, over or not. */
export const sessionOf = (state: ThreadState, generation: number): SessionState | RefusalReason => {
  if (state.session === undefined) return "no_session";
  return state.session.generation === generation ? state.session : "other_generation";
};

/** Refuses what is not of the live session. */
export const notLive = (state: ThreadState, generation: number): RefusalReason | undefined => {
  const session = sessionOf(state, generation);
  if (typeof session === "string") return session;
  return isLive(state) ? undefined : "session_over";
};

/** `none`: it belongs to no turn. `ended`: to one of this generation that is over. */
export type TurnPlace = "none" | "active" | "ended";

/** Places what a report of `generation` says of a turn. */
export const placeTurn = (
  state: ThreadState,
  look: Lookups,
  generation: number,
  turnId: string | undefined,
): TurnPlace | Extract<RefusalReason, "turn_unknown" | "other_generation"> => {
  if (turnId === undefined) return "none";
  if (state.turn?.turnId === turnId) return "active";
  const closed = look.closed("turn", turnId);
  if (closed === undefined) return "turn_unknown";
  return closed.generation === generation ? "ended" : "other_generation";
};

/**
 * Whether what begins here can stay open. `over`: its session or turn is over, so that it must come closed, or not at
 * all, for the reason given (I8).
 */
export type Opening =
  | { readonly kind: "open" }
  | { readonly kind: "over"; readonly reason: "session_over" | "turn_over" }
  | { readonly kind: "refused"; readonly reason: RefusalReason };

export const opening = (state: ThreadState, look: Lookups, generation: number, turnId: string | undefined): Opening => {
  const session = sessionOf(state, generation);
  if (typeof session === "string") return { kind: "refused", reason: session };
  const place = placeTurn(state, look, generation, turnId);
  if (place === "turn_unknown" || place === "other_generation") return { kind: "refused", reason: place };
  if (!isLive(state)) return { kind: "over", reason: "session_over" };
  return place === "ended" ? { kind: "over", reason: "turn_over" } : { kind: "open" };
};
