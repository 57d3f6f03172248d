/**
 * The to-do list as the turn's plan. Newer runtimes keep it with one call a step (TaskCreate, TaskUpdate), so that it has
 * to be put together from their results; older ones rewrite the whole list (TodoWrite). The list outlives its turn.
 */
import type { PlanStep } from "@tributary/contracts";
import { asId, asObject, asObjects, asText, asWords, eventId, type NativeObject } from "../native.ts";
import { nothing, type Said, say } from "./said.ts";
import { type ClaudeState, drop, type Place, put, type Todo } from "./state.ts";

const statusOf = (value: unknown): Todo["status"] | undefined =>
  value === "pending" || value === "in_progress" || value === "completed" ? value : undefined;

const told = (state: ClaudeState, toolId: string, { turnId }: Place): Said => ({
  state,
  events: [
    say(
      "turn.plan",
      { ...eventId(toolId, "plan"), ...(turnId === undefined ? {} : { turnId }) },
      { steps: [...state.todos.values()] },
    ),
  ],
});

const stepsOf = (todos: unknown): ReadonlyArray<PlanStep> =>
  asObjects(todos).flatMap((todo) => {
    const text = asWords(todo["content"]) ?? asWords(todo["subject"]);
    return text === undefined ? [] : [{ text, status: statusOf(todo["status"]) ?? "pending" }];
  });

/** The whole list of the root agent; sub-agents have lists of their own. */
export const planFromTodoWrite = (state: ClaudeState, toolId: string, place: Place, input: NativeObject): Said => {
  if (place.agentPath !== undefined || !Array.isArray(input["todos"])) return nothing(state);
  const todos = new Map(stepsOf(input["todos"]).map((step, index) => [String(index + 1), step]));
  return told({ ...state, todos }, toolId, place);
};

const created = (state: ClaudeState, result: NativeObject): ReadonlyMap<string, Todo> | undefined => {
  const task = asObject(result["task"]);
  const id = asId(task?.["id"]);
  const text = asWords(task?.["subject"]);
  return id === undefined || text === undefined ? undefined : put(state.todos, id, { text, status: "pending" });
};

/** Steps of an earlier process are known by their number only. */
const updated = (
  state: ClaudeState,
  input: NativeObject,
  result: NativeObject,
): ReadonlyMap<string, Todo> | undefined => {
  const id = asId(result["taskId"]) ?? asId(input["taskId"]);
  if (id === undefined || result["success"] === false) return undefined;
  const change = asText(asObject(result["statusChange"])?.["to"]) ?? asText(input["status"]);
  if (change === "deleted") return drop(state.todos, id);
  const before = state.todos.get(id) ?? { text: `Step ${id}`, status: "pending" as const };
  return put(state.todos, id, {
    text: asWords(input["subject"]) ?? before.text,
    status: statusOf(change) ?? before.status,
  });
};

const listed = (result: NativeObject): ReadonlyMap<string, Todo> | undefined =>
  Array.isArray(result["tasks"])
    ? new Map(
        asObjects(result["tasks"]).flatMap((task) => {
          const id = asId(task["id"]);
          const step = stepsOf([task])[0];
          return id === undefined || step === undefined ? [] : [[id, step] as const];
        }),
      )
    : undefined;

/** What the result of one of the to-do tools makes of the list. */
export const planFromResult = (
  state: ClaudeState,
  tool: { readonly toolId: string; readonly name: string; readonly input: NativeObject; readonly place: Place },
  result: NativeObject,
): Said => {
  const todos =
    tool.name === "TaskCreate"
      ? created(state, result)
      : tool.name === "TaskUpdate"
        ? updated(state, tool.input, result)
        : tool.name === "TaskList"
          ? listed(result)
          : undefined;
  if (todos === undefined || isSame(state.todos, todos)) return nothing(state);
  return told({ ...state, todos }, tool.toolId, tool.place);
};

const isSame = (one: ReadonlyMap<string, Todo>, other: ReadonlyMap<string, Todo>): boolean =>
  JSON.stringify([...one]) === JSON.stringify([...other]);
