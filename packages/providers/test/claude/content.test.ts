import { describe, expect, it } from "vitest";
import { ignoredFrames, ignoredRequests } from "../../src/claude/ignored.ts";
import {
  assistant,
  blockStart,
  delta,
  frameIn,
  messageStart,
  result,
  stream,
  system,
  text,
  toolResult,
  toolUse,
  turn,
} from "./frames.ts";
import { Story } from "./recordings.ts";

describe("text", () => {
  it("comes from the stream once, not again with the whole block", () => {
    const story = Story.of("given/text");
    expect(story.messages()).toEqual(["Hello from the mock model.", "Hello from the mock model."]);
    expect(story.all("content.delta")).toHaveLength(10);
  });

  it("keeps reasoning apart from the answer", () => {
    const story = Story.of("given/reasoning");
    expect(story.items("reasoning")).toMatchObject([{ text: "Let me think about this. Done thinking." }]);
    const streams = story.payloads("content.delta").map(({ stream }) => stream);
    expect(streams).toEqual(["reasoning", "reasoning", "reasoning", "assistant_text", "assistant_text"]);
    expect(story.messages()).toEqual(["The answer is 42."]);
  });

  it("matches whole blocks with the streamed ones of their message, in order", () => {
    const story = Story.ofFrames(
      turn(
        messageStart("m"),
        blockStart(0, { type: "text", text: "" }),
        blockStart(1, { type: "text", text: "" }),
        delta(1, "one"),
        blockStart(2, { type: "text", text: "" }),
        delta(2, "two"),
        assistant("m", [text("one")]),
        assistant("m", [text("two")]),
      ),
    );
    const ends = story.all("item.completed").map(({ itemId, payload }) => [itemId, payload.text]);
    expect(ends).toEqual([
      ["m:1", "one"],
      ["m:2", "two"],
    ]);
  });

  it("takes several blocks of one frame", () => {
    const story = Story.ofFrames(turn(assistant("m", [text("a"), toolUse("t", "Bash", { command: "ls" }), text("b")])));
    expect(story.messages()).toEqual(["a", "b"]);
    expect(story.all("item.started").map(({ itemId }) => itemId)).toEqual(["m:0", "t", "m:2"]);
  });

  it.each(["given/cut", "cut", "error-in-stream", "fallback-without-stream"])(
    "%s: takes back what was abandoned",
    (name) => {
      const story = Story.of(name);
      expect(story.all("content.retracted").length).toBeGreaterThan(0);
      const retracted = new Set(story.all("content.retracted").map(({ itemId }) => itemId));
      expect(story.all("item.completed").filter(({ itemId }) => retracted.has(itemId))).toEqual([]);
    },
  );

  it("takes back what a message left unfinished that was begun anew without a word", () => {
    const story = Story.ofFrames(
      turn(
        messageStart("m1"),
        blockStart(0, { type: "text", text: "" }),
        delta(0, "par"),
        blockStart(1, { type: "tool_use", id: "t", name: "Bash" }),
        messageStart("m2"),
        blockStart(0, { type: "text", text: "" }),
        delta(0, "partial"),
        assistant("m2", [text("partial")]),
      ),
    );
    expect(story.messages()).toEqual(["partial"]);
    expect(story.all("content.retracted").map(({ itemId }) => itemId)).toEqual(["m1:0"]);
    expect(story.items("command")).toMatchObject([{ status: "interrupted" }]);
  });

  it("takes the answer of the fallback without a stream", () => {
    const story = Story.of("fallback-without-stream");
    expect(story.messages()).toHaveLength(1);
    expect(story.messages()[0]).toMatch(/^Hello from the mock model/);
  });

  it("takes back what another message replaces, and what a refusing model said", () => {
    const first = assistant("m1", [text("no")], { uuid: "f1" });
    const replaced = Story.ofFrames(turn(first, assistant("m2", [text("yes")], { supersedes: ["f1"] })));
    expect(replaced.all("content.retracted").map(({ itemId }) => itemId)).toEqual(["m1:0"]);
    const fallback = { original_model: "a", fallback_model: "b", retracted_message_uuids: ["f1"], content: "refused" };
    const rerouted = Story.ofFrames(turn(first, system("model_refusal_fallback", fallback)));
    expect(rerouted.payloads("model.rerouted")).toEqual([{ from: "a", to: "b", reason: "refused" }]);
    expect(rerouted.all("content.retracted").map(({ itemId }) => itemId)).toEqual(["m1:0"]);
  });

  it("shows what a local command prints as an answer", () => {
    expect(
      Story.of("slash-commands")
        .messages()
        .some((words) => words.startsWith("## Context Usage")),
    ).toBe(true);
    const printed = Story.ofFrames(turn(system("local_command_output", { content: "42" })));
    expect(printed.messages()).toEqual(["42"]);
  });

  it("ignores blocks of messages whose beginning it did not see", () => {
    expect(Story.ofFrames(turn(delta(0, "lost"))).all("content.delta")).toEqual([]);
  });

  it("keeps separators, emoji and right-to-left text as they are", () => {
    expect(Story.of("separators").messages()[0]).toContain("a\u2028b\u2029c\u0085d");
  });
});

describe("tools", () => {
  it.each([
    ["Bash", { command: "ls -l", description: "list" }, { itemType: "command", title: "ls -l", detail: "list" }],
    [
      "Read",
      { file_path: "/p/a.ts", offset: 3 },
      { itemType: "file_read", title: "Read a.ts", locations: [{ path: "/p/a.ts", line: 3 }] },
    ],
    ["Write", { file_path: "b.ts", content: "x" }, { itemType: "file_change", title: "Write b.ts" }],
    [
      "NotebookEdit",
      { notebook_path: "/p/n.ipynb", new_source: "x" },
      { itemType: "file_change", title: "Edit n.ipynb" },
    ],
    ["Glob", { pattern: "*.ts" }, { itemType: "search", title: "Find *.ts" }],
    ["Grep", { pattern: "x" }, { itemType: "search", title: "Search for x" }],
    ["WebFetch", { url: "http://x" }, { itemType: "web", title: "Fetch http://x" }],
    ["WebSearch", { query: "x" }, { itemType: "web", title: "Search the web for x" }],
    ["mcp__probe__greet", { who: "x" }, { itemType: "mcp_tool", title: "probe: greet" }],
    ["Agent", { description: "look" }, { itemType: "tool", title: "Sub-agent: look" }],
    ["Task", { description: "look" }, { itemType: "tool", title: "Sub-agent: look" }],
    ["SomethingNew", { a: 1 }, { itemType: "tool", title: "SomethingNew", input: { a: 1 } }],
  ])("%s", (name, input, expected) => {
    const story = Story.ofFrames(turn(assistant("m", [toolUse("t", name, input)])));
    expect(story.all("item.started")).toMatchObject([{ itemId: "t", payload: { ...expected, status: "in_progress" } }]);
  });

  it("is told once, also when its whole comes again", () => {
    const whole = assistant("m", [toolUse("t", "Bash", { command: "ls" })]);
    const story = Story.ofFrames(
      turn(whole, toolResult("t", "a"), { ...whole, msg: { ...Object(whole.msg), uuid: "again" } }),
    );
    expect(story.events.flatMap(({ type, itemId }) => (itemId === "t" ? [type] : []))).toEqual([
      "item.started",
      "item.completed",
    ]);
  });

  it("shows that a call begins before its input is whole", () => {
    const types = Story.of("given/tool-approve").events.flatMap(({ type, itemId }) =>
      itemId === "toolu_fzqjmwzhls" ? [type] : [],
    );
    expect(types).toEqual(["item.started", "item.updated", "request.opened", "request.resolved", "item.completed"]);
  });

  it("gives exit code and output of a command that failed, and none where nothing came out", () => {
    const commands = Story.of("tools").items("command");
    expect(commands).toMatchObject([
      { status: "failed", exitCode: 2, output: expect.stringContaining("cannot access 'nosuch'") },
      { status: "completed" },
    ]);
    expect(commands[1]?.output).toBeUndefined();
    expect(Story.of("given/tool-approve").items("command")).toMatchObject([{ output: "hi-from-tool" }]);
  });

  it("gives the exact change of a file tool from its result", () => {
    const [edit] = Story.of("tools").items("file_change");
    expect(edit?.changes).toEqual([
      {
        path: "/home/dev/project/f.txt",
        kind: "update",
        diff: "--- /home/dev/project/f.txt\n+++ /home/dev/project/f.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
      },
    ]);
    const [write] = Story.of("given/write-approve").items("file_change");
    expect(write?.changes).toEqual([
      {
        path: "/home/dev/project/made-by-model.txt",
        kind: "add",
        diff: "--- /dev/null\n+++ /home/dev/project/made-by-model.txt\n@@ -0,0 +1 @@\n+written by mock\n\\ No newline at end of file\n",
      },
    ]);
  });

  it("knows a refused call, one refused by a hook and one refused without asking", () => {
    expect(Story.of("given/tool-deny").items("command")).toMatchObject([
      { status: "declined", output: "User said no" },
    ]);
    expect(Story.of("hooks").items("command")).toMatchObject([{ status: "declined" }]);
    const denied = Story.ofFrames(
      turn(
        assistant("m", [toolUse("t", "Bash", { command: "x" })]),
        system("permission_denied", { tool_use_id: "t" }),
        toolResult("t", "no", { is_error: true }),
      ),
    );
    expect(denied.items("command")).toMatchObject([{ status: "declined" }]);
  });

  it("ends a call that it never saw begin", () => {
    const story = Story.ofFrames(turn(toolResult("t", [{ type: "text", text: "a" }, { type: "image" }])));
    expect(story.all("item.completed")).toMatchObject([
      { itemId: "t", payload: { itemType: "tool", output: "a\n[image]" } },
    ]);
  });

  it("ends calls that the model service itself runs", () => {
    const search = { type: "server_tool_use", id: "s", name: "web_search", input: { query: "x" } };
    const found = { type: "web_search_tool_result", tool_use_id: "s", content: [{ type: "web_search_result" }] };
    expect(Story.ofFrames(turn(assistant("m", [search, found]))).items("web")).toMatchObject([
      { title: "Search the web for x", status: "completed" },
    ]);
  });

  it("shows what an MCP tool said", () => {
    expect(Story.of("mcp").items("mcp_tool")[0]).toMatchObject({
      title: "small: Add",
      output: "3",
    });
  });
});

describe("the to-do list", () => {
  it("is put together from one call a step", () => {
    const plans = Story.of("todo-list").payloads("turn.plan");
    expect(plans).toHaveLength(5);
    expect(plans.at(-1)?.steps).toEqual([
      { text: "Look at the code", status: "completed" },
      { text: "Change it", status: "in_progress" },
      { text: "Test it", status: "pending" },
    ]);
  });

  it("is taken whole from older runtimes, of the root agent", () => {
    const todos = [
      { content: "One", status: "completed", activeForm: "Doing one" },
      { content: "Two", status: "strange" },
    ];
    const call = [toolUse("t", "TodoWrite", { todos })];
    expect(Story.ofFrames(turn(assistant("m", call))).payloads("turn.plan")).toEqual([
      {
        steps: [
          { text: "One", status: "completed" },
          { text: "Two", status: "pending" },
        ],
      },
    ]);
    const child = assistant("m", call, { parent_tool_use_id: "a" });
    expect(Story.ofFrames(turn(child)).all("turn.plan")).toEqual([]);
  });

  it("changes, loses and lists steps", () => {
    const step = (id: string, name: string, input: object, structured: object) => [
      assistant(id, [toolUse(id, name, { ...input })]),
      toolResult(id, "ok", {}, { tool_use_result: structured }),
    ];
    const story = Story.ofFrames(
      turn(
        ...step("a", "TaskCreate", {}, { task: { id: "1", subject: "One" } }),
        ...step("b", "TaskUpdate", { taskId: "1", subject: "Uno" }, { success: true, taskId: "1" }),
        ...step("c", "TaskUpdate", { taskId: "9", status: "completed" }, { success: true, taskId: "9" }),
        ...step("d", "TaskUpdate", { taskId: "1", status: "deleted" }, { success: true, taskId: "1" }),
        ...step("e", "TaskList", {}, { tasks: [{ id: "2", subject: "Two", status: "in_progress" }] }),
        ...step("f", "TaskUpdate", { taskId: "2" }, { success: false, taskId: "2" }),
      ),
    );
    expect(story.payloads("turn.plan").map(({ steps }) => steps.map((each) => `${each.text} ${each.status}`))).toEqual([
      ["One pending"],
      ["Uno pending"],
      ["Uno pending", "Step 9 completed"],
      ["Step 9 completed"],
      ["Two in_progress"],
    ]);
  });
});

describe("sub-agents and background work", () => {
  it("is a task, with what it says under its path", () => {
    const story = Story.of("subagent");
    const [task] = story.payloads("task.started");
    expect(task).toMatchObject({
      kind: "subagent",
      title: "Mock sub-agent",
      agentPath: [expect.stringMatching(/^call_/)],
    });
    const path = task?.agentPath ?? [];
    expect(story.messages(path)).toEqual(["I will use a tool.", "That is all."]);
    expect(story.all("request.opened")[0]?.agentPath).toEqual(path);
    expect(story.payloads("task.completed")).toMatchObject([{ status: "completed", summary: "That is all." }]);
    expect(story.items("tool").at(-1)?.output).toBe("That is all.");
  });

  it("knows one by what it says, where no task frame announces it", () => {
    const story = Story.ofFrames(
      turn(
        assistant("m", [toolUse("a", "Task", { description: "outer" })]),
        assistant("m2", [text("inside"), toolUse("b", "Task", { description: "inner" })], { parent_tool_use_id: "a" }),
        assistant("m3", [text("deeper")], { parent_tool_use_id: "b" }),
        toolResult("b", "done", {}, { parent_tool_use_id: "a" }),
        toolResult("a", "failed", { is_error: true }),
        result(),
      ),
    );
    expect(story.payloads("task.started")).toMatchObject([
      { taskId: "a", title: "outer", agentPath: ["a"] },
      { taskId: "b", title: "inner", agentPath: ["a", "b"] },
    ]);
    expect(story.messages(["a", "b"])).toEqual(["deeper"]);
    expect(story.payloads("task.completed").map(({ taskId, status }) => [taskId, status])).toEqual([
      ["b", "completed"],
      ["a", "failed"],
    ]);
  });

  it("goes on in its own turn's name when that turn is over", () => {
    const story = Story.of("subagent-background");
    const [first] = story.all("turn.started");
    const [task] = story.payloads("task.started");
    expect(task).toMatchObject({ kind: "background" });
    const late = story.all("item.completed").find(({ agentPath }) => agentPath !== undefined);
    expect(late).toMatchObject({ turnId: first?.turnId, agentPath: task?.agentPath });
    expect(story.messages(task?.agentPath)[0]).toMatch(/^word000 .*word039 $/);
  });

  it("follows a command in the background, from its start or from when it was moved there", () => {
    expect(Story.of("command-background").payloads("task.completed")).toMatchObject([
      { kind: "background", status: "completed", summary: 'Background command "a late word" completed (exit code 0)' },
    ]);
    const moved = Story.of("command-moved-to-background");
    // The first slow command stayed in the foreground: it is an item and nothing else.
    expect(moved.payloads("task.started")).toMatchObject([{ kind: "background", title: "Run a test command" }]);
    expect(moved.payloads("task.completed")).toMatchObject([{ status: "interrupted" }]);
  });

  it("tells no housekeeping, and ends a task whose notification never came with the turn", () => {
    const started = { task_id: "t", description: "x", task_type: "local_workflow" };
    const hidden = Story.ofFrames(turn(system("task_started", { ...started, ambient: true })));
    expect(hidden.all("task.started")).toEqual([]);
    const ended = Story.ofFrames(
      turn(
        system("task_started", started),
        system("task_updated", { task_id: "t", patch: { status: "failed" } }),
        result(),
      ),
    );
    expect(ended.payloads("task.completed")).toMatchObject([{ taskId: "t", kind: "background", status: "failed" }]);
  });

  it("makes a task of each run of an agent", () => {
    const run = (id: string) =>
      system("task_started", { task_id: "t", run_id: id, tool_use_id: "a", task_type: "local_agent" });
    const over = (id: string) => system("task_notification", { task_id: "t", run_id: id, status: "completed" });
    const story = Story.ofFrames(turn(run("1"), over("1"), run("2"), over("2")));
    expect(story.payloads("task.completed").map(({ taskId }) => taskId)).toEqual(["t:1", "t:2"]);
  });

  it("tells a refusal inside a sub-agent without ending the turn", () => {
    const refusal = { error: "rate_limit", is_api_error_message: true, api_error_status: 429, parent_tool_use_id: "a" };
    const story = Story.ofFrames(turn(assistant("m", [text("429")], refusal)));
    expect(story.payloads("runtime.error")).toEqual([
      { class: "rate_limit", message: "429", retryable: true, fatal: false },
    ]);
  });
});

describe("frames that it does not know", () => {
  it.each([
    [frameIn({ type: "brand_new" }), "brand_new"],
    [system("brand_new"), "system/brand_new"],
    [stream({ type: "brand_new" }), "malformed stream_event/brand_new"],
    [{ dir: "in", msg: "plain words" }, "noise"],
    [{ dir: "in", msg: { kind: 1 } }, "malformed frame"],
    [
      { dir: "in", msg: { type: "control_request", request_id: "1", request: { subtype: "new" } } },
      "control_request/new",
    ],
    [frameIn({ type: "assistant" }), "malformed assistant"],
    [assistant("m", [{ type: "new" }]), "assistant block new"],
  ] as const)("%#: are kept as %s", (frame, kind) => {
    const story = Story.ofFrames(turn(frame));
    expect(story.payloads("unknown")).toEqual([{ kind }]);
    expect(story.records).toHaveLength(2);
  });

  it("ignores nothing without a reason", () => {
    for (const reason of Object.values({ ...ignoredFrames, ...ignoredRequests }))
      expect(reason.length).toBeGreaterThan(10);
    for (const kind of Object.keys(ignoredFrames)) {
      const [type, subtype] = kind.split("/");
      expect(Story.ofFrames([frameIn({ type, subtype })]).events).toEqual([]);
    }
    for (const subtype of Object.keys(ignoredRequests))
      expect(
        Story.ofFrames([{ dir: "in", msg: { type: "control_request", request_id: "1", request: { subtype } } }]).events,
      ).toEqual([]);
  });
});
