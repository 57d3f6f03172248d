/** Results of tool calls: they come in frames of the user's role. */
import type { ItemStatus, RuntimePayloads } from "@tributary/contracts";
import {
  asId,
  asInstant,
  asInt,
  asList,
  asObject,
  asObjects,
  asText,
  defined,
  eventId,
  type NativeObject,
} from "../native.ts";
import { madeChanges, pathOf } from "./changes.ts";
import { itemTypeOf } from "./describe.ts";
import { ensurePlace, objectIn } from "./place.ts";
import { settleByResult } from "./replies.ts";
import { nothing, type Said, say, andThen } from "./said.ts";
import { type ClaudeState, drop, type OpenTool, remember } from "./state.ts";
import { endImplicitTask } from "./tasks.ts";
import { planFromResult } from "./todos.ts";

type Completed = RuntimePayloads["item.completed"];

/** One result with what the frame says about it besides. */
interface Result {
  readonly toolId: string;
  readonly isError: boolean;
  readonly content: unknown;
  /** The tool's own output, where the frame has it: an object, or words about a failure. */
  readonly structured: unknown;
  readonly meta: NativeObject;
  readonly at?: string;
}

/** Text for people: images and files are named, not shown. */
const textOf = (content: unknown): string | undefined => {
  if (typeof content === "string") return content;
  const parts = asList(content).flatMap((part) => {
    const block = asObject(part);
    const text = asText(block?.["text"]);
    if (text !== undefined) return [text];
    const type = asText(block?.["type"]);
    return type === undefined || type === "tool_reference" ? [] : [`[${type}]`];
  });
  return parts.length === 0 ? undefined : parts.join("\n");
};

/** Said by the runtime when an interrupt stops a call, and when a person refuses one. */
const refusal = /^The user doesn't want to (proceed|take this action)/;
const refused = /^The user doesn't want to (proceed|take this action)[\s\S]*$/;

const statusOf = (state: ClaudeState, tool: OpenTool | undefined, result: Result): ItemStatus => {
  if (!result.isError) return "completed";
  const decision = objectIn(result.meta, "permission_decision")["decision"];
  if (decision === "reject" || tool?.denied === true) return "declined";
  const kind = result.meta["non_execution_kind"];
  if (kind === "permission-rule") return "declined";
  if (kind === "user-rejected") return "interrupted";
  if (decision === undefined && kind === undefined && refusal.test(textOf(result.content) ?? ""))
    return state.turn?.isInterrupted === true ? "interrupted" : "declined";
  return "failed";
};

const exitCodeOf = (name: string, { isError, content }: Result): number | undefined => {
  if (itemTypeOf(name) !== "command" || !isError) return undefined;
  const code = /^(?:Error: )?Exit code (\d+)/.exec(textOf(content) ?? "")?.[1];
  return code === undefined ? undefined : asInt(Number(code));
};

/** What the runtime says to the model where nothing came out. */
const noOutput = /^\((?:Bash|PowerShell) completed with no output\)$/;
/** What the runtime puts before a sub-agent's report. */
const toolsUsed = /^\s*<tools-used-before-summary>[\s\S]*?<\/tools-used-before-summary>\s*/;

const printed = ({ content, structured }: Result): string | undefined => {
  const object = asObject(structured);
  const stdout = asText(object?.["stdout"]);
  if (stdout === undefined || object?.["backgroundTaskId"] !== undefined) return textOf(content);
  return [stdout, asText(object?.["stderr"]) ?? ""].filter((text) => text !== "").join("\n");
};

/** What came out, as far as it says more than the item does. */
const outputOf = (name: string, status: ItemStatus, result: Result): string | undefined => {
  const { content, structured } = result;
  // Words for the model about a refusal or an interrupt say nothing to people; a person's own reason does.
  if (status !== "completed") return textOf(content)?.replace(refused, "") || undefined;
  switch (itemTypeOf(name)) {
    case "file_change":
      return undefined;
    case "command": {
      const text = printed(result);
      return text === undefined || text === "" || noOutput.test(text) ? undefined : text;
    }
    default:
      // The report of a sub-agent without the frame that the runtime puts around it for the model.
      return name === "Agent" || name === "Task"
        ? (textOf(asObject(structured)?.["content"]) ?? textOf(content))?.replace(toolsUsed, "")
        : textOf(content);
  }
};

const completed = (state: ClaudeState, name: string, tool: OpenTool | undefined, result: Result): Completed => {
  const status = statusOf(state, tool, result);
  const object = asObject(result.structured);
  const changes = object === undefined || status !== "completed" ? [] : madeChanges(state, name, object);
  return {
    itemType: itemTypeOf(name),
    status,
    ...defined({ exitCode: exitCodeOf(name, result), output: outputOf(name, status, result) }),
    ...(changes.length > 0 ? { changes } : {}),
  };
};

const onResult = (state: ClaudeState, place: OpenTool["place"], result: Result): Said => {
  const { toolId, at } = result;
  const tool = state.tools.get(toolId);
  const name = tool?.name ?? "";
  const event = say(
    "item.completed",
    { ...eventId(toolId, "completed"), ...(tool?.place ?? place), itemId: toolId, ...defined({ at }) },
    completed(state, name, tool, result),
  );
  const object = asObject(result.structured) ?? {};
  const path = result.isError ? undefined : pathOf(state, object);
  const next: ClaudeState = {
    ...state,
    tools: drop(state.tools, toolId),
    ...(path === undefined ? {} : { files: remember(state.files, path) }),
  };
  const done: Said = { state: next, events: [event] };
  const planned =
    tool === undefined || result.isError
      ? done
      : andThen(done, (now) => planFromResult(now, { toolId, ...tool }, object));
  // An answer comes before what it led to.
  const settled = settleByResult(planned.state, toolId);
  const all: Said = { state: settled.state, events: [...settled.events, ...planned.events] };
  return andThen(all, (now) => endImplicitTask(now, toolId, result.isError));
};

/** A frame of the user's role: results; all else in it is the runtime's own words, or what a person said. */
export const onToolResults = (state: ClaudeState, frame: NativeObject): Said => {
  const blocks = asObjects(objectIn(frame, "message")["content"]).filter((block) => block["type"] === "tool_result");
  if (blocks.length === 0) return nothing(state);
  const { said, place } = ensurePlace(state, frame);
  const metas = asObjects(frame["tool_result_meta"]);
  const at = asInstant(Date.parse(asText(frame["timestamp"]) ?? ""));
  let all = said;
  for (const block of blocks) {
    const toolId = asId(block["tool_use_id"]);
    if (toolId === undefined) continue;
    const result: Result = {
      toolId,
      isError: block["is_error"] === true,
      content: block["content"],
      // One structured output a frame: it belongs to the only result.
      structured: blocks.length === 1 ? frame["tool_use_result"] : undefined,
      meta: metas.find((meta) => meta["id"] === toolId) ?? {},
      ...defined({ at }),
    };
    all = andThen(all, (now) => onResult(now, place, result));
  }
  return all;
};

/** The result of a tool that the model service ran itself, inside an assistant message. */
export const onServerToolResult = (state: ClaudeState, block: NativeObject): Said => {
  const toolId = asId(block["tool_use_id"]);
  const tool = toolId === undefined ? undefined : state.tools.get(toolId);
  if (toolId === undefined || tool === undefined) return nothing(state);
  const { content } = block;
  const isError = asText(asObject(content)?.["type"])?.endsWith("_error") === true;
  return onResult(state, tool.place, { toolId, isError, content, structured: undefined, meta: {} });
};
