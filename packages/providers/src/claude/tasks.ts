/**
 * Sub-agents and work in the background. A sub-agent is a task and an agent path: its call's id. One in the background,
 * like a command in the background, outlives its turn.
 */
import type { RuntimePayloads } from "@tributary/contracts";
import { asId, asObject, asText, asWords, defined, eventId, shorten, type NativeObject } from "../native.ts";
import { childPath, insideAgent, rootPlace, toolPlace } from "./place.ts";
import { each, nothing, type Said, say, andThen } from "./said.ts";
import { type Agent, type ClaudeState, put, type Task } from "./state.ts";

const isAgentTask = (type: string | undefined): boolean => type === "local_agent";

/** A resumed sub-agent keeps its native id; each of its runs is a task. */
const taskIdOf = (frame: NativeObject): string | undefined => {
  const id = asId(frame["task_id"]);
  const run = asId(frame["run_id"]);
  return id === undefined ? undefined : (asId(run === undefined ? id : `${id}:${run}`) ?? id);
};

const payload = (task: Task, more: Partial<RuntimePayloads["task.started"]> = {}): RuntimePayloads["task.started"] => ({
  taskId: task.taskId,
  kind: task.kind,
  ...defined({ title: task.title, agentPath: task.agentPath, itemId: task.toolId }),
  ...more,
});

const envelope = (task: Task, ...id: ReadonlyArray<string>) => ({
  ...eventId(task.taskId, ...id),
  ...task.place,
  ...defined({ itemId: task.toolId }),
});

const withTask = (state: ClaudeState, nativeId: string, task: Task): ClaudeState => ({
  ...state,
  tasks: put(state.tasks, nativeId, task),
});

/** Where a task was spawned: by a call, or by a sub-agent whose task is named. */
const spawnPlace = (state: ClaudeState, frame: NativeObject, toolId: string | undefined): Task["place"] => {
  if (toolId !== undefined && state.tools.has(toolId)) return toolPlace(state, toolId);
  const known = toolId === undefined ? undefined : state.agents.get(toolId);
  if (known !== undefined) return { ...known.place, ...rootPlace(state) };
  const parent = asId(frame["parent_task_id"]);
  const parentTool = parent === undefined ? undefined : state.tasks.get(parent)?.toolId;
  const agent = parentTool === undefined ? undefined : state.agents.get(parentTool);
  return agent === undefined ? rootPlace(state) : insideAgent(agent);
};

const announce = (state: ClaudeState, nativeId: string, task: Task): Said => {
  const announced = { ...task, isAnnounced: true };
  return {
    state: withTask(state, nativeId, announced),
    events: [say("task.started", envelope(task, "started"), payload(task, { status: "in_progress" }))],
  };
};

export const onTaskStarted = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const nativeId = asId(frame["task_id"]);
  const taskId = taskIdOf(frame);
  if (nativeId === undefined || taskId === undefined) return undefined;
  const toolId = asId(frame["tool_use_id"]);
  const isAgent = isAgentTask(asText(frame["task_type"])) && toolId !== undefined;
  const place = spawnPlace(state, frame, toolId);
  const agentPath = isAgent ? (state.agents.get(toolId)?.path ?? childPath(place, toolId)) : undefined;
  const isForeground = frame["is_backgrounded"] === false;
  const task: Task = {
    taskId,
    kind: isAgent && isForeground ? "subagent" : "background",
    isAnnounced: false,
    place,
    ...defined({ toolId, agentPath, title: titleOf(frame) }),
  };
  let next = withTask(state, nativeId, task);
  if (isAgent && agentPath !== undefined) {
    const agent: Agent = { place, path: agentPath, taskId, isImplicit: false, isOver: false };
    next = { ...next, agents: put(next.agents, toolId, agent) };
  }
  // Housekeeping is not told. A slow command in the foreground is an item already; it may still go to the background.
  const isHidden = frame["skip_transcript"] === true || frame["ambient"] === true || (isForeground && !isAgent);
  return isHidden ? nothing(next) : announce(next, nativeId, task);
};

const titleOf = (frame: NativeObject): string | undefined => {
  const title = asWords(frame["workflow_name"]) ?? asWords(frame["description"]);
  return title === undefined ? undefined : shorten(title, 200);
};

const endStatus = { completed: "completed", failed: "failed", killed: "interrupted", stopped: "interrupted" } as const;
const endOf = (status: string | undefined): NonNullable<Task["ended"]> | undefined =>
  status !== undefined && Object.hasOwn(endStatus, status) ? endStatus[status as keyof typeof endStatus] : undefined;

const withoutTask = (state: ClaudeState, nativeId: string, task: Task): ClaudeState => {
  const tasks = new Map(state.tasks);
  tasks.delete(nativeId);
  const agent = task.toolId === undefined ? undefined : state.agents.get(task.toolId);
  if (task.toolId === undefined || agent === undefined) return { ...state, tasks };
  const messages = new Map(state.messages);
  messages.delete(task.toolId);
  return { ...state, tasks, messages, agents: put(state.agents, task.toolId, { ...agent, isOver: true }) };
};

const complete = (
  state: ClaudeState,
  nativeId: string,
  task: Task,
  end: { readonly status: NonNullable<Task["ended"]>; readonly summary?: string },
): Said => ({
  state: withoutTask(state, nativeId, task),
  events: task.isAnnounced ? [say("task.completed", envelope(task, "completed"), payload(task, end))] : [],
});

/** Its end is told with a summary by a notification that follows; until the turn is over that is waited for. */
export const onTaskUpdated = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const nativeId = asId(frame["task_id"]);
  const patch = asObject(frame["patch"]);
  if (nativeId === undefined || patch === undefined) return undefined;
  const task = state.tasks.get(nativeId);
  if (task === undefined) return nothing(state);
  const ended = endOf(asText(patch["status"]));
  const moved = patch["is_backgrounded"] === true && task.kind !== "background";
  const changed: Task = { ...task, ...(moved ? { kind: "background" as const } : {}), ...defined({ ended }) };
  if (patch["is_backgrounded"] === true && !task.isAnnounced) return announce(state, nativeId, changed);
  const next = withTask(state, nativeId, changed);
  if (!moved || !task.isAnnounced) return nothing(next);
  const uuid = asId(frame["uuid"]);
  const event = say("task.updated", envelope(task, uuid ?? "background"), payload(changed));
  return { state: next, events: [event] };
};

export const onTaskProgress = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const nativeId = asId(frame["task_id"]);
  if (nativeId === undefined) return undefined;
  const task = state.tasks.get(nativeId);
  const summary = asWords(frame["summary"]) ?? asWords(frame["description"]);
  if (task?.isAnnounced !== true || summary === undefined) return nothing(state);
  const uuid = asId(frame["uuid"]);
  const ids = uuid === undefined ? { ...task.place } : envelope(task, uuid);
  return { state, events: [say("task.updated", ids, payload(task, { summary: shorten(summary, 500) }))] };
};

export const onTaskNotification = (state: ClaudeState, frame: NativeObject): Said | undefined => {
  const nativeId = asId(frame["task_id"]);
  if (nativeId === undefined) return undefined;
  const task = state.tasks.get(nativeId);
  if (task === undefined) return nothing(state);
  const status = endOf(asText(frame["status"])) ?? task.ended ?? "completed";
  return complete(state, nativeId, task, { status, ...defined({ summary: asWords(frame["summary"]) }) });
};

/** Whether an agent goes on when the turn that spawned it is over. */
export const isInBackground = (state: ClaudeState, path: ReadonlyArray<string> | undefined): boolean =>
  path !== undefined &&
  [...state.tasks.values()].some(
    ({ kind, agentPath }) =>
      kind === "background" && agentPath !== undefined && agentPath.every((part, index) => path[index] === part),
  );

/** With the turn: tasks whose end was seen without a summary, and agents that are over. */
export const settleTasks = (state: ClaudeState): Said => {
  const said = each(state, state.tasks, (now, [nativeId, task]) =>
    task.ended === undefined ? nothing(now) : complete(now, nativeId, task, { status: task.ended }),
  );
  return andThen(said, (now) => {
    const agents = new Map([...now.agents].filter(([, { isOver }]) => !isOver));
    return nothing(agents.size === now.agents.size ? now : { ...now, agents });
  });
};

/** A sub-agent that no task frame announced ends with the result of its call. */
export const endImplicitTask = (state: ClaudeState, toolId: string, isError: boolean): Said => {
  const agent = state.agents.get(toolId);
  if (agent === undefined || !agent.isImplicit || agent.isOver) return nothing(state);
  const task: Task = {
    taskId: agent.taskId ?? toolId,
    kind: "subagent",
    isAnnounced: true,
    toolId,
    place: agent.place,
    agentPath: agent.path,
  };
  return complete(state, toolId, task, { status: isError ? "failed" : "completed" });
};
