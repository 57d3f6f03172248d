/** Activities, tasks and proposed plans: what is open by key. */
import type { DomainEventType } from "@tributary/contracts";
import { pick } from "../plain.ts";
import type { OpenActivity, OpenTask } from "../state.ts";
import { unchanged } from "./types.ts";
import type { Evolvers } from "./types.ts";

export const workEvolvers: Evolvers<
  Extract<DomainEventType, `activity.${string}` | `task.${string}` | `plan.${string}`>
> = {
  "activity.started": (state, payload) => {
    const opened: OpenActivity = pick(payload, [
      "activityId",
      "itemId",
      "itemType",
      "turnId",
      "agentPath",
      "generation",
    ]);
    return { ...state, activities: [...state.activities, opened] };
  },
  "activity.updated": unchanged,
  "activity.ended": (state, { activityId }) => ({
    ...state,
    activities: state.activities.filter((activity) => activity.activityId !== activityId),
  }),
  "task.started": (state, payload) => {
    const opened: OpenTask = pick(payload, ["taskId", "kind", "turnId", "childPath", "generation"]);
    return { ...state, tasks: [...state.tasks, opened] };
  },
  "task.updated": unchanged,
  "task.ended": (state, { taskId }) => ({ ...state, tasks: state.tasks.filter((task) => task.taskId !== taskId) }),
  "plan.proposed": (state, { planId }) =>
    state.plans.includes(planId) ? state : { ...state, plans: [...state.plans, planId] },
  "plan.resolved": (state, { planId }) => ({ ...state, plans: state.plans.filter((plan) => plan !== planId) }),
};
