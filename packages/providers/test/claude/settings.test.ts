/** What a session is opened with, without opening one. */
import type { OpenOptions } from "@tributary/contracts";
import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { inputUuid } from "../../src/claude/input-id.ts";
import {
  effortsFor,
  initializeRequest,
  isModel,
  misreadOption,
  permissionMode,
  readGreeting,
  sessionArguments,
} from "../../src/claude/settings.ts";

const options = (more: Partial<OpenOptions> = {}): OpenOptions => ({
  threadId: "t",
  generation: 1,
  instance: { id: "i", runtime: "claude", env: { IS_SANDBOX: "1" } },
  cwd: "/p",
  approvalMode: "ask",
  interactionMode: "default",
  marker: "m",
  onSpawned: () => Effect.void,
  emit: () => Effect.void,
  ...more,
});

describe("the permission mode", () => {
  it.each([
    ["ask", "default", true, "default"],
    ["accept_edits", "default", true, "acceptEdits"],
    ["full_access", "default", true, "bypassPermissions"],
    ["full_access", "default", false, "default"],
    ["full_access", "plan", true, "plan"],
  ] as const)("%s, %s, may skip: %s → %s", (approvalMode, interactionMode, canSkip, expected) => {
    expect(permissionMode({ approvalMode, interactionMode }, canSkip)).toBe(expected);
  });
});

describe("arguments", () => {
  const after = (more: Partial<OpenOptions>, beginning: Parameters<typeof sessionArguments>[1]) =>
    sessionArguments(options(more), beginning, "/f").slice(10).join(" ");

  it("say how the conversation begins", () => {
    const end = (beginning: Parameters<typeof sessionArguments>[1]) => after({}, beginning).split("default ")[1];
    expect(end({ kind: "new", sessionId: "a" })).toBe("--session-id a");
    expect(end({ kind: "resume", sessionId: "a" })).toBe("--resume a");
    const fork = { kind: "fork", parentId: "a", sessionId: "b" } as const;
    expect(end(fork)).toBe("--resume a --fork-session --session-id b");
  });

  it("never end in an option that takes any number of values", () => {
    const all = after({ model: "m", effort: "low", disallowedTools: ["A", "B"] }, { kind: "new", sessionId: "a" });
    expect(all).toContain("--model m --effort low --disallowed-tools A B --mcp-config /f --permission-mode default");
  });

  it.each([
    ["model", { model: "--dangerously-skip-permissions" }],
    ["effort", { effort: "--settings={}" }],
    ["disallowedTools", { disallowedTools: ["Bash", "--mcp-config", "{}"] }],
    ["resume", { resume: { nativeSessionId: "--dangerously-skip-permissions" } }],
    ["resume", { resume: { nativeSessionId: "fork:--dangerously-skip-permissions:b" } }],
    [undefined, { model: "m", effort: "low", disallowedTools: ["Bash(rm -rf:*)", "mcp__a-b"] }],
    [undefined, { resume: { nativeSessionId: "fork:11-22:33-44" } }],
  ] as const)("hold no value that the program would read as an option: %s", (option, more) => {
    expect(misreadOption(options(more))).toBe(option);
  });

  it("let checks be skipped only where the program may do so", () => {
    const flag = "--allow-dangerously-skip-permissions";
    const beginning = { kind: "new", sessionId: "a" } as const;
    expect(sessionArguments(options(), beginning, undefined)).toContain(flag);
    const instance = { id: "i", runtime: "claude" as const };
    expect(sessionArguments(options({ instance }), beginning, undefined).includes(flag)).toBe(process.getuid?.() !== 0);
  });

  it("hold neither instructions nor secrets", () => {
    const env = { TOKEN: "very-secret" };
    const mcpServers = [{ name: "s", transport: "stdio" as const, command: "c", env }];
    expect(after({ systemPrompt: "Be kind.", mcpServers }, { kind: "new", sessionId: "a" })).not.toMatch(
      /kind\.|secret/,
    );
  });
});

describe("the first request", () => {
  it("adds instructions, or puts them in the place of Claude Code's own", () => {
    const systemPrompt = "Be kind.";
    expect(initializeRequest(options(), {})).not.toHaveProperty("appendSystemPrompt");
    expect(initializeRequest(options({ systemPrompt }), {})).toMatchObject({ appendSystemPrompt: "Be kind." });
    const replacing = initializeRequest(options({ systemPrompt }), { systemPrompt: "replace" });
    expect(replacing).toMatchObject({ systemPrompt: ["Be kind."] });
    expect(replacing).not.toHaveProperty("systemPromptSnapshot");
  });

  it("replaces what stands in the transcript when there is something new", () => {
    const resume = { nativeSessionId: "a" };
    expect(initializeRequest(options({ resume }), {})).not.toHaveProperty("systemPromptSnapshot");
    expect(initializeRequest(options({ resume, systemPrompt: "x" }), {})).toMatchObject({
      systemPromptSnapshot: false,
    });
  });
});

describe("models", () => {
  const greeting = readGreeting({
    models: [
      { value: "opus", resolvedModel: "claude-opus-5", supportedEffortLevels: ["low", "high"] },
      { value: "haiku", resolvedModel: "claude-haiku-5" },
      "odd",
    ],
  });

  it("are themselves, or what an alias stands for", () => {
    expect(isModel("opus", "claude-opus-5", greeting)).toBe(true);
    expect(isModel("claude-opus-4", "claude-opus-4", greeting)).toBe(true);
    expect(isModel("opus", "claude-haiku-5", greeting)).toBe(false);
    expect(isModel("claude-opus-4", "claude-opus-5", greeting)).toBe(false);
  });

  it("have efforts of their own", () => {
    expect(effortsFor(greeting, "claude-opus-5")).toEqual(["low", "high"]);
    expect(effortsFor(greeting, "haiku")).toEqual([]);
    expect(effortsFor(greeting, undefined)).toEqual(["low", "high"]);
  });
});

describe("the uuid of an input", () => {
  const uuid = (inputId: string, generation = 1, number = 1) => inputUuid(inputId, { generation, number });

  it("is a UUID, and the same for the same attempt", () => {
    expect(uuid("input")).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(uuid("input")).toBe(uuid("input"));
  });

  it("is another one for another input, process or attempt", () => {
    const all = [uuid("input"), uuid("input2"), uuid("input", 2), uuid("input", 1, 2)];
    expect(new Set(all).size).toBe(4);
  });
});
