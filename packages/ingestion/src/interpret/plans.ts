/** Proposed plans: written in pieces, in the log as a whole. */
import type { RefusalReason } from "@tributary/contracts";
import { fit } from "./caps.ts";
import { enter } from "./enter.ts";
import type { Interpretation } from "./interpretation.ts";
import { defined } from "../plain.ts";
import { planKey, planText } from "./plan-buffer.ts";
import type { PlanBuffer } from "./plan-buffer.ts";
import { maskedBy } from "../text/masking.ts";
import { isBlank } from "../text/utf16.ts";

const release = (it: Interpretation, plan: PlanBuffer, how: "applied" | "folded"): void => {
  const { plans, accounts } = it.memory;
  plans.delete(planKey(plan));
  accounts.held -= plan.events;
  accounts[how] += plan.events;
};

/** The session is over: what was being written comes to nothing. */
export const forgetPlans = (it: Interpretation): void => {
  for (const plan of it.memory.plans.values()) release(it, plan, "folded");
};

export const propose = (
  it: Interpretation,
  plan: Pick<PlanBuffer, "planId" | "turnId" | "agentPath">,
  markdown: string,
): RefusalReason | undefined => {
  const { planId, turnId, agentPath } = plan;
  const written = it.memory.plans.get(planKey(plan));
  if (written !== undefined) release(it, written, "applied");
  const text = maskedBy(it.memory.masker, markdown === "" && written !== undefined ? planText(written) : markdown);
  return enter(it, { type: "plan.propose", planId, agentPath, ...defined({ turnId }), ...fit({ markdown: text }) });
};

/** A turn is over. A plan that it did not finish writing is one if the turn was completed, and nothing otherwise. */
export const settlePlans = (it: Interpretation, turnId: string, completed: boolean): void => {
  for (const plan of it.memory.plans.values()) {
    if (plan.turnId !== turnId) continue;
    const text = planText(plan);
    if (completed && !isBlank(text)) propose(it, plan, text);
    else release(it, plan, "folded");
  }
};
