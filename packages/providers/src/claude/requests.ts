/** What the runtime asks of a person: permissions, its question tool, and questions of MCP servers. */
import type { ApprovalAction, ApprovalSubject, Question, RuntimePayloads } from "@tributary/contracts";
import { asId, asObject, asObjects, asText, asWords, defined, eventId, shorten, type NativeObject } from "../native.ts";
import { intendedChanges, isFileTool, pathOf } from "./changes.ts";
import { describe, itemTypeOf } from "./describe.ts";
import { approvalChoices, planChoices } from "./options.ts";
import { insideAgent, objectIn, toolPlace } from "./place.ts";
import { type Said, say } from "./said.ts";
import { type Asked, type ClaudeState, type Place, put } from "./state.ts";

type Opened = RuntimePayloads["request.opened"];

interface Opening {
  readonly fields: Opened;
  readonly asked: Pick<Asked, "kind" | "choices" | "questions">;
  /** Said before the request. */
  readonly before?: Said["events"];
}

const actions: Readonly<Record<string, ApprovalAction>> = {
  command: "command",
  file_read: "file_read",
  search: "file_read",
  file_change: "file_change",
  web: "network",
  mcp_tool: "mcp_tool",
};

/** Runtimes colour their reasons for terminals. */
// oxlint-disable-next-line no-control-regex
const plain = (text: string): string => text.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, "");

const subjectOf = (state: ClaudeState, name: string, input: NativeObject): ApprovalSubject => {
  const command = itemTypeOf(name) === "command" ? asText(input["command"]) : undefined;
  const path = pathOf(state, input);
  const changes = isFileTool(name) ? intendedChanges(state, name, input) : [];
  const isWhole = command !== undefined || (changes.length > 0 && changes.every(({ diff }) => diff !== undefined));
  return {
    tool: name,
    ...defined({ command, url: asWords(input["url"]), cwd: command === undefined ? undefined : state.cwd }),
    ...(path === undefined ? {} : { paths: [path] }),
    ...(changes.length > 0 ? { changes } : {}),
    ...(isWhole ? {} : { input }),
  };
};

const titleOf = (state: ClaudeState, name: string, request: NativeObject, input: NativeObject): string => {
  const own = asWords(request["title"]);
  const displayName = asText(request["display_name"]);
  const said = own ?? describe(state, { name, input, ...defined({ displayName }) }).title ?? name;
  const reason = asWords(request["decision_reason"]);
  return shorten(reason === undefined ? said : `${said} (${plain(reason)})`, 500);
};

const askApproval = (state: ClaudeState, name: string, request: NativeObject, input: NativeObject): Opening => {
  const suggestions =
    request["suppress_always_allow_rule"] === true ? [] : asObjects(request["permission_suggestions"]);
  const choices = approvalChoices(suggestions);
  return {
    fields: {
      kind: "approval",
      blocking: true,
      action: actions[itemTypeOf(name)] ?? "tool",
      title: titleOf(state, name, request, input),
      subject: subjectOf(state, name, input),
      options: choices.map(({ option }) => option),
    },
    asked: { kind: "approval", choices, questions: [] },
  };
};

/** Leaving plan mode shows the plan itself besides. */
const askPlan = (toolId: string | undefined, place: Place, input: NativeObject): Opening => {
  const markdown = asWords(input["plan"]);
  const before =
    markdown === undefined || toolId === undefined
      ? []
      : [
          say(
            "proposed_plan.completed",
            { ...eventId(toolId, "proposed"), ...place, itemId: toolId },
            { planId: toolId, markdown },
          ),
        ];
  return {
    fields: {
      kind: "approval",
      blocking: true,
      action: "plan_exit",
      title: "Leave plan mode and carry out the plan",
      subject: { tool: "ExitPlanMode", input },
      options: planChoices.map(({ option }) => option),
    },
    asked: { kind: "approval", choices: planChoices, questions: [] },
    before,
  };
};

const questionOf = (native: NativeObject, index: number): Question => ({
  id: `q${index + 1}`,
  text: asText(native["question"]) ?? "",
  options: asObjects(native["options"]).flatMap((option) => {
    const label = asText(option["label"]);
    return label === undefined ? [] : [{ label, ...defined({ description: asWords(option["description"]) }) }];
  }),
  multiple: native["multiSelect"] === true,
  // "Other" is always offered by the runtime's own dialog.
  freeText: true,
  ...defined({ header: asWords(native["header"]) }),
});

/** Several questions at once; the runtime knows each by its text. */
const askQuestions = (input: NativeObject): Opening | undefined => {
  const questions = asObjects(input["questions"]).map(questionOf);
  if (questions.length === 0) return undefined;
  return {
    fields: { kind: "user_input", blocking: true, questions },
    asked: { kind: "questions", choices: [], questions: questions.map(({ id, text }) => ({ id, text })) },
  };
};

const askTool = (state: ClaudeState, request: NativeObject, place: Place): Opening => {
  const name = asText(request["tool_name"]) ?? "";
  const input = objectIn(request, "input");
  if (name === "ExitPlanMode") return askPlan(asId(request["tool_use_id"]), place, input);
  const questions = name === "AskUserQuestion" ? askQuestions(input) : undefined;
  return questions ?? askApproval(state, name, request, input);
};

/** A question of an MCP server: a form of flat fields, or an address to visit. */
const askElicitation = (request: NativeObject): Opening => {
  const url = asWords(request["url"]);
  const form = asObject(request["requested_schema"]);
  const server = asWords(request["mcp_server_name"]);
  const message = asWords(request["title"]) ?? asWords(request["message"]) ?? "A tool asks something";
  return {
    fields: {
      kind: "user_input",
      blocking: true,
      title: shorten(server === undefined ? message : `${server}: ${message}`, 500),
      ...(url === undefined ? {} : { url }),
      ...(form === undefined || url !== undefined ? {} : { form }),
    },
    asked: { kind: "elicitation", choices: [], questions: [] },
  };
};

/** The agent that asks: by its call, else by the task that the runtime names. */
const askingPlace = (state: ClaudeState, request: NativeObject): Place => {
  const toolId = asId(request["tool_use_id"]);
  if (toolId !== undefined && state.tools.has(toolId)) return toolPlace(state, toolId);
  const task = asId(request["agent_id"]);
  const spawned = task === undefined ? undefined : state.tasks.get(task)?.toolId;
  const agent = spawned === undefined ? undefined : state.agents.get(spawned);
  return agent === undefined ? toolPlace(state, undefined) : insideAgent(agent);
};

/** Requests that people answer. All others the adapter answers itself. */
export const askedSubtypes: ReadonlySet<string> = new Set(["can_use_tool", "elicitation"]);

export const onAsked = (state: ClaudeState, requestId: string, request: NativeObject): Said => {
  const place = askingPlace(state, request);
  const toolId = asId(request["tool_use_id"]);
  const isTool = request["subtype"] === "can_use_tool";
  const { fields, asked, before } = isTool ? askTool(state, request, place) : askElicitation(request);
  const open: Asked = { requestId, place, input: objectIn(request, "input"), ...asked, ...defined({ toolId }) };
  const ext = extOf(request);
  return {
    state: { ...state, asked: put(state.asked, requestId, open) },
    events: [
      ...(before ?? []),
      say(
        "request.opened",
        { ...eventId(requestId, "opened"), requestId, ...place, ...defined({ itemId: toolId, ext }) },
        fields,
      ),
    ],
  };
};

/** Why the runtime asks, in its own terms. */
const extOf = (request: NativeObject) => {
  const said = defined({
    decisionReasonType: asWords(request["decision_reason_type"]),
    blockedPath: asWords(request["blocked_path"]),
    defaultToNo: request["default_to_no"] === true ? true : undefined,
  });
  return Object.keys(said).length === 0 || JSON.stringify(said).length > 2000 ? undefined : { claude: said };
};
