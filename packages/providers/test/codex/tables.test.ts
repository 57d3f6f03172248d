/** The pure tables around the translator: options, errors, settings, models, changes. */
import type { OpenOptions } from "@tributary/contracts";
import { Effect } from "effect";
import { describe, expect, it } from "vitest";
import { changesOf, changesTitle } from "../../src/codex/changes.ts";
import { failureOf } from "../../src/codex/errors.ts";
import { modelCapabilities, type Model, unknownChoice } from "../../src/codex/models.ts";
import {
  type Choice,
  commandChoices,
  fileChoices,
  mcpToolChoices,
  permissionChoices,
} from "../../src/codex/options.ts";
import { maskConfig, openParams, policyOf, settingsChange, unmet } from "../../src/codex/settings.ts";

describe("options of an approval", () => {
  const short = (choices: ReadonlyArray<Choice>) =>
    choices.map(({ option, reply }) => [option.id, option.effect, option.scope, JSON.stringify(reply)]);

  it("are what Codex lists, and what it takes besides", () => {
    const rule = { acceptWithExecpolicyAmendment: { execpolicy_amendment: ["npm", "test"] } };
    const choices = commandChoices({ availableDecisions: ["accept", rule, "cancel"] });
    expect(short(choices)).toEqual([
      ["accept", "allow", "once", '{"decision":"accept"}'],
      ["acceptForSession", "allow", "session", '{"decision":"acceptForSession"}'],
      ["acceptWithExecpolicyAmendment", "allow", "user", JSON.stringify({ decision: rule })],
      ["decline", "reject", "once", '{"decision":"decline"}'],
      ["cancel", "cancel", "once", '{"decision":"cancel"}'],
    ]);
    expect(choices[2]?.option.grants).toBe("commands that begin with: npm test");
  });

  it("are one-time ones for a command that a person must decide", () => {
    const ids = commandChoices({ kind: "humanCommand", availableDecisions: ["accept", "cancel"] }).map(
      ({ option }) => option.id,
    );
    expect(ids).toEqual(["accept", "decline", "cancel"]);
  });

  it("name the host of a network rule", () => {
    const deny = { applyNetworkPolicyAmendment: { network_policy_amendment: { host: "example.org", action: "deny" } } };
    const choices = commandChoices({
      networkApprovalContext: { host: "example.org" },
      availableDecisions: ["accept", deny],
    });
    expect(choices.find(({ option }) => option.id.startsWith("apply"))).toMatchObject({
      option: { effect: "reject", scope: "user", label: "Always refuse example.org" },
      reply: { decision: deny },
    });
  });

  it("of a file change are those of the schema, as Codex lists none", () => {
    expect(short(fileChoices(undefined)).map(([id]) => id)).toEqual([
      "accept",
      "acceptForSession",
      "decline",
      "cancel",
    ]);
    expect(fileChoices("/q")[1]?.option.grants).toContain("below /q");
  });

  it("grant what was asked for, for a turn or the session", () => {
    const choices = permissionChoices({ network: { enabled: true }, fileSystem: null });
    expect(choices.map(({ reply }) => reply)).toEqual([
      { permissions: { network: { enabled: true } }, scope: "turn" },
      { permissions: { network: { enabled: true } }, scope: "session" },
      { permissions: {}, scope: "turn" },
    ]);
  });

  it("remember an MCP tool only as long as Codex offers", () => {
    expect(mcpToolChoices([]).map(({ option }) => option.id)).toEqual(["accept", "decline", "cancel"]);
    expect(mcpToolChoices(["session", "always"]).map(({ reply }) => reply["_meta"])).toEqual([
      null,
      { persist: "session" },
      { persist: "always" },
      null,
      null,
    ]);
  });
});

describe("why a turn failed", () => {
  it.each([
    ["contextWindowExceeded", undefined, "context_overflow", false],
    ["usageLimitExceeded", undefined, "quota", false],
    ["rateLimitExceeded", undefined, "rate_limit", true],
    ["serverOverloaded", undefined, "provider", true],
    ["modelNotFound", undefined, "validation", false],
    ["cyberPolicy", undefined, "permission", false],
    ["unauthorized", undefined, "auth", false],
    [{ httpConnectionFailed: { httpStatusCode: 401 } }, undefined, "auth", false],
    [{ httpConnectionFailed: { httpStatusCode: 402 } }, undefined, "quota", false],
    [{ httpConnectionFailed: { httpStatusCode: 403 } }, undefined, "permission", false],
    [{ httpConnectionFailed: { httpStatusCode: null } }, undefined, "transport", true],
    [{ responseTooManyFailedAttempts: { httpStatusCode: 429 } }, undefined, "rate_limit", true],
    [{ responseStreamDisconnected: { httpStatusCode: 502 } }, undefined, "provider", true],
    ["other", { responseStreamDisconnected: { httpStatusCode: null } }, "transport", true],
    ["internalServerError", { responseStreamDisconnected: { httpStatusCode: null } }, "provider", true],
    ["other", undefined, "unknown", false],
    ["somethingNew", undefined, "unknown", false],
    [null, undefined, "unknown", false],
    ["constructor", undefined, "unknown", false],
  ])("%j after %j is %s", (codexErrorInfo, lastRetry, failure, retryable) => {
    expect(failureOf({ message: "m", codexErrorInfo }, lastRetry)).toMatchObject({
      class: failure,
      retryable,
      message: "m",
    });
  });

  it("keeps Codex's own word as the code, and its text within 4 KiB", () => {
    const info = { httpConnectionFailed: { httpStatusCode: 401 } };
    const failure = failureOf({ message: "界".repeat(5000), additionalDetails: "more", codexErrorInfo: info });
    expect(failure.code).toBe("httpConnectionFailed:401");
    expect(Buffer.byteLength(failure.message)).toBeLessThanOrEqual(4096);
    expect(failureOf(undefined).message).toBe("Codex gave no reason.");
  });

  it("knows a missing key, which Codex calls other", () => {
    expect(failureOf({ message: "Missing environment variable: `KEY`.", codexErrorInfo: "other" }).class).toBe("auth");
  });
});

describe("file changes", () => {
  it("are unified diffs, also where Codex gives the file", () => {
    expect(
      changesOf([
        { path: "/p/new", kind: { type: "add" }, diff: "a\nb\n" },
        { path: "/p/cut", kind: { type: "add" }, diff: "a" },
        { path: "/p/empty", kind: { type: "add" }, diff: "" },
        { path: "/p/gone", kind: { type: "delete" }, diff: "x\n" },
        { path: "/p/old", kind: { type: "update", move_path: null }, diff: "@@ -1 +1 @@\n-x\n+y\n" },
        { path: "", kind: { type: "add" }, diff: "" },
        "noise",
      ]).map(({ kind, diff }) => [kind, diff]),
    ).toEqual([
      ["add", "@@ -0,0 +1,2 @@\n+a\n+b\n"],
      ["add", "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n"],
      ["add", ""],
      ["delete", "@@ -1 +0,0 @@\n-x\n"],
      ["update", "@@ -1 +1 @@\n-x\n+y\n"],
    ]);
    expect(
      changesTitle([
        { path: "/p/a.ts", kind: "add" },
        { path: "/p/b.ts", kind: "add" },
      ]),
    ).toBe("a.ts and 1 more");
    expect(changesTitle([])).toBeUndefined();
  });
});

const options = (more: Partial<OpenOptions> = {}): OpenOptions => ({
  threadId: "t",
  generation: 1,
  instance: { id: "i", runtime: "codex" },
  cwd: "/p",
  approvalMode: "ask",
  interactionMode: "default",
  marker: "m",
  onSpawned: () => Effect.void,
  emit: () => Effect.void,
  ...more,
});

describe("settings", () => {
  it("open a thread as asked", () => {
    expect(openParams(options({ model: "m", effort: "high", systemPrompt: "Be brief." }), {})).toEqual({
      cwd: "/p",
      approvalPolicy: "untrusted",
      sandbox: "workspace-write",
      model: "m",
      baseInstructions: "Be brief.",
      config: { model_reasoning_effort: "high" },
    });
    const resumed = openParams(options({ effort: "high", systemPrompt: "x", resume: { nativeSessionId: "n" } }), {});
    expect(resumed).toEqual({
      threadId: "n",
      excludeTurns: true,
      cwd: "/p",
      approvalPolicy: "untrusted",
      sandbox: "workspace-write",
    });
  });

  it("keep the secrets of MCP servers out of what is recorded, and only there", () => {
    const mcpServers = [
      { name: "a", transport: "stdio", command: "x", args: ["y"], env: { KEY: "secret" } },
      { name: "b", transport: "http", url: "https://b", headers: { authorization: "secret" } },
    ] as const;
    const frame = { id: 1, method: "thread/start", params: openParams(options({ mcpServers }), {}) };
    expect(JSON.stringify(frame)).toContain("secret");
    expect(maskConfig(frame)["params"]).toMatchObject({
      config: {
        mcp_servers: {
          a: { command: "x", args: ["y"], env: { KEY: "•••" } },
          b: { url: "https://b", http_headers: { authorization: "•••" } },
        },
      },
    });
  });

  it("ask in every mode but full access", () => {
    expect(policyOf("accept_edits", {})).toEqual(policyOf("ask", {}));
    expect(policyOf("ask", { sandbox: "read-only" })).toEqual({ approvalPolicy: "untrusted", sandbox: "read-only" });
    expect(policyOf("full_access", { sandbox: "read-only" })).toEqual({
      approvalPolicy: "never",
      sandbox: "danger-full-access",
    });
  });

  it("change only what is not so yet", () => {
    const current = { model: "m", effort: "low", approvalPolicy: "untrusted", mode: "default" } as const;
    expect(
      settingsChange(current, { model: "m", effort: "low", approvalMode: "ask", interactionMode: "default" }, {}),
    ).toBeUndefined();
    expect(settingsChange(current, { effort: "high", interactionMode: "plan" }, {})).toEqual({
      effort: "high",
      collaborationMode: {
        mode: "plan",
        settings: { model: "m", reasoning_effort: "high", developer_instructions: null },
      },
    });
    expect(unmet(current, { model: "other" })).toEqual({ option: "model", wanted: "other", got: "m" });
    expect(unmet(current, { serviceTier: "fast" })).toEqual({ option: "serviceTier", wanted: "fast", got: "none" });
    expect(unmet(current, { model: "m", interactionMode: "default" })).toBeUndefined();
  });
});

describe("models", () => {
  const models: ReadonlyArray<Model> = [
    { id: "a", efforts: ["low", "high"], tiers: ["fast"], isDefault: true },
    { id: "b", efforts: ["low"], tiers: [], isDefault: false },
  ];
  it("are capabilities, of the chosen one where there is one", () => {
    expect(modelCapabilities(models)).toEqual({ models: ["a", "b"], efforts: ["low", "high"], serviceTiers: ["fast"] });
    expect(modelCapabilities(models, "b")).toEqual({ models: ["a", "b"], efforts: ["low"], serviceTiers: [] });
    expect(modelCapabilities([], "b")).toEqual({});
  });
  it("say what they do not have; an unknown one is nobody's to judge", () => {
    expect(unknownChoice(models, { model: "b", effort: "high" })).toEqual({
      option: "effort",
      message: "b has the efforts low, not high: choose another one",
    });
    expect(unknownChoice(models, { model: "b", serviceTier: "fast" })?.message).toContain("no tiers");
    expect(unknownChoice(models, { model: "c", effort: "high" })).toBeUndefined();
    expect(unknownChoice(models, { model: "a", effort: "high", serviceTier: "fast" })).toBeUndefined();
  });
});
