/**
 * Sub-agents: native threads of their own, whose frames come on the same connection. Each of their turns is a task.
 *
 * They work beside the turn that spawned them: it may end first, and interrupting it leaves them running (observed). So
 * their tasks are background tasks, which live on when that turn is over.
 */
import type { RuntimeEvent } from "@tributary/contracts";
import {
  asId,
  asObjects,
  asText,
  asTexts,
  asWords,
  defined,
  eventId,
  rowOf,
  shorten,
  titleOf,
  type NativeObject,
} from "../native.ts";
import { failureOf } from "./errors.ts";
import { agentPathOf, isRoot, placeOf, type Said, say } from "./place.ts";
import { type Agent, type CodexState, drop, type OpenTurn, put } from "./state.ts";

/** Code units of a sub-agent's last message that its task shows. */
const SUMMARY_UNITS = 2000;

interface Spawning {
  readonly parentId: string;
  readonly itemId: string;
  readonly item: NativeObject;
}

/** Tools that begin a run of the agents they name. */
const spawning: ReadonlySet<string> = new Set(["spawnAgent", "resumeAgent"]);

const remember = (state: CodexState, threadId: string, agent: Agent): CodexState => ({
  ...state,
  agents: put(state.agents, threadId, { ...state.agents.get(threadId), ...agent }),
});

/** Learns of the agents that a `collabAgentToolCall` names; a run of theirs that began before gets its title. */
export const registerAgents = (state: CodexState, { parentId, itemId, item }: Spawning): Said => {
  if (!spawning.has(asText(item["tool"]) ?? "")) return { state, events: [] };
  const prompt = asWords(item["prompt"]);
  const title = prompt === undefined ? undefined : titleOf(prompt);
  let next = state;
  const events: Array<RuntimeEvent> = [];
  for (const native of asTexts(item["receiverThreadIds"])) {
    const threadId = asId(native);
    if (threadId === undefined || threadId === state.root) continue;
    const wasNameless = next.agents.get(threadId)?.title === undefined;
    next = remember(next, threadId, { parentId, itemId, ...defined({ title }) });
    if (title === undefined || !wasNameless) continue;
    for (const [turnId, turn] of next.turns) {
      if (turn.threadId !== threadId) continue;
      const place = { turnId: turn.rootTurnId, ...parentPath(next, threadId) };
      events.push(say("task.updated", place, { taskId: turnId, kind: "background", title }));
    }
  }
  return { state: next, events };
};

/** Learns of an agent from a `subAgentActivity`, the form of the newer multi-agent tools (vendor schema). */
export const registerActivity = (
  state: CodexState,
  {
    threadId: parentId,
    itemId,
    item,
  }: { readonly threadId: string; readonly itemId: string; readonly item: NativeObject },
): CodexState => {
  const threadId = asId(item["agentThreadId"]);
  if (threadId === undefined || threadId === state.root || asText(item["kind"]) !== "started") return state;
  return remember(state, threadId, { parentId, itemId, ...defined({ title: asWords(item["agentPath"]) }) });
};

/** Learns of an agent, or of a fork, from `thread/started`. */
export const registerThread = (state: CodexState, thread: NativeObject): CodexState => {
  const threadId = asId(thread["id"]);
  if (threadId === undefined || threadId === state.root) return state;
  const parentId = asId(thread["parentThreadId"]);
  if (parentId !== undefined) {
    const title = asWords(thread["agentNickname"]);
    return remember(state, threadId, { parentId, ...defined({ title: state.agents.get(threadId)?.title ?? title }) });
  }
  const isFork = asId(thread["forkedFromId"]) !== undefined;
  return isFork && state.root !== undefined ? { ...state, foreign: new Set(state.foreign).add(threadId) } : state;
};

const parentPath = (state: CodexState, threadId: string): { readonly agentPath?: ReadonlyArray<string> } => {
  const path = agentPathOf(state, threadId).slice(0, -1);
  return path.length === 0 ? {} : { agentPath: path };
};

/** A sub-agent begins a turn: a task of its parent. */
export const childTurnStarted = (state: CodexState, turnId: string, turn: OpenTurn, at: string | undefined): Said => {
  const agent = state.agents.get(turn.threadId);
  const next = { ...state, turns: put(state.turns, turnId, turn) };
  const started = say(
    "task.started",
    {
      ...eventId(turnId, "task", "started"),
      turnId: turn.rootTurnId,
      ...parentPath(state, turn.threadId),
      ...defined({ at }),
    },
    {
      taskId: turnId,
      kind: "background",
      title: agent?.title ?? "Agent",
      agentPath: agentPathOf(state, turn.threadId),
      status: "in_progress",
      ...defined({ itemId: agent?.itemId }),
    },
  );
  return { state: next, events: [started] };
};

const endings: Readonly<Record<string, "completed" | "failed" | "interrupted">> = {
  completed: "completed",
  failed: "failed",
  interrupted: "interrupted",
};

/** Its last message, else why it failed. */
const summaryOf = (native: NativeObject, turn: OpenTurn | undefined): string | undefined => {
  const texts = asObjects(native["items"]).flatMap((item) => asWords(item["text"]) ?? []);
  const last = texts.at(-1);
  if (last !== undefined) return shorten(last, SUMMARY_UNITS);
  const error = turn?.error ?? asObjects([native["error"]])[0];
  return error === undefined ? undefined : failureOf(error, turn?.lastRetry).message;
};

/** A sub-agent's turn is over; `undefined` for a status that is no end. */
export const childTurnCompleted = (
  state: CodexState,
  threadId: string,
  turnId: string,
  native: NativeObject,
  at: string | undefined,
): Said | undefined => {
  const name = asText(native["status"]) ?? "";
  const status = rowOf(endings, name);
  if (status === undefined) return undefined;
  const turn = state.turns.get(turnId);
  const place = placeOf(state, threadId, turnId);
  const rootTurnId = turn?.rootTurnId ?? place?.turnId;
  const completed = say(
    "task.completed",
    { ...eventId(turnId, "task", "completed"), ...defined({ turnId: rootTurnId, at }), ...parentPath(state, threadId) },
    { taskId: turnId, kind: "background", status, ...defined({ summary: summaryOf(native, turn) }) },
  );
  const next: CodexState = {
    ...state,
    turns: drop(state.turns, turnId),
    ...(rootTurnId === undefined ? {} : { endedChildTurns: put(state.endedChildTurns, turnId, rootTurnId) }),
  };
  return { state: next, events: [completed] };
};

/** Whether this native thread is a sub-agent of the session. */
export const isChild = (state: CodexState, threadId: string): boolean =>
  !isRoot(state, threadId) && !state.foreign.has(threadId);
