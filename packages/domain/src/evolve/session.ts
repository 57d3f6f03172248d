import type { DomainEventType } from "@tributary/contracts";
import { exitFailure } from "../failures.ts";
import { defined, pick, without } from "../plain.ts";
import type { SessionState, ThreadState } from "../state.ts";
import type { Evolvers } from "./types.ts";

/** An event of another session than the newest changes nothing (I6). */
const change = (state: ThreadState, generation: number, next: (session: SessionState) => SessionState): ThreadState =>
  state.session?.generation === generation ? { ...state, session: next(state.session) } : state;

/** Over: nothing is left to stop. Its capabilities stay: what it refused, the next one will refuse. */
const over = (state: ThreadState, generation: number, next: Pick<SessionState, "state" | "error">): ThreadState =>
  state.session?.generation === generation
    ? { ...without(state, "interrupt"), session: { ...state.session, ...next } }
    : state;

export const sessionEvolvers: Evolvers<Extract<DomainEventType, `session.${string}`>> = {
  "session.opening": (state, { generation }) => ({ ...state, session: { generation, state: "opening" } }),
  "session.started": (state, { generation, nativeSessionId, capabilities, model, effort }) =>
    change(state, generation, (session) => ({
      ...session,
      state: "ready",
      nativeSessionId,
      capabilities,
      ...defined({ model, effort }),
    })),
  "session.configured": (state, payload) => {
    const next = change(state, payload.generation, (session) => ({
      ...session,
      ...pick(payload, ["model", "effort", "serviceTier", "nativeSessionId"]),
    }));
    // Said in the middle of a session that has turns: what is to be resumed is where the runtime is now.
    return next === state || state.nativeSessionId === undefined
      ? next
      : { ...next, ...pick(payload, ["nativeSessionId"]) };
  },
  "session.exited": (state, payload) =>
    over(
      state,
      payload.generation,
      // An end that nobody saw says nothing about the runtime.
      payload.kind === "graceful" || payload.settledBy === "system"
        ? { state: "exited" }
        : { state: "exited", error: exitFailure(payload) },
    ),
  "session.released": (state, { generation }) => over(state, generation, { state: "released" }),
  "session.failed": (state, { generation, error }) => over(state, generation, { state: "failed", error }),
  "session.forgotten": (state) => without(state, "nativeSessionId"),
};
