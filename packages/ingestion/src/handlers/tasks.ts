/** `task.*`: sub-agents and background work. */
import type { DomainPayloads, RuntimeEventOf } from "@tributary/contracts";
import { fit } from "../interpret/caps.ts";
import { enter } from "../interpret/enter.ts";
import { held, position, unless } from "../interpret/interpretation.ts";
import type { Handler, Interpretation, Outcome } from "../interpret/interpretation.ts";
import { defined, pick, root } from "../plain.ts";
import { flushAgent } from "../text/text.ts";

type TaskEvent = RuntimeEventOf<"task.started" | "task.updated" | "task.completed">;
type Fields = Omit<DomainPayloads["task.updated"], "taskId">;

const fieldsOf = ({ payload }: TaskEvent): Fields => fit(pick(payload, ["title", "status", "summary", "usage"]));

const isOpen = (it: Interpretation, { payload }: TaskEvent): boolean =>
  it.state()?.tasks.some((task) => task.taskId === payload.taskId) === true;

const begin = (it: Interpretation, event: TaskEvent): Outcome => {
  const { turnId, payload } = event;
  const { taskId, kind, agentPath: childPath, itemId } = payload;
  const agentPath = event.agentPath ?? root;
  flushAgent(it, agentPath);
  const start = { taskId, kind, agentPath, generation: it.memory.generation };
  const more = { ...defined({ turnId, childPath, itemId }), ...fieldsOf(event) };
  return unless(enter(it, { type: "task.start", ...start, ...more }));
};

const merge = (it: Interpretation, event: TaskEvent): Outcome => {
  const { rows, accounts } = it.memory;
  const { taskId } = event.payload;
  const pending = rows.get(taskId);
  if (pending?.kind === "task") {
    pending.fields = { ...pending.fields, ...fieldsOf(event) };
    pending.record = position(it);
    pending.events += 1;
  } else
    rows.set(taskId, { kind: "task", fields: fieldsOf(event), record: position(it), events: 1, since: it.arrived });
  accounts.held += 1;
  return held;
};

const beginOrMerge = (it: Interpretation, event: TaskEvent): Outcome =>
  isOpen(it, event) ? merge(it, event) : begin(it, event);

export const taskStarted: Handler<"task.started"> = { quiet: isOpen, apply: beginOrMerge };

export const taskUpdated: Handler<"task.updated"> = { quiet: isOpen, apply: beginOrMerge };

export const taskCompleted: Handler<"task.completed"> = {
  apply: (it, event) => {
    if (!isOpen(it, event)) {
      const begun = begin(it, event);
      if (begun.outcome === "refused") return begun;
    }
    const { taskId, status } = event.payload;
    const ended = status === undefined || status === "in_progress" ? "completed" : status;
    const { status: _, ...fields } = fieldsOf(event);
    return unless(enter(it, { type: "task.end", taskId, ...fields, status: ended }));
  },
};
