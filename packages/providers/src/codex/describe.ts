/** What items of Codex are in canonical words: a row for each type that is shown as an activity or as text. */
import type { ItemStatus, ItemType, RuntimePayloads } from "@tributary/contracts";
import {
  asInt,
  asList,
  asObject,
  asObjects,
  asText,
  asTexts,
  asWords,
  defined,
  rowOf,
  titleOf,
  type NativeObject,
} from "../native.ts";
import { changesOf, changesTitle } from "./changes.ts";

type Fields = Omit<RuntimePayloads["item.started"], "status" | "text">;

const statuses: Readonly<Record<string, ItemStatus>> = {
  inProgress: "in_progress",
  completed: "completed",
  failed: "failed",
  declined: "declined",
  interrupted: "interrupted",
};

export const statusOf = (native: unknown): ItemStatus | undefined => {
  return rowOf(statuses, asText(native) ?? "");
};

/**
 * The command as the model wrote it: Codex wraps it into a shell and takes it apart again in `commandActions`, which is
 * only trusted where it is a single piece.
 */
export const commandTitle = (item: NativeObject): string | undefined => {
  const actions = asObjects(item["commandActions"]);
  const single = actions.length === 1 ? asWords(actions[0]?.["command"]) : undefined;
  const command = single ?? asWords(item["command"]);
  return command === undefined ? undefined : titleOf(command);
};

const command = (item: NativeObject): Fields => {
  const locations = asObjects(item["commandActions"]).flatMap((action) => {
    const path = asWords(action["path"]);
    return path === undefined ? [] : [{ path }];
  });
  return {
    itemType: "command",
    input: defined({ command: asText(item["command"]), cwd: asText(item["cwd"]) }),
    ...defined({ title: commandTitle(item), exitCode: asInt(item["exitCode"]) }),
    ...(locations.length > 0 ? { locations } : {}),
  };
};

const fileChange = (item: NativeObject): Fields => {
  const changes = changesOf(item["changes"]);
  return { itemType: "file_change", changes, ...defined({ title: changesTitle(changes) }) };
};

const mcpToolCall = (item: NativeObject): Fields => {
  const error = asWords(asObject(item["error"])?.["message"]);
  return {
    itemType: "mcp_tool",
    title: [item["server"], item["tool"]].flatMap((part) => asWords(part) ?? []).join(": "),
    ...defined({ input: item["arguments"], detail: error, output: asObject(item["result"]) }),
  };
};

const dynamicToolCall = (item: NativeObject): Fields => ({
  itemType: "tool",
  ...defined({
    title: asWords(item["tool"]),
    input: item["arguments"],
    output: asList(item["contentItems"]).length > 0 ? item["contentItems"] : undefined,
  }),
});

/** Names of what one agent does with others. */
const collabTitles: Readonly<Record<string, string>> = {
  spawnAgent: "Start an agent",
  sendInput: "Write to an agent",
  sendMessage: "Write to an agent",
  followupTask: "Give an agent more to do",
  resumeAgent: "Resume an agent",
  wait: "Wait for agents",
  closeAgent: "Close an agent",
  interruptAgent: "Interrupt an agent",
  listAgents: "List agents",
};

const collab = (item: NativeObject): Fields => {
  const tool = asWords(item["tool"]);
  const agents = asTexts(item["receiverThreadIds"]);
  const states = asObject(item["agentsStates"]);
  return {
    itemType: "tool",
    title: (tool === undefined ? undefined : rowOf(collabTitles, tool)) ?? tool ?? "agents",
    input: defined({
      tool,
      prompt: asWords(item["prompt"]),
      model: asWords(item["model"]),
      agents: agents.length > 0 ? agents : undefined,
    }),
    ...(states !== undefined && Object.keys(states).length > 0 ? { output: states } : {}),
  };
};

const webSearch = (item: NativeObject): Fields => {
  const results = asList(item["results"]);
  return {
    itemType: "web",
    ...defined({
      title: asWords(item["query"]),
      input: asObject(item["action"]),
      output: results.length > 0 ? results : undefined,
    }),
  };
};

const imageView = (item: NativeObject): Fields => {
  const path = asWords(item["path"]);
  return { itemType: "image", ...(path === undefined ? {} : { title: path, locations: [{ path }] }) };
};

const imageGeneration = (item: NativeObject): Fields => {
  const path = asWords(item["savedPath"]);
  return {
    itemType: "image",
    title: asWords(item["revisedPrompt"]) ?? "Generate an image",
    ...(path === undefined ? {} : { locations: [{ path }] }),
  };
};

const named =
  (itemType: ItemType, title: string, detail?: string) =>
  (item: NativeObject): Fields => ({
    itemType,
    title,
    ...defined({ detail: detail === undefined ? undefined : asWords(item[detail]) }),
  });

const functionOutput = (item: NativeObject): Fields => ({
  itemType: "tool",
  ...defined({ title: asWords(item["name"]), output: item["output"] ?? undefined }),
});

const hookPrompt = (item: NativeObject): Fields => ({
  itemType: "hook",
  title: "Prompt of a hook",
  ...defined({ output: asList(item["fragments"]).length > 0 ? item["fragments"] : undefined }),
});

/** By the `type` of the item. What is not here is unknown, or has a handler of its own in `items.ts`. */
export const describers: Readonly<Record<string, (item: NativeObject) => Fields>> = {
  agentMessage: () => ({ itemType: "assistant_message" }),
  reasoning: () => ({ itemType: "reasoning" }),
  commandExecution: command,
  fileChange,
  mcpToolCall,
  dynamicToolCall,
  collabAgentToolCall: collab,
  webSearch,
  imageView,
  imageGeneration,
  functionCallOutput: functionOutput,
  hookPrompt,
  sleep: named("tool", "Sleep"),
  enteredReviewMode: named("review", "Review begins", "review"),
  exitedReviewMode: named("review", "Review", "review"),
};
