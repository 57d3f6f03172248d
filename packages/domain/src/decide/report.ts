/** Reports that change nothing but what people see: kept as given. */
import { event } from "@tributary/contracts";
import { accept, refused } from "../answers.ts";
import { without } from "../plain.ts";
import type { InternalHandlers } from "./types.ts";

type ReportType =
  | "plan.propose"
  | "usage.record"
  | "context.compact"
  | "notice.record"
  | "model.reroute"
  | "thread.title"
  | "thread.purge";

export const reportHandlers: InternalHandlers<ReportType> = {
  /** One proposal is open at a time: a newer one supersedes it. */
  "plan.propose": ({ state }, command) =>
    accept(
      ...state.plans
        .filter((planId) => planId !== command.planId)
        .map((planId) => event("plan.resolved", { planId, outcome: "superseded" })),
      event("plan.proposed", without(command, "type")),
    ),
  "usage.record": (_, command) => accept(event("usage.recorded", without(command, "type"))),
  "context.compact": (_, command) => accept(event("context.compacted", without(command, "type"))),
  "notice.record": (_, command) => accept(event("notice.recorded", without(command, "type"))),
  "model.reroute": (_, command) => accept(event("model.rerouted", without(command, "type"))),
  /** A runtime names a thread until a person does. */
  "thread.title": ({ state }, { title }) =>
    state.titleBy === "client" || state.title === title
      ? accept()
      : accept(event("thread.renamed", { title, by: "runtime" })),
  "thread.purge": ({ state }) => {
    if (!state.deleted) return refused("invalid");
    return state.purged === true ? accept() : accept(event("thread.purged", {}));
  },
};
