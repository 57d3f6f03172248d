/** What a tool call is for people, by the tool's name. */
import type { ItemType, RuntimePayloads } from "@tributary/contracts";
import { asCount, asText, asWords, defined, shorten, titleOf, type NativeObject } from "../native.ts";
import { intendedChanges, isFileTool, pathOf } from "./changes.ts";
import type { ClaudeState } from "./state.ts";

/** The fields of an item that its call says. */
export type Described = Omit<RuntimePayloads["item.started"], "status" | "output" | "text" | "exitCode">;

interface Call {
  readonly name: string;
  readonly input: NativeObject;
  readonly displayName?: string;
}

type Describer = (state: ClaudeState, call: Call) => Omit<Described, "itemType" | "input">;

/** A path as people name it: inside the working folder without that folder. */
export const shortPath = ({ cwd }: ClaudeState, path: string): string =>
  cwd !== undefined && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;

const named = (verb: string, what: string | undefined): { readonly title: string } => ({
  title: what === undefined ? verb.replace(/:$/, "") : shorten(`${verb} ${what}`, 200),
});

const commandTitle = (input: NativeObject): { readonly title?: string; readonly detail?: string } =>
  defined({ title: titleOf(asText(input["command"]) ?? ""), detail: asWords(input["description"]) });

const ofFile =
  (verb: string): Describer =>
  (state, { input }) => {
    const path = pathOf(state, input);
    const line = asCount(input["offset"]);
    return {
      ...named(verb, path === undefined ? undefined : shortPath(state, path)),
      ...(path === undefined ? {} : { locations: [{ path, ...defined({ line }) }] }),
    };
  };

const ofField =
  (verb: string, field: string): Describer =>
  (_, { input }) =>
    named(verb, titleOf(asText(input[field]) ?? ""));

const kinds: Readonly<Record<string, readonly [ItemType, Describer]>> = {
  Bash: ["command", (_, { input }) => commandTitle(input)],
  PowerShell: ["command", (_, { input }) => commandTitle(input)],
  Monitor: ["command", (_, { input }) => commandTitle(input)],
  Read: ["file_read", ofFile("Read")],
  Write: ["file_change", ofFile("Write")],
  Edit: ["file_change", ofFile("Edit")],
  MultiEdit: ["file_change", ofFile("Edit")],
  NotebookEdit: ["file_change", ofFile("Edit")],
  LS: ["search", ofFile("List")],
  Glob: ["search", ofField("Find", "pattern")],
  Grep: ["search", ofField("Search for", "pattern")],
  WebFetch: ["web", ofField("Fetch", "url")],
  WebSearch: ["web", ofField("Search the web for", "query")],
  // Web search that the model service itself runs.
  web_search: ["web", ofField("Search the web for", "query")],
  Agent: ["tool", ofField("Sub-agent:", "description")],
  Task: ["tool", ofField("Sub-agent:", "description")],
  AskUserQuestion: ["tool", () => named("Ask", undefined)],
  EnterPlanMode: ["tool", () => named("Begin planning", undefined)],
  ExitPlanMode: ["tool", () => named("Propose the plan", undefined)],
  TaskCreate: ["tool", ofField("New step:", "subject")],
  TaskUpdate: ["tool", () => named("Update the steps", undefined)],
  TaskList: ["tool", () => named("Read the steps", undefined)],
  TaskGet: ["tool", () => named("Read a step", undefined)],
  TodoWrite: ["tool", () => named("Update the steps", undefined)],
  ToolSearch: ["tool", ofField("Look up tools", "query")],
  Skill: ["tool", ofField("Skill", "skill")],
};

/** `mcp__<server>__<tool>`. */
const mcpName = /^mcp__(.+?)__(.+)$/;

export const itemTypeOf = (name: string): ItemType =>
  (Object.hasOwn(kinds, name) ? kinds[name]?.[0] : undefined) ?? (mcpName.test(name) ? "mcp_tool" : "tool");

const describeMcp: Describer = (_, { name, displayName }) => {
  const [, server = "", tool = ""] = mcpName.exec(name) ?? [];
  return named(`${server}:`, displayName ?? tool);
};

/** What the call says: its kind, a title, what it touches. The input of a file tool is in its changes. */
export const describe = (state: ClaudeState, call: Call): Described => {
  const itemType = itemTypeOf(call.name);
  const describer = Object.hasOwn(kinds, call.name) ? kinds[call.name]?.[1] : undefined;
  const said = describer ?? (itemType === "mcp_tool" ? describeMcp : () => named(call.name, undefined));
  const changes = isFileTool(call.name) ? intendedChanges(state, call.name, call.input) : [];
  const hasDiff = changes.length > 0 && changes.every(({ diff }) => diff !== undefined);
  return {
    itemType,
    ...said(state, call),
    ...(changes.length > 0 ? { changes } : {}),
    ...(hasDiff || Object.keys(call.input).length === 0 ? {} : { input: call.input }),
  };
};
