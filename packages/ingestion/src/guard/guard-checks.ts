/** Checks by key that rows of the guard's table add: is the thing that the event names there, and still open? */
import { itemKey } from "@tributary/contracts";
import { promptInFlight } from "@tributary/domain";
import { isTextType } from "./item-types.ts";
import { fold, refuse } from "./verdict.ts";
import type { Check, Verdict } from "./verdict.ts";

const keptInJournal: Check<"account.limits" | "mcp.status" | "commands.available"> = () => fold("kept in the journal");

/** A runtime that says again what its opening said resets nothing. One whose context was cleared is in another session. */
const newFacts: Check<"session.started"> = ({ payload }, { session }) => {
  if (session.state === "opening") return fold("its opening says it");
  const changed = (["model", "effort", "nativeSessionId"] as const).some(
    (fact) => payload[fact] !== undefined && payload[fact] !== session[fact],
  );
  return changed ? undefined : fold("nothing new");
};

const errorsOnly: Check<"session.state"> = ({ payload }) =>
  payload.state === "error" ? undefined : fold("derived, not said");

const turnMayStart: Check<"turn.started"> = ({ turnId }, { state }) => {
  if (state.turn === undefined) return undefined;
  if (state.turn.turnId === turnId) return fold("already active");
  return promptInFlight(state) === undefined ? refuse("turn_active") : undefined;
};

const itemOpen: Check<"item.started" | "item.updated" | "item.completed"> = (event, { look }) => {
  const { itemId, turnId, agentPath, payload } = event;
  if (itemId === undefined) return refuse("invalid");
  if (payload.itemType === "user_message") return fold("what a person said is known by its input");
  if (isTextType(payload.itemType)) return undefined;
  return look.closed("activity", itemKey(turnId, agentPath ?? [], itemId)) === undefined
    ? undefined
    : refuse("item_over");
};

const namesItem: Check<"content.retracted"> = ({ itemId }) => (itemId === undefined ? refuse("invalid") : undefined);

const inputOpen: Check<"input.state"> = ({ payload }, { state, look }) => {
  if (state.inputs.some((input) => input.inputId === payload.inputId)) return undefined;
  return look.closed("input", payload.inputId) === undefined ? refuse("input_unknown") : fold("the input is over");
};

const requestNew: Check<"request.opened"> = ({ requestId }, { state, look }) => {
  if (requestId === undefined) return refuse("invalid");
  if (state.requests.some((request) => request.requestId === requestId)) return refuse("request_exists");
  return look.closed("request", requestId) === undefined ? undefined : refuse("request_over");
};

const requestOpen: Check<"request.resolved"> = ({ requestId, payload }, { state, look }) => {
  if (requestId === undefined) return refuse("invalid");
  if (state.requests.some((request) => request.requestId === requestId)) return undefined;
  const closed = look.closed("request", requestId);
  if (closed === undefined) return refuse("request_unknown");
  // Most runtimes say that a request is over after they have confirmed the call that answered it.
  return closed.state === payload.outcome ? fold("the request ended so already") : refuse("request_over");
};

const taskNotOver: Check<"task.started"> = ({ payload }, { look }) =>
  look.closed("task", payload.taskId) === undefined ? undefined : refuse("task_over");

/** An open task moves whatever became of the turn that began it; an unknown one is created, under the rules of items. */
const taskMayMove: Check<"task.updated" | "task.completed"> = ({ payload, turnId }, { state, look }) => {
  if (state.tasks.some((task) => task.taskId === payload.taskId)) return undefined;
  if (look.closed("task", payload.taskId) !== undefined) return refuse("task_over");
  if (turnId === undefined || turnId === state.turn?.turnId) return undefined;
  return refuse(look.closed("turn", turnId) === undefined ? "turn_unknown" : "turn_over");
};

export const checks = {
  keptInJournal,
  newFacts,
  errorsOnly,
  turnMayStart,
  itemOpen,
  namesItem,
  inputOpen,
  requestNew,
  requestOpen,
  taskNotOver,
  taskMayMove,
} satisfies Record<string, (...args: never) => Verdict | undefined>;
