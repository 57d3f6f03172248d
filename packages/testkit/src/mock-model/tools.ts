import { discoveryPrefix, resultsSinceLastUser, type Conversation, type Tool } from "./conversation.ts";
import { stringAt, type JsonObject } from "./json.ts";
import { addFilePatch, changeFilePatch } from "./patch.ts";
import type { Intent, PlanStep, Purpose, Question } from "./scenario.ts";
import { fill, itemsOf, listsOf, propertiesOf, propertyOf, requiredOf, typeOf } from "./schema.ts";

/** A call of one of the runtime's own tools: an object for a JSON tool, text for a freeform one. */
export interface ToolCall {
  readonly tool: Tool;
  readonly input: JsonObject | string;
  /** Part of the call's id: `find_` marks the lookup of deferred tools. */
  readonly idPrefix: string;
}

const commandNames = ["command", "cmd", "script"];
const pathNames = ["file_path", "path", "filePath", "absolute_path", "filename", "target_file"];
const contentNames = ["content", "contents", "file_text", "text"];
const beforeNames = ["old_string", "old_str", "oldString", "oldText"];
const afterNames = ["new_string", "new_str", "newString", "newText"];
const stepNames = ["step", "content", "text", "title", "description"];
const promptNames = ["prompt", "message", "task"];
const idListNames = ["targets", "ids", "agents"];

const named = (tool: Tool, pattern: RegExp): boolean => pattern.test(tool.name);
const isPatch = (tool: Tool): boolean =>
  tool.input === "freeform"
    ? (stringAt(tool.schema, "definition") ?? "").includes("*** Begin Patch")
    : tool.description.includes("*** Begin Patch");

/** The list property of a question tool: its elements offer options. */
const questionList = (tool: Tool): string | undefined =>
  listsOf(tool.schema).find((name) => listsOf(itemsOf(tool.schema, name)).length > 0);

/** The list property of a to-do tool: its elements have a status with a closed set of values. */
const planList = (tool: Tool): string | undefined =>
  listsOf(tool.schema).find((name) => {
    const status = propertiesOf(itemsOf(tool.schema, name))["status"];
    return typeOf(status) === "string" && propertyOf(itemsOf(tool.schema, name), "string", stepNames) !== undefined;
  });

const isTaskCreate = (tool: Tool): boolean =>
  propertyOf(tool.schema, "string", ["subject"]) !== undefined && requiredOf(tool.schema).includes("subject");
const isTaskUpdate = (tool: Tool): boolean =>
  requiredOf(tool.schema).includes("taskId") && "status" in propertiesOf(tool.schema);

/** What gives a tool away, by purpose: the shape of its arguments; its name only where the shape says nothing. */
const signs: Readonly<Record<Exclude<Purpose, "named">, (tool: Tool) => boolean>> = {
  shell: (tool) => {
    const array = propertyOf(tool.schema, "array", commandNames);
    const command = propertyOf(tool.schema, "string", commandNames) ?? array;
    const own = command !== undefined && requiredOf(tool.schema).includes(command);
    return (
      own && propertyOf(tool.schema, "string", [...pathNames, ...promptNames]) === undefined && !named(tool, /monitor/i)
    );
  },
  write: (tool) =>
    isPatch(tool) ||
    (propertyOf(tool.schema, "string", pathNames) !== undefined &&
      requiredOf(tool.schema).some((name) => contentNames.includes(name))),
  read: (tool) =>
    named(tool, /read/i) &&
    propertyOf(tool.schema, "string", pathNames) !== undefined &&
    requiredOf(tool.schema).every((name) => pathNames.includes(name)),
  edit: (tool) =>
    isPatch(tool) ||
    (propertyOf(tool.schema, "string", beforeNames) !== undefined &&
      propertyOf(tool.schema, "string", afterNames) !== undefined),
  question: (tool) => questionList(tool) !== undefined,
  plan: (tool) => planList(tool) !== undefined || isTaskCreate(tool),
  exit_plan: (tool) => named(tool, /^exit_?plan/i),
  subagent: (tool) =>
    named(tool, /agent|task/i) &&
    propertyOf(tool.schema, "string", promptNames) !== undefined &&
    !requiredOf(tool.schema).some((name) => !["description", ...promptNames, "subagent_type"].includes(name)),
  wait_subagent: (tool) => named(tool, /wait/i) && propertyOf(tool.schema, "array", idListNames) !== undefined,
};

/** The runtime's tool for a purpose, the first that fits. */
export const findTool = (tools: ReadonlyArray<Tool>, purpose: Exclude<Purpose, "named">): Tool | undefined =>
  tools.find((tool) => signs[purpose](tool));

/** Names that a deferred tool of that purpose has: of a deferred tool nothing but its name is known. */
const deferredNames: Readonly<Partial<Record<Purpose, RegExp>>> = {
  shell: /^bash$/i,
  write: /^write$/i,
  edit: /^edit$/i,
  question: /question/i,
  plan: /^(TaskCreate|TaskUpdate|TodoWrite)$/,
  exit_plan: /^exit_?plan/i,
  subagent: /^(agent|task)$/i,
};

const discoveryCall = (conversation: Conversation, intent: Intent): ToolCall | undefined => {
  const tool = conversation.tools.find(
    (candidate) => named(candidate, /tool_?search/i) && requiredOf(candidate.schema).includes("query"),
  );
  const names = conversation.deferred.filter((name) =>
    intent.purpose === "named" ? name === intent.tool : deferredNames[intent.purpose]?.test(name) === true,
  );
  if (tool === undefined || names.length === 0) return undefined;
  return { tool, input: fill(tool.schema, { query: `select:${names.join(",")}` }), idPrefix: discoveryPrefix };
};

const call = (tool: Tool, values: JsonObject): ToolCall => ({ tool, input: fill(tool.schema, values), idPrefix: "" });

/** The same value under every name that a schema may use for it. */
const under = (names: ReadonlyArray<string>, value: unknown): JsonObject =>
  Object.fromEntries(names.map((name) => [name, value]));

const shellCall = (tool: Tool, command: string): ToolCall => {
  const array = propertyOf(tool.schema, "array", commandNames);
  const value = array === undefined ? command : ["bash", "-lc", command];
  return call(tool, { ...under(commandNames, value), description: "Run a test command" });
};

const patchCall = (tool: Tool, patch: string): ToolCall => {
  if (tool.input === "freeform") return { tool, input: patch, idPrefix: "" };
  return call(tool, under(["input", "patch"], patch));
};

const questionCall = (tool: Tool, questions: ReadonlyArray<Question>): ToolCall => {
  const list = questionList(tool) ?? "questions";
  const element = itemsOf(tool.schema, list);
  const options = listsOf(element)[0] ?? "options";
  const filled = questions.map((question) =>
    fill(element, {
      ...under(["id"], question.id),
      ...under(["question", "text", "prompt"], question.text),
      ...under(["header", "title"], question.header),
      ...under(["multiSelect", "multiple", "multi_select"], question.multiple),
      [options]: question.options.map((option) => fill(itemsOf(element, options), option)),
    }),
  );
  return call(tool, { [list]: filled });
};

const planCalls = (conversation: Conversation, tool: Tool, intent: Intent & { purpose: "plan" }) => {
  const list = planList(tool);
  if (list === undefined) return taskCalls(conversation, tool, intent.steps, intent.previous);
  const element = itemsOf(tool.schema, list);
  const steps = intent.steps.map((step, index) =>
    fill(element, {
      ...under([...stepNames, "activeForm"], step.text),
      status: step.status,
      id: String(index + 1),
    }),
  );
  return [call(tool, { [list]: steps })];
};

/** To-do tools with one call a task: the first telling creates them, a later one updates what changed. */
const taskCalls = (
  conversation: Conversation,
  tool: Tool,
  steps: ReadonlyArray<PlanStep>,
  previous: ReadonlyArray<PlanStep> | undefined,
): ReadonlyArray<ToolCall> => {
  if (previous === undefined) {
    return steps.map((step) =>
      call(tool, { subject: step.text, description: step.text, activeForm: step.text, status: step.status }),
    );
  }
  const update = conversation.tools.find(isTaskUpdate);
  if (update === undefined) return [];
  const ids = resultsSinceLastUser(conversation).flatMap((result) => /#(\w+)/.exec(result)?.[1] ?? []);
  return steps.flatMap((step, index) =>
    step.status === previous[index]?.status
      ? []
      : [call(update, { taskId: ids[index] ?? String(index + 1), status: step.status })],
  );
};

const agentIds = (conversation: Conversation): ReadonlyArray<string> =>
  resultsSinceLastUser(conversation).flatMap((result) => /"agent_id"\s*:\s*"([^"]+)"/.exec(result)?.[1] ?? []);

/**
 * The calls that carry out an intent with the tools on offer: usually one; one that looks a deferred tool up first;
 * none where the runtime has no such tool.
 */
export const callsFor = (conversation: Conversation, intent: Intent): ReadonlyArray<ToolCall> => {
  const tool =
    intent.purpose === "named"
      ? conversation.tools.find((candidate) => candidate.name === intent.tool)
      : findTool(conversation.tools, intent.purpose);
  if (tool === undefined) {
    const lookup = discoveryCall(conversation, intent);
    return lookup === undefined ? [] : [lookup];
  }
  switch (intent.purpose) {
    case "shell":
      return [shellCall(tool, intent.command)];
    case "write":
      return isPatch(tool)
        ? [patchCall(tool, addFilePatch(intent.path, intent.content))]
        : [call(tool, { ...under(pathNames, intent.path), ...under(contentNames, intent.content) })];
    case "read":
      return [call(tool, under(pathNames, intent.path))];
    case "edit":
      return isPatch(tool)
        ? [patchCall(tool, changeFilePatch(intent.path, intent.before, intent.after))]
        : [
            call(tool, {
              ...under(pathNames, intent.path),
              ...under(beforeNames, intent.before),
              ...under(afterNames, intent.after),
            }),
          ];
    case "question":
      return [questionCall(tool, intent.questions)];
    case "plan":
      return planCalls(conversation, tool, intent);
    case "exit_plan":
      return [{ tool, input: { plan: intent.plan }, idPrefix: "" }];
    case "subagent":
      return [
        call(tool, {
          ...under(promptNames, intent.prompt),
          description: intent.title,
          subagent_type: "general-purpose",
          run_in_background: false,
        }),
      ];
    case "wait_subagent":
      return [call(tool, under(idListNames, agentIds(conversation)))];
    case "named":
      return [{ tool, input: inputFor(tool, intent.input), idPrefix: "" }];
  }
};

const inputFor = (tool: Tool, input: unknown): JsonObject | string => {
  if (tool.input === "freeform") return typeof input === "string" ? input : JSON.stringify(input);
  return typeof input === "object" && input !== null ? (input as JsonObject) : {};
};
