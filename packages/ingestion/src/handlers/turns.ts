/** `turn.*` and proposed plans. */
import type { Failure } from "@tributary/contracts";
import { capError, fit } from "../interpret/caps.ts";
import { enter } from "../interpret/enter.ts";
import { folded, held, position, refused, unless } from "../interpret/interpretation.ts";
import type { Handler } from "../interpret/interpretation.ts";
import { defined, root } from "../plain.ts";
import { planKey, pushPlan } from "../interpret/plan-buffer.ts";
import { propose, settlePlans } from "../interpret/plans.ts";
import { settleTurn } from "../interpret/settlement.ts";

const capFailure = (error: Failure): Failure => ({ ...error, message: capError(error.message) });

export const turnStarted: Handler<"turn.started"> = {
  apply: (it, { turnId, payload }) => {
    if (turnId === undefined) return refused("invalid");
    const older = it.state()?.turn;
    // The decider ends it as superseded: what it still holds goes first.
    if (older !== undefined && older.turnId !== turnId) settleTurn(it, older.turnId);
    return unless(enter(it, { type: "turn.start", turnId, generation: it.memory.generation, ...payload }));
  },
};

export const turnCompleted: Handler<"turn.completed"> = {
  apply: (it, { turnId, payload }) => {
    const active = turnId ?? it.state()?.turn?.turnId;
    if (active !== undefined) {
      settleTurn(it, active);
      settlePlans(it, active, payload.outcome === "completed");
    }
    const { error, ...rest } = payload;
    const said = { ...rest, ...(error === undefined ? {} : { error: capFailure(error) }) };
    return unless(enter(it, { type: "turn.end", generation: it.memory.generation, ...defined({ turnId }), ...said }));
  },
  leftovers: (it, { turnId, payload }) => {
    const state = it.state();
    if (turnId === undefined || state === undefined || state.turn?.turnId === turnId) return;
    const stands = [...state.texts, ...state.activities].some((work) => work.turnId === turnId);
    if (!stands) return;
    settleTurn(it, turnId);
    enter(it, { type: "turn.end", generation: it.memory.generation, turnId, outcome: payload.outcome });
  },
};

export const turnPlan: Handler<"turn.plan"> = {
  apply: (it, { turnId, agentPath, payload }) => {
    const where = { generation: it.memory.generation, agentPath: agentPath ?? root, ...defined({ turnId }) };
    return unless(enter(it, { type: "turn.plan", ...where, ...fit(payload) }));
  },
};

/** Cumulative: the newest one counts, so it waits for a second. */
export const turnDiff: Handler<"turn.diff"> = {
  quiet: () => true,
  apply: (it, { turnId, payload }) => {
    if (turnId === undefined) return refused("turn_unknown");
    const { diffs, accounts } = it.memory;
    const pending = diffs.get(turnId);
    const newest = { text: payload.unifiedDiff, record: position(it), index: it.index };
    if (pending === undefined) diffs.set(turnId, { ...newest, events: 1, since: it.arrived });
    else Object.assign(pending, newest, { events: pending.events + 1 });
    accounts.held += 1;
    return held;
  },
};

export const planDelta: Handler<"proposed_plan.delta"> = {
  quiet: () => true,
  apply: (it, event) => {
    const { planId, text } = event.payload;
    if (text === "") return folded;
    const { plans, accounts } = it.memory;
    const where = { planId, turnId: event.turnId, agentPath: event.agentPath ?? root };
    const key = planKey(where);
    const begun = { ...where, pieces: [], units: 0, events: 0, firstSeq: it.seq, firstIndex: it.index };
    const plan = plans.get(key) ?? begun;
    plans.set(key, plan);
    pushPlan(plan, text);
    plan.events += 1;
    accounts.held += 1;
    return held;
  },
};

export const planCompleted: Handler<"proposed_plan.completed"> = {
  apply: (it, { turnId, agentPath, payload }) =>
    unless(propose(it, { planId: payload.planId, turnId, agentPath: agentPath ?? root }, payload.markdown)),
};
