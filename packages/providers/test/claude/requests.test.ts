import type { RuntimeEventOf } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { responseOf } from "../../src/claude/answers.ts";
import { initialState } from "../../src/claude/state.ts";
import { translate } from "../../src/claude/translate.ts";
import type { NativeFrame } from "../../src/translator.ts";
import { assistant, frameIn, init, permission, reply, result, toolResult, toolUse, turn } from "./frames.ts";
import { at, nativeOf, Story } from "./recordings.ts";

const opened = (story: Story, index = 0): RuntimeEventOf<"request.opened"> => {
  const event = story.all("request.opened")[index];
  if (event === undefined) throw new Error("no request was opened");
  return event;
};

/** What the runtime would be told. */
const answerTo = (frames: ReadonlyArray<NativeFrame>, answer: Parameters<typeof responseOf>[1]) => {
  let state = initialState({ generation: 1 });
  for (const frame of frames) state = translate(state, frame).state;
  const asked = [...state.asked.values()].at(-1);
  if (asked === undefined) throw new Error("nothing is asked");
  return responseOf(asked, answer);
};

const suggestions = [
  {
    type: "addRules",
    rules: [{ toolName: "Bash", ruleContent: "touch *" }],
    behavior: "allow",
    destination: "localSettings",
  },
  { type: "addDirectories", directories: ["/p"], destination: "session" },
  { type: "setMode", mode: "acceptEdits", destination: "session" },
];
const bash = turn(
  assistant("m", [toolUse("t", "Bash", { command: "touch x" })]),
  permission("r", "Bash", { command: "touch x" }, { tool_use_id: "t", permission_suggestions: suggestions }),
);

describe("permissions", () => {
  it("asks for a command, with the rules that may follow from it", () => {
    const { payload, requestId, itemId } = opened(Story.of("given/tool-allow-always"));
    expect({ requestId, itemId }).toEqual({
      requestId: "759f1dce-bed3-4bac-ae4d-71d0642068ba",
      itemId: "toolu_14xsr72tic",
    });
    expect(payload).toMatchObject({
      kind: "approval",
      action: "command",
      title: "touch a-file.txt",
      subject: { command: "touch a-file.txt", cwd: "/home/dev/project", tool: "Bash" },
    });
    expect(payload.options?.map(({ id, effect, scope, grants }) => [id, effect, scope, grants])).toEqual([
      ["allow", "allow", "once", undefined],
      ["allow_session", "allow", "session", "Bash(touch a-file.txt); /home/dev/project"],
      ["allow_project", "allow", "project", "Bash(touch a-file.txt); /home/dev/project"],
      ["allow_mode", "allow", "session", "permission mode acceptEdits; /home/dev/project"],
      ["reject", "reject", "once", undefined],
      ["cancel", "cancel", "once", undefined],
    ]);
  });

  it.each([
    [{ optionId: "allow" }, { behavior: "allow", updatedInput: { command: "touch x" } }],
    [
      { optionId: "allow_session" },
      {
        behavior: "allow",
        updatedInput: { command: "touch x" },
        updatedPermissions: [{ ...suggestions[0], destination: "session" }, suggestions[1]],
      },
    ],
    [
      { optionId: "allow_project" },
      { behavior: "allow", updatedInput: { command: "touch x" }, updatedPermissions: suggestions.slice(0, 2) },
    ],
    [
      { optionId: "allow_mode" },
      { behavior: "allow", updatedInput: { command: "touch x" }, updatedPermissions: [suggestions[2], suggestions[1]] },
    ],
    [
      { optionId: "reject", message: "use rm" },
      { behavior: "deny", message: "use rm" },
    ],
    [{ optionId: "cancel" }, { behavior: "deny", message: expect.any(String), interrupt: true }],
    [{ optionId: "allow_user" }, undefined],
    [{ answers: {} }, undefined],
  ])("answers %j", (answer, expected) => {
    expect(answerTo(bash, answer)).toEqual(expected);
  });

  it("offers nothing wider where the runtime forbids it", () => {
    const frames = turn(
      permission(
        "r",
        "Bash",
        { command: "x" },
        { permission_suggestions: suggestions, suppress_always_allow_rule: true },
      ),
    );
    expect(opened(Story.ofFrames(frames)).payload.options?.map(({ id }) => id)).toEqual(["allow", "reject", "cancel"]);
  });

  it("says why, without the colours of a terminal", () => {
    const reason = { decision_reason: "\u001b[1mcare\u001b[0m", decision_reason_type: "safetyCheck" };
    const event = opened(Story.ofFrames(turn(permission("r", "Bash", { command: "rm x" }, reason))));
    expect(event.payload.title).toBe("rm x (care)");
    expect(event.ext).toEqual({ claude: { decisionReasonType: "safetyCheck" } });
  });

  it("shows the change of a file, as far as the call says it", () => {
    const write = opened(Story.of("given/write-approve")).payload;
    expect(write).toMatchObject({ action: "file_change", title: "Write made-by-model.txt" });
    expect(write.subject).toEqual({
      tool: "Write",
      paths: ["/home/dev/project/made-by-model.txt"],
      changes: [
        { path: "/home/dev/project/made-by-model.txt", kind: "add", diff: expect.stringContaining("+written by mock") },
      ],
    });
    const edit = opened(Story.of("tools")).payload;
    expect(edit.subject?.changes?.[0]?.diff).toBe(
      "--- /home/dev/project/f.txt\n+++ /home/dev/project/f.txt\n@@ -1 +1 @@\n-two\n+2\n",
    );
  });

  it("does not guess what a file held that is written over", () => {
    const read = [
      assistant("m", [toolUse("t", "Read", { file_path: "/p/a" })]),
      toolResult("t", "old", {}, { tool_use_result: { type: "text", file: { filePath: "/p/a" } } }),
    ];
    const input = { file_path: "/p/a", content: "new" };
    const { subject } = opened(Story.ofFrames(turn(...read, permission("r", "Write", input)))).payload;
    expect(subject).toEqual({ tool: "Write", paths: ["/p/a"], changes: [{ path: "/p/a", kind: "update" }], input });
  });

  it.each([
    ["WebFetch", { url: "http://x" }, "network", { url: "http://x" }],
    ["Read", { file_path: "/etc/x" }, "file_read", { paths: ["/etc/x"] }],
    ["mcp__probe__greet", { who: "x" }, "mcp_tool", { tool: "mcp__probe__greet", input: { who: "x" } }],
    ["Skill", { skill: "x" }, "tool", { tool: "Skill", input: { skill: "x" } }],
  ])("asks for %s", (name, input, action, subject) => {
    expect(opened(Story.ofFrames(turn(permission("r", name, input)))).payload).toMatchObject({ action, subject });
  });

  it.each([
    ["given/tool-approve", "allow"],
    ["given/tool-deny", "reject"],
    ["allow-session", "allow_session"],
    ["reject-and-stop", "cancel"],
  ])("%s: says what was answered", (name, optionId) => {
    expect(Story.of(name).payloads("request.resolved")).toEqual([{ outcome: "answered", by: "client", optionId }]);
  });

  it("is answered once the runtime shows it, by an echo or by a result, not when it is written", () => {
    const answered: NativeFrame = {
      dir: "out",
      msg: {
        type: "control_response",
        response: { subtype: "success", request_id: "r", response: { behavior: "allow" } },
      },
    };
    const written = Story.ofFrames([...bash, answered]);
    expect(written.all("request.resolved")).toEqual([]);
    expect(written.records.at(-1)).toMatchObject({ kind: "reply", dir: "out", replyTo: "r" });
    const echoed = Story.ofFrames([...bash, answered, reply("r", { behavior: "allow" })]);
    expect(echoed.payloads("request.resolved")).toEqual([{ outcome: "answered", by: "client", optionId: "allow" }]);
    expect(echoed.records.at(-1)?.kind).toBe("frame");
    const done = Story.ofFrames([...bash, answered, toolResult("t", "ok")]);
    expect(done.payloads("request.resolved")).toHaveLength(1);
    const over = Story.ofFrames([...bash, result()]);
    expect(over.payloads("request.resolved")).toEqual([{ outcome: "withdrawn", by: "runtime" }]);
  });
});

describe("questions", () => {
  it("asks all of them, each with its choices", () => {
    const { payload } = opened(Story.of("given/ask-user"));
    expect(payload).toEqual({
      kind: "user_input",
      blocking: true,
      questions: [
        {
          id: "q1",
          header: "Colour",
          text: "Which colour do you want?",
          options: [
            { label: "Red", description: "a red one" },
            { label: "Blue", description: "a blue one" },
          ],
          multiple: false,
          freeText: true,
        },
      ],
    });
  });

  it("answers by the text of the question, several choices joined", () => {
    const questions = [
      { question: "Which?", header: "W", options: [], multiSelect: true },
      { question: "Why?", header: "Y", options: [], multiSelect: false },
    ];
    const frames = turn(permission("r", "AskUserQuestion", { questions }));
    expect(answerTo(frames, { answers: { q1: ["a", "b"], q2: "so" } })).toEqual({
      behavior: "allow",
      updatedInput: { questions, answers: { "Which?": "a, b", "Why?": "so" } },
    });
    expect(answerTo(frames, { optionId: "x", message: "later" })).toEqual({ behavior: "deny", message: "later" });
  });

  it("passes a form of an MCP server on, and an address", () => {
    const forms = Story.of("mcp").payloads("request.opened");
    expect(forms.at(-1)).toMatchObject({
      kind: "user_input",
      title: "small: Your name?",
      form: { required: ["name"] },
    });
    const visit = { subtype: "elicitation", mcp_server_name: "s", message: "log in", mode: "url", url: "https://x" };
    const asked = turn({ dir: "in", msg: { type: "control_request", request_id: "r", request: visit } });
    expect(opened(Story.ofFrames(asked)).payload).toEqual({
      kind: "user_input",
      blocking: true,
      title: "s: log in",
      url: "https://x",
    });
    expect(answerTo(asked, { answers: { name: "Ann" } })).toEqual({ action: "accept", content: { name: "Ann" } });
    expect(answerTo(asked, { optionId: "no" })).toEqual({ action: "decline" });
  });
});

describe("leaving plan mode", () => {
  it("shows the plan, and asks", () => {
    const story = Story.of("plan-accepted");
    const [plan] = story.payloads("proposed_plan.completed");
    expect(plan?.markdown).toBe(at(nativeOf("plan-accepted", "control_request"), 0, "request", "input", "plan"));
    const { payload, itemId } = opened(story);
    expect(itemId).toBe(plan?.planId);
    expect(payload).toMatchObject({ kind: "approval", action: "plan_exit" });
    expect(payload.options?.map(({ id }) => id)).toEqual(["allow", "allow_mode", "reject", "cancel"]);
    const modes = story
      .payloads("session.configured")
      .flatMap(({ options }) => options?.map(({ value }) => value) ?? []);
    expect(modes).toEqual(["plan", "default"]);
  });

  it("asks without a plan where there is none", () => {
    const story = Story.ofFrames(turn(permission("r", "ExitPlanMode", {}, { tool_use_id: "t" })));
    expect(story.all("proposed_plan.completed")).toEqual([]);
    expect(opened(story).payload.action).toBe("plan_exit");
  });

  it("goes on planning when it is refused", () => {
    expect(Story.of("plan-rejected").payloads("request.resolved")).toMatchObject([{ optionId: "reject" }]);
  });
});

it("withdraws a request that the runtime takes back, and knows no other", () => {
  const cancel = (id: string) => frameIn({ type: "control_cancel_request", request_id: id });
  const story = Story.ofFrames([...bash, cancel("r"), cancel("never"), init()]);
  expect(story.payloads("request.resolved")).toEqual([{ outcome: "withdrawn", by: "runtime" }]);
});
