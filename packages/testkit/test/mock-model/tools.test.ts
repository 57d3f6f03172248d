import { describe, expect, it } from "vitest";
import type { Conversation, Entry } from "../../src/mock-model/conversation.ts";
import { messages } from "../../src/mock-model/dialects/messages.ts";
import { responses } from "../../src/mock-model/dialects/responses.ts";
import { isObject, objectAt, type JsonObject } from "../../src/mock-model/json.ts";
import type { Intent } from "../../src/mock-model/scenario.ts";
import { mockQuestion, planStages } from "../../src/mock-model/scenarios.ts";
import { propertiesOf, requiredOf } from "../../src/mock-model/schema.ts";
import { callsFor, type ToolCall } from "../../src/mock-model/tools.ts";
import { claudeDeferredTools, claudeTools, codexTools } from "./offers.ts";

const with_ = (conversation: Conversation, ...entries: ReadonlyArray<Entry>): Conversation => ({
  ...conversation,
  entries,
});
const codex = responses.read({ tools: codexTools });
const claude = messages.read({ tools: claudeTools });
const loaded = messages.read({ tools: [...claudeTools, ...claudeDeferredTools] });
const only = (tool: JsonObject): Conversation => messages.read({ tools: [tool] });

const summary = (calls: ReadonlyArray<ToolCall>) => calls.map(({ tool, input }) => [tool.name, input]);
const calls = (conversation: Conversation, intent: Intent) => summary(callsFor(conversation, intent));

const intents: ReadonlyArray<Intent> = [
  { purpose: "shell", command: "echo hi" },
  { purpose: "write", path: "a.txt", content: "one\ntwo\n" },
  { purpose: "edit", path: "a.txt", before: "one\n", after: "two\n" },
  { purpose: "question", questions: [mockQuestion] },
  { purpose: "plan", steps: planStages[0] },
  { purpose: "subagent", title: "A task", prompt: "[[text]]" },
];

describe("Codex 0.171's tools", () => {
  it("are found by purpose", () => {
    expect(intents.map((intent) => calls(codex, intent)[0]?.[0])).toEqual([
      "exec_command",
      "apply_patch",
      "apply_patch",
      "request_user_input",
      "update_plan",
      "spawn_agent",
    ]);
  });

  it("get arguments in their own words", () => {
    expect(calls(codex, { purpose: "shell", command: "echo hi" })).toEqual([["exec_command", { cmd: "echo hi" }]]);
    expect(calls(codex, { purpose: "write", path: "a.txt", content: "one\ntwo\n" })).toEqual([
      ["apply_patch", "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch\n"],
    ]);
    expect(calls(codex, { purpose: "edit", path: "a.txt", before: "one\n", after: "two\n" })).toEqual([
      ["apply_patch", "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n"],
    ]);
    const { multiple: _, text: question, ...rest } = mockQuestion;
    expect(calls(codex, { purpose: "question", questions: [mockQuestion] })).toEqual([
      ["request_user_input", { questions: [{ ...rest, question }] }],
    ]);
    expect(calls(codex, { purpose: "plan", steps: planStages[0] })).toEqual([
      ["update_plan", { plan: planStages[0].map(({ text, status }) => ({ step: text, status })) }],
    ]);
  });

  it("wait for the sub-agent that was spawned", () => {
    const spawned = with_(codex, { kind: "user", text: "x" }, { kind: "result", id: "c", text: '{"agent_id":"a-1"}' });
    expect(calls(spawned, { purpose: "wait_subagent" })).toEqual([["wait_agent", { targets: ["a-1"] }]]);
    expect(callsFor(codex, { purpose: "wait_subagent" })[0]?.tool.namespace).toBe("multi_agent_v1");
  });
});

describe("Claude Code 2.1.332's tools", () => {
  it("are found by purpose", () => {
    expect(intents.map((intent) => calls(loaded, intent)[0]?.[0])).toEqual([
      "Bash",
      "Write",
      "Edit",
      "AskUserQuestion",
      "TaskCreate",
      "Agent",
    ]);
  });

  it("get arguments in their own words", () => {
    expect(calls(claude, { purpose: "shell", command: "ls" })).toEqual([
      ["Bash", { command: "ls", description: "Run a test command" }],
    ]);
    expect(calls(claude, { purpose: "write", path: "/a", content: "x" })).toEqual([
      ["Write", { file_path: "/a", content: "x" }],
    ]);
    expect(calls(claude, { purpose: "edit", path: "/a", before: "x", after: "y" })).toEqual([
      ["Edit", { file_path: "/a", old_string: "x", new_string: "y" }],
    ]);
    const { header, text: question, options } = mockQuestion;
    expect(calls(claude, { purpose: "question", questions: [mockQuestion] })).toEqual([
      ["AskUserQuestion", { questions: [{ header, question, options, multiSelect: false }] }],
    ]);
  });

  it("tell a to-do list as tasks: first created, then updated by their numbers", () => {
    const created = calls(loaded, { purpose: "plan", steps: planStages[0] });
    expect(created.map(([name]) => name)).toEqual(["TaskCreate", "TaskCreate", "TaskCreate"]);
    const results = [7, 8, 9].map((id): Entry => ({
      kind: "result",
      id: "c",
      text: `Task #${id} created successfully`,
    }));
    const after = with_(loaded, { kind: "user", text: "x" }, ...results);
    expect(calls(after, { purpose: "plan", steps: planStages[1], previous: planStages[0] })).toEqual([
      ["TaskUpdate", { taskId: "7", status: "completed" }],
      ["TaskUpdate", { taskId: "8", status: "in_progress" }],
    ]);
  });

  it("are looked up first where they are only named", () => {
    const named: Conversation = { ...claude, deferred: ["ExitPlanMode", "TaskCreate", "TaskUpdate", "WebFetch"] };
    expect(calls(named, { purpose: "plan", steps: planStages[0] })).toEqual([
      ["ToolSearch", { query: "select:TaskCreate,TaskUpdate" }],
    ]);
    expect(calls(named, { purpose: "exit_plan", plan: "p" })).toEqual([
      ["ToolSearch", { query: "select:ExitPlanMode" }],
    ]);
    expect(callsFor(claude, { purpose: "plan", steps: planStages[0] })).toEqual([]);
  });
});

describe("tools of other shapes", () => {
  it("a shell that takes a list", () => {
    const tool = {
      name: "shell",
      input_schema: {
        type: "object",
        properties: { command: { type: "array", items: { type: "string" } }, timeout_ms: { type: "number" } },
        required: ["command"],
      },
    };
    expect(calls(only(tool), { purpose: "shell", command: "ls" })).toEqual([
      ["shell", { command: ["bash", "-lc", "ls"] }],
    ]);
  });

  it("a to-do tool that takes the whole list, with required extras filled in", () => {
    const element = {
      type: "object",
      properties: {
        content: { type: "string" },
        status: { type: "string", enum: ["pending", "in_progress", "completed"] },
        activeForm: { type: "string" },
        priority: { type: "string", enum: ["high", "low"] },
      },
      required: ["content", "status", "activeForm", "priority"],
    };
    const tool = {
      name: "TodoWrite",
      input_schema: { type: "object", properties: { todos: { type: "array", items: element } }, required: ["todos"] },
    };
    const todos = planStages[0].map(({ text, status }) => ({
      content: text,
      status,
      activeForm: text,
      priority: "high",
    }));
    expect(calls(only(tool), { purpose: "plan", steps: planStages[0] })).toEqual([["TodoWrite", { todos }]]);
  });
});

/** Only what the calls here use of JSON schema: known properties, required ones, all the way down. */
const misfits = (schema: JsonObject, value: unknown, at = "$"): ReadonlyArray<string> => {
  if (Array.isArray(value)) {
    const items = objectAt(schema, "items") ?? {};
    return value.flatMap((each, index) => misfits(items, each, `${at}[${index}]`));
  }
  if (!isObject(value)) return [];
  const properties = propertiesOf(schema);
  const missing = requiredOf(schema)
    .filter((name) => !(name in value))
    .map((name) => `${at}.${name} is missing`);
  const inside = Object.entries(value).flatMap(([name, each]) => {
    const property = properties[name];
    return isObject(property) ? misfits(property, each, `${at}.${name}`) : [`${at}.${name} is unknown`];
  });
  return [...missing, ...inside];
};

it("every call fits the schema of its tool", () => {
  for (const conversation of [codex, loaded]) {
    for (const intent of intents) {
      for (const { tool, input } of callsFor(conversation, intent)) {
        if (tool.input === "json") expect([tool.name, misfits(tool.schema, input)]).toEqual([tool.name, []]);
      }
    }
  }
});
