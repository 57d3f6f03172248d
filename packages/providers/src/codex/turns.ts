/** Turns: their beginning and end, plan, diff, tokens, and the streams that broke on the way. */
import type { PlanStep, RuntimeEvent, RuntimePayloads } from "@tributary/contracts";
import {
  asCount,
  asId,
  asObject,
  asObjects,
  asText,
  asWords,
  defined,
  eventId,
  rowOf,
  type NativeObject,
} from "../native.ts";
import { childTurnCompleted, childTurnStarted, isChild } from "./agents.ts";
import { commandTitle } from "./describe.ts";
import { failureOf } from "./errors.ts";
import { isRoot, nothing, placeOf, type Said, say } from "./place.ts";
import { type CodexState, drop, type OpenTurn, put } from "./state.ts";
import { tokensOf, totalsOf, turnUsageOf } from "./usage.ts";

const readTurn = (params: NativeObject) => {
  const threadId = asId(params["threadId"]);
  const turn = asObject(params["turn"]);
  const turnId = asId(turn?.["id"]);
  return threadId === undefined || turn === undefined || turnId === undefined ? undefined : { threadId, turnId, turn };
};

const freshTurn = (threadId: string, rootTurnId: string, inputIds: ReadonlyArray<string> = []): OpenTurn => ({
  threadId,
  rootTurnId,
  inputIds,
  heard: false,
  retries: 0,
});

/** The inputs of `turn/start` calls that have no reply yet, and whether there is such a call at all. */
const inFlight = (state: CodexState): { readonly inputIds: ReadonlyArray<string>; readonly any: boolean } => {
  const starts = [...state.calls.values()].filter(({ method }) => method === "turn/start");
  return { inputIds: starts.flatMap(({ inputId }) => inputId ?? []), any: starts.length > 0 };
};

export const onTurnStarted = (state: CodexState, params: NativeObject, at?: string): Said | undefined => {
  const read = readTurn(params);
  if (read === undefined) return undefined;
  const { threadId, turnId, turn } = read;
  if (state.foreign.has(threadId)) return nothing(state);
  if (isChild(state, threadId)) {
    const rootTurnId = asId(turn["rootTurnId"]) ?? placeOf(state, threadId, turnId)?.turnId ?? turnId;
    return childTurnStarted(state, turnId, freshTurn(threadId, rootTurnId), at);
  }
  // The reply to `turn/start` comes first in 0.171; before it, the only call that waits is the one.
  const announced = state.announced.get(turnId);
  const waiting = inFlight(state);
  const inputIds = announced ?? (waiting.inputIds.length === 1 ? waiting.inputIds : []);
  const next: CodexState = {
    ...state,
    announced: drop(state.announced, turnId),
    turns: put(state.turns, turnId, freshTurn(threadId, turnId, inputIds)),
    endedChildTurns: new Map(),
  };
  const started = say(
    "turn.started",
    { ...eventId(turnId, "started"), turnId, ...defined({ at }) },
    {
      ...(inputIds.length > 0 ? { inputIds } : {}),
      origin: announced !== undefined || waiting.any ? "input" : "runtime",
    },
  );
  return { state: next, events: [started] };
};

const outcomes: Readonly<Record<string, RuntimePayloads["turn.completed"]["outcome"]>> = {
  completed: "completed",
  failed: "failed",
  interrupted: "interrupted",
};

const itemsOf = (state: CodexState, turnId: string) => [...state.items].filter(([, item]) => item.turnId === turnId);

/**
 * Commands that have no end when their turn ends by itself run on in the background (observed: a command outlives the
 * call that started it after `yield_time_ms`). After an interrupt they are ended by the adapter.
 */
const runsOn = (state: CodexState, turnId: string, at: string | undefined): Said => {
  let { background } = state;
  const events: Array<RuntimeEvent> = [];
  for (const [key, item] of itemsOf(state, turnId)) {
    const place = item.type === "commandExecution" ? placeOf(state, item.threadId, turnId) : undefined;
    const taskId = place === undefined ? undefined : asId(`${turnId}/${item.itemId}`);
    if (place === undefined || taskId === undefined) continue;
    background = put(background, key, taskId);
    events.push(
      say(
        "task.started",
        { ...eventId(turnId, item.itemId, "background/started"), ...place, ...defined({ at }) },
        {
          taskId,
          kind: "background",
          title: commandTitle(item.native) ?? "Command",
          itemId: item.itemId,
          status: "in_progress",
        },
      ),
    );
  }
  return { state: { ...state, background }, events };
};

const forget = (state: CodexState, turnId: string): CodexState => {
  const items = new Map([...state.items].filter(([, item]) => item.turnId !== turnId));
  return { ...state, items, turns: drop(state.turns, turnId), announced: drop(state.announced, turnId) };
};

export const onTurnCompleted = (state: CodexState, params: NativeObject, at?: string): Said | undefined => {
  const read = readTurn(params);
  if (read === undefined) return undefined;
  const { threadId, turnId, turn: native } = read;
  if (state.foreign.has(threadId)) return nothing(state);
  const status = asText(native["status"]) ?? "";
  const outcome = rowOf(outcomes, status);
  if (outcome === undefined) return undefined;
  const left = outcome === "interrupted" ? nothing(state) : runsOn(state, turnId, at);
  if (isChild(state, threadId)) {
    const said = childTurnCompleted(left.state, threadId, turnId, native, at);
    return said === undefined
      ? undefined
      : { state: forget(said.state, turnId), events: [...left.events, ...said.events] };
  }
  const turn = state.turns.get(turnId);
  const error = asObject(native["error"]) ?? turn?.error;
  const payload: RuntimePayloads["turn.completed"] = {
    outcome,
    ...(outcome === "completed" ? { stopReason: "end" as const } : {}),
    ...(outcome === "failed" || (outcome === "interrupted" && error !== undefined)
      ? { error: failureOf(error, turn?.lastRetry) }
      : {}),
    ...defined({ usage: turn === undefined ? undefined : turnUsageOf(turn, state.model) }),
  };
  const completed = say("turn.completed", { ...eventId(turnId, "completed"), turnId, ...defined({ at }) }, payload);
  return { state: forget(left.state, turnId), events: [...left.events, completed] };
};

/** Items whose stream is abandoned when it breaks: the next attempt says everything again under new ids (observed). */
const abandoned: ReadonlySet<string> = new Set(["agentMessage", "reasoning", "plan"]);

/** "Reconnecting... 1/5": the numbers stand nowhere else. */
const readAttempt = (message: string): { readonly attempt?: number; readonly limit?: number } => {
  const match = /(\d{1,6})\/(\d{1,6})$/.exec(message);
  return match === null ? {} : { attempt: Number(match[1]), limit: Number(match[2]) };
};

const retry = (state: CodexState, threadId: string, turnId: string, error: NativeObject, at?: string): Said => {
  const place = placeOf(state, threadId, turnId) ?? {};
  const broken = itemsOf(state, turnId).filter(([, item]) => item.threadId === threadId && abandoned.has(item.type));
  const reason = asWords(error["additionalDetails"]) ?? asWords(error["message"]) ?? "the stream broke";
  const retracted = broken
    .filter(([, { type }]) => type !== "plan")
    .map(([, { itemId }]) =>
      say(
        "content.retracted",
        { ...eventId(turnId, itemId, "retracted"), ...place, itemId, ...defined({ at }) },
        { reason },
      ),
    );
  const turn = state.turns.get(turnId) ?? freshTurn(threadId, place.turnId ?? turnId);
  const told = readAttempt(asText(error["message"]) ?? "");
  const scheduled = say(
    "retry.scheduled",
    { ...place, ...defined({ at }) },
    { attempt: told.attempt ?? turn.retries + 1, ...defined({ limit: told.limit }), reason },
  );
  const items = new Map(state.items);
  for (const [key] of broken) items.delete(key);
  const tried: OpenTurn = { ...turn, retries: turn.retries + 1, lastRetry: error["codexErrorInfo"] };
  return {
    state: { ...state, items, ...(state.turns.has(turnId) ? { turns: put(state.turns, turnId, tried) } : {}) },
    events: [...retracted, scheduled],
  };
};

/** `error`: the stream broke and is tried again, or the turn is about to fail, which its end then says. */
export const onError = (state: CodexState, params: NativeObject, at?: string): Said | undefined => {
  const error = asObject(params["error"]);
  const threadId = asId(params["threadId"]);
  const turnId = asId(params["turnId"]);
  if (error === undefined || threadId === undefined) return undefined;
  if (state.foreign.has(threadId)) return nothing(state);
  const turn = turnId === undefined ? undefined : state.turns.get(turnId);
  if (turnId !== undefined && params["willRetry"] === true) return retry(state, threadId, turnId, error, at);
  if (turnId !== undefined && turn !== undefined) {
    return nothing({ ...state, turns: put(state.turns, turnId, { ...turn, error }) });
  }
  const { class: failureClass, message, retryable } = failureOf(error);
  const place = placeOf(state, threadId, turnId) ?? {};
  const told = say(
    "runtime.error",
    { ...place, ...defined({ at }) },
    {
      class: failureClass,
      message,
      retryable,
      fatal: false,
    },
  );
  return { state, events: [told] };
};

const stepStatuses: Readonly<Record<string, PlanStep["status"]>> = {
  pending: "pending",
  inProgress: "in_progress",
  completed: "completed",
};

export const onPlanUpdated = (state: CodexState, params: NativeObject, at?: string): Said | undefined => {
  const threadId = asId(params["threadId"]);
  const turnId = asId(params["turnId"]);
  if (threadId === undefined || turnId === undefined || !Array.isArray(params["plan"])) return undefined;
  const place = placeOf(state, threadId, turnId);
  if (place === undefined) return nothing(state);
  const steps = asObjects(params["plan"]).flatMap((step) => {
    const text = asText(step["step"]);
    const name = asText(step["status"]) ?? "";
    const status = rowOf(stepStatuses, name);
    return text === undefined ? [] : [{ text, status: status ?? "pending" }];
  });
  const explanation = asWords(params["explanation"]);
  const plan = say("turn.plan", { ...place, ...defined({ at }) }, { steps, ...defined({ explanation }) });
  return { state, events: [plan] };
};

/** The diff of the whole turn. Sent again unchanged at its end; a sub-agent's would stand in for the root agent's. */
export const onDiffUpdated = (state: CodexState, params: NativeObject, at?: string): Said | undefined => {
  const threadId = asId(params["threadId"]);
  const turnId = asId(params["turnId"]);
  const unifiedDiff = asText(params["diff"]);
  if (threadId === undefined || turnId === undefined || unifiedDiff === undefined) return undefined;
  const turn = state.turns.get(turnId);
  if (!isRoot(state, threadId) || turn?.diff === unifiedDiff) return nothing(state);
  const next =
    turn === undefined ? state : { ...state, turns: put(state.turns, turnId, { ...turn, diff: unifiedDiff }) };
  return { state: next, events: [say("turn.diff", { turnId, ...defined({ at }) }, { unifiedDiff })] };
};

export const onTokenUsage = (state: CodexState, params: NativeObject): Said | undefined => {
  const threadId = asId(params["threadId"]);
  const turnId = asId(params["turnId"]);
  const usage = asObject(params["tokenUsage"]);
  const total = asObject(usage?.["total"]);
  const last = asObject(usage?.["last"]);
  if (threadId === undefined || total === undefined || last === undefined) return undefined;
  const place = placeOf(state, threadId, turnId);
  if (place === undefined) return nothing(state);
  const window = asCount(usage?.["modelContextWindow"]);
  const turn = turnId === undefined ? undefined : state.turns.get(turnId);
  const next =
    turnId === undefined || turn === undefined
      ? state
      : { ...state, turns: put(state.turns, turnId, { ...turn, usage: totalsOf(turn.usage, total, last, window) }) };
  const tokens = defined({ ...tokensOf(total), contextTokens: asCount(last["totalTokens"]), contextWindow: window });
  if (isChild(state, threadId)) {
    if (turnId === undefined || turn === undefined) return nothing(next);
    const { agentPath = [] } = place;
    const parent = { turnId: turn.rootTurnId, ...(agentPath.length > 1 ? { agentPath: agentPath.slice(0, -1) } : {}) };
    const updated = say("task.updated", parent, { taskId: turnId, kind: "background", usage: tokens });
    return { state: next, events: [updated] };
  }
  // Totals are the thread's, over all its processes. Told again on resume, for a turn that is not this process's.
  const where = turn === undefined ? {} : place;
  const told = say("usage.updated", where, { ...tokens, ...defined({ model: state.model }), basis: "session" });
  return { state: next, events: [told] };
};
