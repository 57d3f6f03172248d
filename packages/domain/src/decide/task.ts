/** Tasks: sub-agents, which end with their turn, and background work, which lives on until it or its session ends. */
import { event } from "@tributary/contracts";
import type { InternalCommandOf } from "@tributary/contracts";
import { accept, refused } from "../answers.ts";
import { opening } from "../guard.ts";
import { without } from "../plain.ts";
import { livesOn, settleTask } from "../settle.ts";
import type { InternalDecision, Lookups, ThreadState } from "../state.ts";
import type { InternalGiven, InternalHandlers } from "./types.ts";

const isOpen = (state: ThreadState, taskId: string): boolean => state.tasks.some((task) => task.taskId === taskId);

const notOpen = (look: Lookups, taskId: string): InternalDecision =>
  refused(look.closed("task", taskId) === undefined ? "invalid" : "task_over");

const start = ({ state, look }: InternalGiven, command: InternalCommandOf<"task.start">): InternalDecision => {
  const { taskId, kind, generation, turnId, agentPath } = command;
  if (isOpen(state, taskId)) return accept();
  if (look.closed("task", taskId) !== undefined) return refused("task_over");
  const place = opening(state, look, generation, turnId);
  if (place.kind === "refused") return refused(place.reason);
  const outlivesTurn = kind === "background" || livesOn(state, agentPath);
  if (place.kind === "over" && !(place.reason === "turn_over" && outlivesTurn)) return refused(place.reason);
  return accept(event("task.started", without(command, "type")));
};

export const taskHandlers: InternalHandlers<Extract<keyof InternalHandlers, `task.${string}`>> = {
  "task.start": start,
  "task.update": ({ state, look }, command) =>
    isOpen(state, command.taskId)
      ? accept(event("task.updated", without(command, "type")))
      : notOpen(look, command.taskId),
  "task.end": ({ state, look }, command) =>
    isOpen(state, command.taskId)
      ? accept(...settleTask(state, command.taskId), event("task.ended", without(command, "type")))
      : notOpen(look, command.taskId),
};
