/**
 * What the translator remembers between frames: what is open, and nothing else. Plain immutable data; its size follows
 * open turns, items, requests and agents, never the length of the conversation.
 */
import type { RuntimeEventEnvelope } from "@tributary/contracts";
import type { NativeObject } from "../native.ts";

/** Where an event belongs: the ids that it carries. */
export type Place = Pick<RuntimeEventEnvelope, "turnId" | "agentPath" | "native">;

/** A request of ours that has no reply yet. */
export interface OwnCall {
  readonly method: string;
  /** Of `turn/start` and `turn/steer`: what was said, as `clientUserMessageId`. */
  readonly inputId?: string;
}

/** A request of Codex that is not resolved yet. */
export interface Asked {
  readonly requestId: string;
  readonly method: string;
  /** Where it was asked. */
  readonly place: Place;
  /** What each option of an approval is answered with. */
  readonly replies: Readonly<Record<string, NativeObject>>;
  /** Ids of questions whose answers must not be written (I16). */
  readonly secrets: ReadonlyArray<string>;
  /** What we replied: an option, or "" for values. */
  readonly answered?: string;
}

/** A native turn that runs: the root agent's, or a sub-agent's. */
export interface OpenTurn {
  readonly threadId: string;
  /** The turn of the root agent that this one belongs to; its own id for the root agent's. */
  readonly rootTurnId: string;
  readonly inputIds: ReadonlyArray<string>;
  /** Whether a message of a person was read in it. */
  readonly heard: boolean;
  /** How often a broken stream was tried again, and what broke it last. */
  readonly retries: number;
  readonly lastRetry?: unknown;
  /** The final `error`, which the end of the turn repeats. */
  readonly error?: NativeObject;
  /** The cumulative diff that was told last. */
  readonly diff?: string;
  readonly usage?: TurnUsage;
}

/** Tokens of a turn: totals of the thread now and before its first request. */
export interface TurnUsage {
  readonly before: NativeObject;
  readonly total: NativeObject;
  readonly last: NativeObject;
  readonly window?: number;
}

/** An item between `item/started` and `item/completed`. */
export interface OpenItem {
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  readonly type: string;
  /** As `item/started` gave it: approvals take command, folder and changes from here. */
  readonly native: NativeObject;
  /** Whether its output or reasoning streamed. */
  readonly streamed: boolean;
  /** The part of a reasoning that streamed last, by stream. */
  readonly part: Readonly<Record<string, number>>;
}

/** A sub-agent: a native thread of its own on the same connection. */
export interface Agent {
  readonly parentId: string;
  /** The call that spawned it. */
  readonly itemId?: string;
  readonly title?: string;
}

export interface CodexState {
  readonly generation: number;
  /** The native thread that this session is about. */
  readonly root?: string;
  readonly model?: string;
  readonly calls: ReadonlyMap<string, OwnCall>;
  readonly asked: ReadonlyMap<string, Asked>;
  /** By native turn id. */
  readonly turns: ReadonlyMap<string, OpenTurn>;
  /** Inputs whose `turn/start` was answered before `turn/started` came, by native turn id. */
  readonly announced: ReadonlyMap<string, ReadonlyArray<string>>;
  /** By `itemKey`. */
  readonly items: ReadonlyMap<string, OpenItem>;
  /** Commands that run on after their turn: item key → task id. */
  readonly background: ReadonlyMap<string, string>;
  /** Sub-agents by native thread id. */
  readonly agents: ReadonlyMap<string, Agent>;
  /** Turns of sub-agents that are over, for what comes late; forgotten when the root agent's next turn begins. */
  readonly endedChildTurns: ReadonlyMap<string, string>;
  /** Threads on this connection that are not part of this session: forks. */
  readonly foreign: ReadonlySet<string>;
  readonly servers: ReadonlyMap<string, NativeObject>;
}

export const initialState = ({ generation }: { readonly generation: number }): CodexState => ({
  generation,
  calls: new Map(),
  asked: new Map(),
  turns: new Map(),
  announced: new Map(),
  items: new Map(),
  background: new Map(),
  agents: new Map(),
  endedChildTurns: new Map(),
  foreign: new Set(),
  servers: new Map(),
});

export const put = <V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> =>
  new Map(map).set(key, value);

export const drop = <V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> => {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
};

export const itemKeyOf = (threadId: string, turnId: string, itemId: string): string =>
  `${threadId}/${turnId}/${itemId}`;

/** Native ids are numbers or strings: 1 and "1" are two. */
export const nativeKey = (id: unknown): string => JSON.stringify(id);
