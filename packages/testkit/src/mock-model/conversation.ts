import type { JsonObject } from "./json.ts";

/** A tool as the runtime offered it in the request. */
export interface Tool {
  readonly name: string;
  /** Codex groups tools: a call must repeat the group's name. */
  readonly namespace?: string;
  readonly description: string;
  /** `json` takes an object described by `schema`; `freeform` takes plain text (a grammar tool). */
  readonly input: "json" | "freeform";
  /** The JSON schema of the arguments; for a freeform tool its format. */
  readonly schema: JsonObject;
}

/**
 * One thing that was said, in order. `notice` is what a runtime slips in as the user without a person having said
 * it (environment, reminders, "interrupted"): never the source of a marker.
 */
export type Entry =
  | { readonly kind: "user"; readonly text: string }
  | { readonly kind: "notice"; readonly text: string }
  | { readonly kind: "assistant"; readonly text: string }
  | { readonly kind: "call"; readonly id: string; readonly tool: string }
  | { readonly kind: "result"; readonly id: string; readonly text: string };

/** What a model request says, whatever its dialect. */
export interface Conversation {
  /** The name that the runtime itself gives the conversation, empty where it gives none. */
  readonly key: string;
  readonly model: string;
  readonly stream: boolean;
  readonly tools: ReadonlyArray<Tool>;
  /** Tools that are only named: the runtime wants them looked up through its discovery tool first. */
  readonly deferred: ReadonlyArray<string>;
  readonly entries: ReadonlyArray<Entry>;
}

/** The id prefix of calls that look up deferred tools: they belong to no step of a scenario. */
export const discoveryPrefix = "find_";

const reminder = /<system-reminder>[\s\S]*?<\/system-reminder>/g;
const oneElement = /^<([A-Za-z_][\w-]*)(?:\s[^>]*)?>[\s\S]*<\/\1>$/;
/** Said in the user's role by Claude Code itself: after an interrupt, and after a lookup of deferred tools. */
const ownWords = /^(?:\[Request interrupted by user[^\]]*\]|Tool loaded\.)$/;
/** Claude folds a message that arrives mid-turn into a reminder inside a tool result. */
const folded =
  /^<system-reminder>\s*The user sent a new message while you were working:\n([\s\S]*?)(?:\n\nThis is how Claude Code [^\n]*)?\s*<\/system-reminder>$/;

/**
 * Entries of one text that came in the user's role. Reminders and texts that are one XML element as a whole are the
 * runtime's, the rest is the person's.
 */
export const userEntries = (text: string): ReadonlyArray<Entry> => {
  const entries: Array<Entry> = [];
  for (const found of text.match(reminder) ?? []) {
    const message = folded.exec(found)?.[1];
    entries.push(message === undefined ? { kind: "notice", text: found } : { kind: "user", text: message });
  }
  const rest = text.replace(reminder, "").trim();
  if (rest === "") return entries;
  const injected = oneElement.test(rest) || ownWords.test(rest);
  entries.push(injected ? { kind: "notice", text: rest } : { kind: "user", text: rest });
  return entries;
};

/** Entries of a tool result: the result without reminders, then what was folded into it. */
export const resultEntries = (id: string, text: string): ReadonlyArray<Entry> => [
  { kind: "result", id, text: text.replace(reminder, "").trim() },
  ...(text.match(reminder) ?? []).flatMap((found) => userEntries(found)),
];

/** What the person said, oldest first. */
export const userMessages = (conversation: Conversation): ReadonlyArray<string> =>
  conversation.entries.flatMap((entry) => (entry.kind === "user" ? [entry.text] : []));

/** What followed the last user message. */
export const sinceLastUser = (conversation: Conversation): ReadonlyArray<Entry> =>
  conversation.entries.slice(conversation.entries.findLastIndex((entry) => entry.kind === "user") + 1);

/** The tool results that followed the last user message, lookups of deferred tools left out. */
export const resultsSinceLastUser = (conversation: Conversation): ReadonlyArray<string> =>
  sinceLastUser(conversation).flatMap((entry) =>
    entry.kind === "result" && !entry.id.includes(discoveryPrefix) ? [entry.text] : [],
  );

/**
 * How many model replies with tool calls were already carried out since the last user message: runs of results, so
 * that parallel calls count once. Lookups of deferred tools do not count.
 */
export const roundsSinceLastUser = (conversation: Conversation): number => {
  let rounds = 0;
  let inResults = false;
  for (const entry of sinceLastUser(conversation)) {
    if (entry.kind === "notice") continue;
    const isResult = entry.kind === "result" && !entry.id.includes(discoveryPrefix);
    if (isResult && !inResults) rounds += 1;
    inResults = isResult;
  }
  return rounds;
};

/** Whether the model already gave its final answer and the runtime asks again on its own (a background task ended). */
export const isAskedAgain = (conversation: Conversation): boolean => {
  const since = sinceLastUser(conversation);
  const lastSaid = since.findLast((entry) => entry.kind !== "notice");
  return since.at(-1)?.kind === "notice" && lastSaid?.kind === "assistant";
};

/** The file that Claude Code, in plan mode, wants the plan written to before it is proposed; named in a reminder. */
export const planFileOf = (conversation: Conversation): string | undefined =>
  conversation.entries
    .flatMap((entry) =>
      entry.kind === "notice" ? (/Plan File Info:\n[^\n]*?(\S+\.md)\b/.exec(entry.text)?.[1] ?? []) : [],
    )
    .at(-1);
