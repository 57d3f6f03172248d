import { describe, expect, it } from "vitest";
import { call, frameIn, init, lifecycle, message, reply, result, system, turn } from "./frames.ts";
import { at, nativeOf, Story } from "./recordings.ts";

const states = (story: Story) => story.payloads("input.state").map(({ state }) => state);

describe("inputs and turns", () => {
  it("binds a turn to the message that began it, and knows one without a uuid as an input all the same", () => {
    const story = Story.of("given/text");
    expect(states(story)).toEqual(["acknowledged", "started"]);
    expect(story.payloads("turn.started")).toMatchObject([
      { origin: "input", inputIds: ["85a4e8da-dce2-4879-8988-b43f97f7d4bc"], model: "claude-sonnet-4-5" },
      { origin: "input" },
    ]);
    expect(story.payloads("turn.started")[1]?.inputIds).toBeUndefined();
  });

  it("names a turn by the init frame that shows it", () => {
    const inits = nativeOf("given/text", "system", "init").map(({ uuid }) => uuid);
    expect(
      Story.of("given/text")
        .all("turn.started")
        .map(({ turnId }) => turnId),
    ).toEqual(inits);
  });

  it("knows a turn that the runtime began by itself", () => {
    const origins = Story.of("subagent-background")
      .payloads("turn.started")
      .map(({ origin }) => origin);
    expect(origins).toEqual(["input", "runtime"]);
  });

  it("says that a message during a turn was folded into it", () => {
    const story = Story.of("steer");
    expect(states(story)).toEqual(["acknowledged", "started", "held", "folded"]);
    const folded = story.all("input.state").at(-1);
    expect(folded?.turnId).toBe(story.all("turn.started")[0]?.turnId);
    expect(story.messages().at(-1)).toBe("steered");
  });

  it("gives a message that came too late to be folded a turn of its own", () => {
    const story = Story.of("message-after-text");
    expect(states(story)).toEqual(["acknowledged", "started", "held", "started"]);
    const inputIds = story.payloads("turn.started").map((payload) => payload.inputIds?.[0]);
    expect(new Set(inputIds).size).toBe(2);
  });

  it("takes messages of runtimes that do not tell how they fare in the order of sending", () => {
    const story = Story.ofFrames([message("a"), init(), result(), message("b"), init(), result()]);
    expect(story.payloads("turn.started").map(({ inputIds }) => inputIds)).toEqual([["a"], ["b"]]);
  });

  it("takes an init in the middle of a turn for news about the session", () => {
    const story = Story.ofFrames([init({ uuid: "one" }), init({ uuid: "two", model: "other" }), result()]);
    expect(story.all("turn.started").map(({ turnId }) => turnId)).toEqual(["one"]);
    expect(story.payloads("session.configured").at(-1)).toEqual({ model: "other" });
  });

  it("takes a frame that comes twice in a row for one", () => {
    const once = turn(
      frameIn({
        type: "rate_limit_event",
        uuid: "same",
        rate_limit_info: { rateLimitType: "overage", utilization: 0.5 },
      }),
    );
    const twice = Story.ofFrames([...once, ...once.slice(-1)]);
    expect(twice.all("account.limits")).toHaveLength(1);
    expect(twice.records).toHaveLength(3);
  });

  it("shows a result for which no turn was shown as a turn", () => {
    const story = Story.ofFrames([message("a"), result({ uuid: "r" })]);
    expect(story.events.map(({ type, turnId }) => [type, turnId])).toEqual([
      ["turn.started", "r"],
      ["turn.completed", "r"],
    ]);
  });
});

describe("stopping", () => {
  it.each([
    "given/interrupt",
    "given/sdk-interrupt",
    "given/interrupt-tool",
    "interrupt-approval",
    "interrupt-subagent",
  ])("%s ends the turn as interrupted, without the vendor's diagnostics", (name) => {
    const story = Story.of(name);
    expect(story.payloads("turn.completed")[0]).toMatchObject({ outcome: "interrupted" });
    const told = JSON.stringify(story.events);
    expect(told).not.toContain("ede_diagnostic");
    expect(told).not.toContain("[Request interrupted by user");
    expect(told).not.toContain("doesn't want to proceed");
  });

  it("keeps the text that stood when it was interrupted", () => {
    expect(Story.of("given/interrupt").messages()[0]).toBe("tick0 tick1 tick2 tick3 ");
  });

  it("ends what a stopped turn had open", () => {
    expect(Story.of("given/interrupt-tool").items("command")).toMatchObject([{ status: "interrupted" }]);
    expect(Story.of("interrupt-subagent").payloads("task.completed")).toMatchObject([{ status: "interrupted" }]);
  });

  it("takes the pending request back", () => {
    expect(Story.of("interrupt-approval").payloads("request.resolved")).toEqual([
      { outcome: "withdrawn", by: "runtime" },
    ]);
  });

  it("ends a turn as interrupted that a person refused and stopped", () => {
    const story = Story.of("reject-and-stop");
    expect(story.payloads("request.resolved")).toMatchObject([{ outcome: "answered", optionId: "cancel" }]);
    expect(story.payloads("turn.completed").map(({ outcome }) => outcome)).toEqual(["interrupted", "completed"]);
  });

  it("drops what waited inside the runtime, and goes on with it where it was kept", () => {
    expect(states(Story.of("interrupt-with-queue"))).toEqual([
      "acknowledged",
      "started",
      "held",
      "dropped",
      "acknowledged",
      "started",
    ]);
    expect(states(Story.of("interrupt-keeping-queue"))).toEqual(["acknowledged", "started", "held", "started"]);
  });

  it("takes a prompt back that had not begun", () => {
    const story = Story.of("interrupt-before-start");
    expect(states(story).slice(0, 2)).toEqual(["acknowledged", "withdrawn"]);
    expect(story.payloads("turn.completed")).toMatchObject([{ outcome: "completed" }]);
  });

  it("makes a turn of a prompt that had begun and was stopped before anything was shown", () => {
    const story = Story.ofFrames([
      message("a"),
      lifecycle("a", "queued"),
      lifecycle("a", "started"),
      call("c", { subtype: "interrupt", cancel_queued: true }),
      lifecycle("a", "cancelled"),
      result({ subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming" }),
    ]);
    expect(story.payloads("turn.started")).toMatchObject([{ inputIds: ["a"], origin: "input" }]);
    expect(story.payloads("turn.completed")).toEqual([{ outcome: "interrupted" }]);
    expect(story.all("runtime.error")).toEqual([]);
  });

  it("knows an interrupt of runtimes that give no reason, and a failure that nobody asked for", () => {
    const failed = { subtype: "error_during_execution", is_error: true };
    const interrupted = Story.ofFrames([...turn(), call("c", { subtype: "interrupt" }), result(failed)]);
    expect(interrupted.payloads("turn.completed")).toEqual([{ outcome: "interrupted" }]);
    expect(Story.ofFrames([...turn(), result(failed)]).payloads("turn.completed")).toMatchObject([
      { outcome: "failed" },
    ]);
  });

  it("says which message was withdrawn", () => {
    expect(states(Story.of("withdraw"))).toEqual(["acknowledged", "started", "held", "withdrawn"]);
  });
});

describe("failures", () => {
  it.each([
    ["error-400", "validation", "invalid_request_error", false],
    ["error-400-context", "context_overflow", "invalid_request_error", false],
    ["error-401", "auth", "authentication_error", false],
    ["error-402", "quota", "billing_error", false],
    ["error-403", "permission", "permission_error", false],
    ["error-404", "validation", "not_found_error", false],
    ["error-529", "provider", "overloaded_error", true],
    ["given/err429", "rate_limit", "rate_limit_error", true],
    ["given/err500", "provider", "api_error", true],
    ["error-in-stream", "provider", "api_error", true],
    ["no-login", "auth", "authentication_failed", false],
  ])("%s is a turn that failed: %s", (name, failure, code, retryable) => {
    const story = Story.of(name);
    expect(story.payloads("turn.completed")[0]).toMatchObject({
      outcome: "failed",
      error: { class: failure, code, retryable, message: at(nativeOf(name, "result"), 0, "result") },
    });
    // The runtime shows the refusal as words of the model; it is the turn's error and nothing else.
    expect(story.messages()).not.toContain(at(nativeOf(name, "result"), 0, "result"));
  });

  it("knows a connection that broke for good", () => {
    expect(Story.of("cut").payloads("turn.completed").at(-1)).toMatchObject({
      outcome: "failed",
      error: { class: "transport", code: "connection_failed", retryable: true },
    });
  });

  it("tells each attempt", () => {
    expect(Story.of("given/err429").payloads("retry.scheduled")).toEqual([
      { attempt: 1, limit: 2, delayMs: 1041, reason: "rate_limit (429)" },
      { attempt: 2, limit: 2, delayMs: 1179, reason: "rate_limit (429)" },
    ]);
  });

  it("says when a used-up limit ends", () => {
    const info = { status: "rejected", rateLimitType: "five_hour", resetsAt: 1_800_000_000 };
    const story = Story.ofFrames([
      ...turn(frameIn({ type: "rate_limit_event", rate_limit_info: info })),
      result({ is_error: true, api_error_status: 429, terminal_reason: "api_error" }),
    ]);
    expect(story.payloads("account.limits")).toEqual([
      { windows: [{ id: "five_hour", label: "5 hours", usedRatio: 1, resetsAt: "2027-01-15T08:00:00.000Z" }] },
    ]);
    expect(story.payloads("turn.completed")[0]?.error).toMatchObject({ retryAt: "2027-01-15T08:00:00.000Z" });
  });

  it.each([
    [
      { subtype: "error_max_turns", is_error: true },
      { outcome: "completed", stopReason: "max_steps" },
    ],
    [
      { subtype: "error_max_budget_usd", is_error: true },
      { outcome: "failed", error: { class: "quota" } },
    ],
    [{ stop_reason: "max_tokens" }, { outcome: "completed", stopReason: "max_tokens" }],
    [{ stop_reason: "refusal" }, { outcome: "completed", stopReason: "refusal" }],
    [{ stop_reason: "news" }, { outcome: "completed", stopReason: "other" }],
    [{ stop_reason: null }, { outcome: "completed" }],
  ])("%o", (fields, expected) => {
    expect(Story.ofFrames([...turn(), result(fields)]).payloads("turn.completed")[0]).toMatchObject(expected);
  });

  it.each(["missing-session", "start-refused"])("%s: says why it did not start", (name) => {
    expect(Story.of(name).payloads("runtime.error")).toMatchObject([
      { fatal: true, message: at(nativeOf(name, "result"), 0, "errors", 0) },
    ]);
  });

  it("says that a process was killed", () => {
    expect(Story.of("killed").payloads("session.exited")).toEqual([
      { kind: "killed", signal: "SIGKILL", recoverable: true },
    ]);
  });
});

describe("usage", () => {
  it("counts the main loop for the turn, and everything for the session", () => {
    const story = Story.of("subagent");
    const [result] = nativeOf("subagent", "result");
    const [[model, all] = []] = Object.entries(at(result, "modelUsage") ?? {});
    expect(model).toBe("claude-sonnet-4-5");
    expect(story.payloads("turn.completed")[0]).toMatchObject({
      usage: {
        inputTokens: at(result, "usage", "input_tokens"),
        outputTokens: at(result, "usage", "output_tokens"),
        cachedInputTokens: 0,
        reasoningTokens: 0,
      },
      costUsd: result?.["total_cost_usd"],
      costBasis: "list",
    });
    expect(at(all, "inputTokens")).toBeGreaterThan(Number(at(result, "usage", "input_tokens")));
    expect(story.payloads("usage.updated").at(-1)).toMatchObject({
      basis: "session",
      inputTokens: at(all, "inputTokens"),
      contextWindow: 200_000,
    });
  });

  it("tells how full the context is after each model call of the main agent", () => {
    const contexts = Story.of("subagent")
      .payloads("usage.updated")
      .flatMap(({ contextTokens }) => contextTokens ?? []);
    const told = (type: string, ...path: ReadonlyArray<string>) =>
      nativeOf("subagent", "stream_event")
        .filter((frame) => at(frame, "event", "type") === type && frame["parent_tool_use_id"] === null)
        .map((frame) => Number(at(frame, "event", ...path)));
    const outputs = told("message_delta", "usage", "output_tokens");
    const sums = told("message_start", "message", "usage", "input_tokens").map(
      (input, at) => input + (outputs[at] ?? 0),
    );
    expect(sums).toHaveLength(2);
    expect(contexts).toEqual(sums);
  });

  it("counts a resumed session's turn alone", () => {
    const totals = nativeOf("resume", "result").map((result) => Number(result["total_cost_usd"]));
    const costs = Story.of("resume")
      .payloads("turn.completed")
      .map(({ costUsd }) => costUsd ?? 0);
    expect(totals).toHaveLength(2);
    expect(costs[1]).toBeCloseTo((totals[1] ?? 0) - (totals[0] ?? 0), 9);
    expect(costs[1]).toBeLessThan(totals[1] ?? 0);
  });

  it("subtracts what came before, where the runtime does not say what the turn cost", () => {
    const costs = [
      result({ total_cost_usd: 3 }),
      init(),
      result({ total_cost_usd: 5 }),
      init(),
      result({ total_cost_usd: 1 }),
    ];
    const fresh = Story.ofFrames([init(), ...costs]);
    // The last one is after a cleared conversation.
    expect(fresh.payloads("turn.completed").map(({ costUsd }) => costUsd)).toEqual([3, 2, 1]);
    const asked = [
      call("c", { subtype: "get_usage" }),
      reply("c", { session: { total_cost_usd: 2 } }),
      init(),
      ...costs,
    ];
    expect(Story.ofFrames(asked, 2).payloads("turn.completed")[0]?.costUsd).toBe(1);
    const unasked = Story.ofFrames([init(), ...costs], 2);
    expect(unasked.payloads("turn.completed")[0]?.costUsd).toBeUndefined();
  });
});

describe("the session", () => {
  it("says model, mode, servers and commands back", () => {
    const story = Story.of("mcp");
    expect(story.payloads("session.started")).toMatchObject([{ model: "claude-sonnet-4-5", resumed: false }]);
    expect(story.payloads("mcp.status")).toEqual([
      {
        servers: [
          { name: "small", state: "connected" },
          { name: "broken", state: "failed" },
        ],
      },
    ]);
    const [commands] = story.payloads("commands.available");
    expect(commands?.commands[0]).toMatchObject({
      name: "deep-research",
      description: expect.stringContaining("Deep"),
    });
  });

  it("reads model and effort back after they were changed", () => {
    const configured = Story.of("controls").payloads("session.configured");
    expect(configured.flatMap(({ model }) => model ?? [])).toEqual([
      "claude-sonnet-4-5",
      "claude-opus-5-5",
      "no-such-model",
    ]);
    expect(configured.flatMap(({ effort }) => effort ?? [])).toEqual(["medium", "high"]);
    const modes = configured.flatMap(({ options }) => options?.map(({ value }) => value) ?? []);
    expect(modes).toEqual(["acceptEdits", "plan", "default"]);
  });

  it("tells compaction, and a cleared conversation with its new id", () => {
    const story = Story.of("slash-commands");
    expect(story.payloads("context.compacted")).toEqual([
      { state: "started" },
      { state: "completed", trigger: "manual", beforeTokens: expect.any(Number), afterTokens: expect.any(Number) },
    ]);
    expect(story.payloads("notice")).toMatchObject([{ code: "conversation_reset" }]);
    const sessions = story.payloads("session.started").map(({ nativeSessionId }) => nativeSessionId);
    expect(new Set(sessions).size).toBe(2);
  });

  it("tells a compaction that failed", () => {
    const failed = system("status", { status: null, compact_result: "failed" });
    expect(Story.ofFrames([failed]).payloads("context.compacted")).toEqual([{ state: "failed" }]);
  });

  it("shows hooks, also before the first turn", () => {
    const hooks = Story.of("hooks").items("hook");
    expect(hooks.map(({ title, status, exitCode }) => [title, status, exitCode])).toEqual([
      ["SessionStart:startup", "completed", 0],
      ["UserPromptSubmit", "completed", 0],
      ["PreToolUse:Bash", "failed", 2],
      ["Stop", "completed", 0],
    ]);
  });

  it.each([
    [system("informational", { content: "careful", level: "warning" }), { level: "warning", code: "informational" }],
    [system("notification", { text: "done" }), { level: "info", code: "notification", message: "done" }],
    [system("session_writes_lost", { lost: ["transcript"], error_code: "ENOSPC" }), { level: "warning" }],
    [system("plugin_install", { status: "failed", error: "no net" }), { level: "warning", message: "no net" }],
    [frameIn({ type: "auth_status", error: "expired" }), { level: "error", message: "expired" }],
    [system("model_refusal_no_fallback", { content: "refused" }), { code: "model_refusal", message: "refused" }],
  ])("notices %#", (frame, expected) => {
    expect(Story.ofFrames([frame]).payloads("notice")).toMatchObject([expected]);
  });
});
