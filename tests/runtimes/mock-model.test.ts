import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { codexModel, mockTexts as texts, startMockModel, type RunningMockModel } from "@tributary/testkit";
import { Claude } from "./claude.ts";
import { Codex } from "./codex.ts";

interface Program {
  readonly version: string;
  readonly path: string;
}

let runtimes: { readonly codex: Program; readonly claude: Program };
let mock: RunningMockModel;
let folder: string;

beforeAll(async () => {
  const install = fileURLToPath(new URL("install.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [install]);
  runtimes = JSON.parse(stdout) as typeof runtimes;
  mock = await startMockModel();
  folder = mkdtempSync(join(tmpdir(), "tributary-runtimes-"));
});
afterEach(() => mock.reset());
afterAll(async () => {
  await mock.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Replies that the mock gave since the last test, one list a request. */
const replies = () => mock.journal().map((entry) => entry.reply.join(", "));
const written = (runtime: string, name: string) => readFileSync(join(folder, runtime, "project", name), "utf8");
const planMode = {
  collaborationMode: {
    mode: "plan",
    settings: { model: codexModel, reasoning_effort: null, developer_instructions: null },
  },
};

describe("codex app-server", () => {
  let codex: Codex;
  beforeAll(async () => {
    codex = new Codex(runtimes.codex.path, mock.url, join(folder, "codex"));
    await codex.open();
  });
  afterAll(() => codex.end());

  const methods = (turn: Awaited<ReturnType<Codex["turn"]>>) => turn.messages.map((message) => message["method"]);

  it.each([
    ["[[text]]", texts.plainText],
    ["[[unicode]]", texts.unicodeText],
    ["[[huge:30000]]", texts.hugeText(30_000)],
    ["[[reasoning]]", texts.afterReasoningText],
    ["[[empty]]", ""],
  ])("%s", async (prompt, text) => {
    expect(await codex.turn(prompt)).toMatchObject({ status: "completed", text });
  });

  it("runs a command after an approval", async () => {
    const turn = await codex.turn("[[shell:echo hi > said.txt]]");
    expect(turn.status).toBe("completed");
    expect(methods(turn)).toContain("item/commandExecution/requestApproval");
    expect(turn.items("commandExecution")).toMatchObject([{ status: "completed", exitCode: 0 }]);
    expect(written("codex", "said.txt")).toBe("hi\n");
  });

  it("runs two commands of one reply", async () => {
    const turn = await codex.turn("[[two_tools]]");
    expect(turn.items("commandExecution")).toHaveLength(2);
    expect(turn.text).toBe(texts.beforeTwoToolsText + texts.afterToolText);
    expect(replies()).toHaveLength(2);
  });

  it("writes and edits a file with its patch tool", async () => {
    const turn = await codex.turn("[[write:notes.txt]]");
    expect(methods(turn)).toContain("item/fileChange/requestApproval");
    expect(written("codex", "notes.txt")).toBe(texts.writtenText);
    expect((await codex.turn("[[edit:notes.txt]]")).items("fileChange")).toHaveLength(1);
    expect(written("codex", "notes.txt")).toBe(texts.editedText);
  });

  it("updates its plan", async () => {
    const turn = await codex.turn("[[plan]]");
    expect(methods(turn).filter((method) => method === "turn/plan/updated")).toHaveLength(2);
    expect(turn.text).toBe(texts.beforeToolText + texts.afterPlanText);
  });

  it("asks the person, and proposes a plan, in plan mode", async () => {
    const asked = await codex.turn("[[question]]", planMode);
    expect(methods(asked)).toContain("item/tool/requestUserInput");
    expect(asked.text).toBe(texts.answeredText('{"answers":{"colour":{"answers":["Blue"]}}}'));
    const proposed = await codex.turn("[[exit_plan]]", planMode);
    expect(proposed.items("plan")).toMatchObject([{ text: texts.proposedPlanText }]);
  });

  it("runs a sub-agent", async () => {
    const turn = await codex.turn("[[subagent:[[text:I am a child]]]]");
    expect(turn.text).toBe(texts.beforeToolText + texts.afterToolText);
    expect(mock.journal().find((entry) => entry.arg === "I am a child")?.outcome).toBe("completed");
  });

  it("retries a cut stream, and fails on a refused key", async () => {
    const cut = await codex.turn("[[cut:30]]");
    expect(cut).toMatchObject({ status: "completed", text: texts.plainText.slice(0, 30) + texts.plainText });
    const refused = await codex.turn("[[err:401]]");
    expect(refused).toMatchObject({ status: "failed", error: { codexErrorInfo: { httpConnectionFailed: {} } } });
  });

  it("sends its whole history", async () => {
    await codex.turn("[[text:to be remembered]]");
    expect((await codex.turn("[[echo]]")).text).toMatch(/^[0-9]+ user messages; the last one: \[\[echo\]\]$/);
    expect(mock.journal().at(-1)?.entries).toContainEqual({ kind: "assistant", text: "to be remembered" });
  });
});

describe("claude", () => {
  let claude: Claude;
  beforeAll(async () => {
    claude = new Claude(runtimes.claude.path, mock.url, join(folder, "claude"));
    await claude.open();
  });
  afterAll(() => claude.end());

  it.each([
    ["[[text]]", texts.plainText],
    ["[[unicode]]", texts.unicodeText],
    ["[[huge:30000]]", texts.hugeText(30_000)],
    ["[[reasoning]]", texts.afterReasoningText],
  ])("%s", async (prompt, text) => {
    expect(await claude.turn(prompt)).toMatchObject({ text, result: { subtype: "success", is_error: false } });
  });

  it("runs a command after an approval", async () => {
    const turn = await claude.turn("[[shell:echo hi > said.txt]]");
    expect(turn).toMatchObject({ asked: ["Bash"], calls: ["Bash"], text: texts.beforeToolText + texts.afterToolText });
    expect(written("claude", "said.txt")).toBe("hi\n");
  });

  it("runs two commands of one reply", async () => {
    expect((await claude.turn("[[two_tools]]")).calls).toEqual(["Bash", "Bash"]);
    expect(replies()).toHaveLength(2);
  });

  it("writes and edits a file", async () => {
    expect((await claude.turn("[[write:notes.txt]]")).asked).toEqual(["Write"]);
    expect(written("claude", "notes.txt")).toBe(texts.writtenText);
    expect((await claude.turn("[[edit:notes.txt]]")).calls).toEqual(["Read", "Edit"]);
    expect(written("claude", "notes.txt")).toBe(texts.editedText);
  });

  it("looks its task tools up, then keeps its plan with them", async () => {
    const turn = await claude.turn("[[plan]]");
    const tasks = ["TaskCreate", "TaskCreate", "TaskCreate", "TaskUpdate", "TaskUpdate"];
    expect(turn.calls).toEqual(["ToolSearch", ...tasks]);
    expect(turn.text).toBe(texts.beforeToolText + texts.afterPlanText);
  });

  it("asks the person", async () => {
    const turn = await claude.turn("[[question]]");
    expect(turn.asked).toEqual(["AskUserQuestion"]);
    expect(turn.text).toContain('"Which colour do you want?"="Blue"');
  });

  it("runs a sub-agent", async () => {
    const turn = await claude.turn("[[subagent:[[text:I am a child]]]]");
    expect(turn).toMatchObject({ calls: ["Agent"], text: texts.beforeToolText + texts.afterToolText });
    expect(mock.journal().find((entry) => entry.arg === "I am a child")?.outcome).toBe("completed");
  });

  it("retries a cut stream, and fails on a refused key", async () => {
    expect((await claude.turn("[[cut:30]]")).text).toBe(texts.plainText.slice(0, 30) + texts.plainText);
    expect((await claude.turn("[[err:401]]")).result).toMatchObject({ is_error: true });
  });

  it("sends its whole history", async () => {
    await claude.turn("[[text:to be remembered]]");
    expect((await claude.turn("[[echo]]")).text).toMatch(/^[0-9]+ user messages; the last one: \[\[echo\]\]$/);
    expect(mock.journal().at(-1)?.entries).toContainEqual({ kind: "assistant", text: "to be remembered" });
  });

  it("proposes a plan in plan mode", async () => {
    const planning = new Claude(
      runtimes.claude.path,
      mock.url,
      join(folder, "claude-plan"),
      "--permission-mode",
      "plan",
    );
    await planning.open();
    const turn = await planning.turn("[[exit_plan]]").finally(() => planning.end());
    expect(turn.calls).toEqual(["Write", "ToolSearch", "ExitPlanMode"]);
    expect(turn.asked).toEqual(["ExitPlanMode"]);
    expect(JSON.stringify(turn.messages)).toContain(JSON.stringify(texts.proposedPlanText));
  });
});
