/**
 * What the translator remembers between frames: what is open, and nothing else. Plain immutable data; its size follows
 * the running turn, open calls, requests and agents, never the length of the conversation.
 */
import type { ApprovalOption, RuntimeEventEnvelope } from "@tributary/contracts";
import type { NativeObject } from "../native.ts";

/** Which turn and which agent something belongs to. Absent `agentPath`: the root agent. */
export type Place = Pick<RuntimeEventEnvelope, "turnId" | "agentPath">;

/** One content block of a message that streams. */
export interface Block {
  readonly index: number;
  readonly type: string;
  /** Of a tool call. */
  readonly toolId?: string;
  /** Something of it was told. */
  readonly begun: boolean;
  /** Its whole came. */
  readonly done: boolean;
}

/** The message that an agent streams now, or streamed last in its turn. */
export interface StreamedMessage {
  readonly id: string;
  readonly place: Place;
  readonly model?: string;
  readonly usage: NativeObject;
  readonly blocks: ReadonlyArray<Block>;
}

/** A tool call without a result. */
export interface OpenTool {
  readonly name: string;
  /** Empty while it streams. */
  readonly input: NativeObject;
  readonly place: Place;
  /** The name of an MCP tool for people, where the runtime gives one. */
  readonly displayName?: string;
  /** Refused without asking anyone. */
  readonly denied?: boolean;
}

/** A sub-agent, by the id of the call that spawned it. */
export interface Agent {
  readonly place: Place;
  readonly path: ReadonlyArray<string>;
  /** Its task, once told. */
  readonly taskId?: string;
  /** No task frame announced it: its task follows from what it said. */
  readonly isImplicit: boolean;
  readonly isOver: boolean;
}

/** A task of the runtime, by its native id. */
export interface Task {
  readonly taskId: string;
  readonly kind: "subagent" | "background";
  readonly isAnnounced: boolean;
  readonly title?: string;
  readonly toolId?: string;
  readonly place: Place;
  readonly agentPath?: ReadonlyArray<string>;
  /** It ended, and the summary is still to come. */
  readonly ended?: "completed" | "failed" | "interrupted";
}

/** One way to answer a permission request, with what the runtime is told then. */
export interface Choice {
  readonly option: ApprovalOption;
  readonly response: NativeObject;
}

/** A request of the runtime that is not resolved. */
export interface Asked {
  readonly requestId: string;
  readonly kind: "approval" | "questions" | "elicitation";
  readonly toolId?: string;
  readonly place: Place;
  readonly input: NativeObject;
  readonly choices: ReadonlyArray<Choice>;
  /** Ids of questions, with the text that the runtime knows them by. */
  readonly questions: ReadonlyArray<{ readonly id: string; readonly text: string }>;
  /** What we answered: an option, or "" for values. */
  readonly answered?: string;
}

export interface Turn {
  readonly id: string;
  /** Messages of people that it reads, by their uuid. */
  readonly uuids: ReadonlyArray<string>;
  /** We asked it to stop. */
  readonly isInterrupted: boolean;
  /** The refusal of the model service that the runtime shows as an answer. */
  readonly apiError?: NativeObject;
  /** Text items by the uuid of their frame: frames can be superseded. */
  readonly texts: ReadonlyMap<string, { readonly place: Place; readonly itemId: string }>;
}

/** A step of the to-do list, by its native id. */
export interface Todo {
  readonly text: string;
  readonly status: "pending" | "in_progress" | "completed";
}

export interface ClaudeState {
  readonly generation: number;
  readonly isResumed: boolean;
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly model?: string;
  readonly effort?: string;
  readonly mode?: string;
  readonly turn?: Turn;
  /** Messages we wrote, by uuid, with the input that each is. Forgotten when their turn is over. */
  readonly inputs: ReadonlyMap<string, string>;
  /** Written, and nothing shows yet that they began; without a uuid only in recordings. */
  readonly waiting: ReadonlyArray<{ readonly uuid?: string }>;
  /** Begun, and their turn is still to come. */
  readonly begun: ReadonlyArray<string>;
  /** Messages that we asked to be taken back. */
  readonly withdrawn: ReadonlySet<string>;
  /** Whether this runtime tells how inputs fare. */
  readonly hasLifecycle: boolean;
  /** Our control requests without a reply, by id. */
  readonly calls: ReadonlyMap<string, NativeObject>;
  readonly asked: ReadonlyMap<string, Asked>;
  /** By agent: "" is the root. */
  readonly messages: ReadonlyMap<string, StreamedMessage>;
  readonly tools: ReadonlyMap<string, OpenTool>;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly tasks: ReadonlyMap<string, Task>;
  readonly todos: ReadonlyMap<string, Todo>;
  /** Files that the agent read or wrote: writing another one creates it. The newest 1,000. */
  readonly files: ReadonlySet<string>;
  /** US dollars of the whole session so far; absent while unknown. */
  readonly cost?: number;
  readonly contextWindow?: number;
  /** Hooks that run, by native id, with the turn that they began in. */
  readonly hooks: ReadonlyMap<string, string | undefined>;
  /** When a used-up limit of the account ends, in seconds since 1970. */
  readonly limitedUntil?: number;
  /** What was told last, as JSON: told again only when it differs. */
  readonly told: Readonly<Record<string, string>>;
  /** Of the last frame: a frame that comes twice in a row is one. */
  readonly lastUuid?: string;
}

export const initialState = (session: {
  readonly generation: number;
  /** Defaults to: of a later generation. */
  readonly isResumed?: boolean;
}): ClaudeState => {
  const isResumed = session.isResumed ?? session.generation > 1;
  return {
    generation: session.generation,
    isResumed,
    inputs: new Map(),
    waiting: [],
    begun: [],
    withdrawn: new Set(),
    hasLifecycle: false,
    calls: new Map(),
    asked: new Map(),
    messages: new Map(),
    tools: new Map(),
    agents: new Map(),
    tasks: new Map(),
    todos: new Map(),
    files: new Set(),
    hooks: new Map(),
    told: {},
    ...(isResumed ? {} : { cost: 0 }),
  };
};

export const put = <V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> =>
  new Map(map).set(key, value);

export const drop = <V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> => {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
};

/** The set with one more, at most `limit` of the newest. */
export const remember = (set: ReadonlySet<string>, value: string, limit = 1000): ReadonlySet<string> => {
  if (set.has(value)) return set;
  const next = new Set(set).add(value);
  for (const oldest of next) {
    if (next.size <= limit) break;
    next.delete(oldest);
  }
  return next;
};

/** Says which input a message is, before it is written: the runtime knows messages by a uuid only. */
export const bindInput = (state: ClaudeState, uuid: string, inputId: string): ClaudeState => ({
  ...state,
  inputs: put(state.inputs, uuid, inputId),
});
