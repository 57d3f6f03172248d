import { fileURLToPath } from "node:url";
import { at, CodexHost, codexTrimming, decide, planMode } from "./codex-host.ts";
import type { RecordContext } from "./main.ts";
import { recordScenarios } from "./scenarios.ts";

type Scenario = (host: CodexHost) => Promise<void>;

/** Opens a thread, runs one turn for each text, and closes. */
const turns =
  (...texts: ReadonlyArray<string>): Scenario =>
  async (host) => {
    await host.open();
    for (const text of texts) await host.turn(text);
    await host.tap.close();
  };

const answered =
  (decision: string, ...texts: ReadonlyArray<string>): Scenario =>
  async (host) => {
    await host.open();
    for (const text of texts) await host.turn(text, {}, decide(decision));
    await host.tap.close();
  };

const inPlanMode =
  (text: string): Scenario =>
  async (host) => {
    await host.open();
    await host.turn(text, planMode);
    await host.tap.close();
  };

/** Starts a turn, waits for a sign of life, interrupts it. */
const interrupted =
  (text: string, until: (host: CodexHost, from: number) => Promise<void>): Scenario =>
  async (host) => {
    await host.open();
    const { turn, from } = await host.start(text);
    await until(host, from);
    await host.call("turn/interrupt", { threadId: host.thread, turnId: turn });
    await host.ended(from);
    await host.call("thread/backgroundTerminals/clean", { threadId: host.thread });
    await host.turn("[[text:after it]]");
    await host.tap.close();
  };

const running = async (host: CodexHost, from: number): Promise<void> => {
  const request = await host.request(from);
  host.reply(request, { decision: "accept" });
  await host.notification("serverRequest/resolved", from);
};

const small = {
  config: {
    mcp_servers: {
      small: {
        command: process.execPath,
        args: [fileURLToPath(new URL("../../tests/runtimes/fixtures/mcp-server.mjs", import.meta.url))],
      },
    },
  },
};

const scenarios: Readonly<Record<string, Scenario>> = {
  text: turns("[[text]]"),
  unicode: turns("[[unicode]]"),
  empty: turns("[[empty]]"),
  reasoning: turns("[[reasoning]]"),
  "command-accept": turns("[[shell:echo hi > said.txt; cat said.txt]]"),
  "command-decline": answered("decline", "[[shell:echo hi > said.txt]]"),
  "command-cancel": answered("cancel", "[[shell:echo hi > said.txt]]", "[[text:after it]]"),
  "command-session": answered("acceptForSession", "[[shell:echo hi > said.txt]]", "[[shell:echo hi > said.txt]]"),
  "two-commands": turns("[[two_tools]]"),
  "file-change": turns("[[write:notes.txt]]", "[[edit:notes.txt]]"),
  "todo-list": turns("[[plan]]"),
  question: inPlanMode("[[question]]"),
  "proposed-plan": inPlanMode("[[exit_plan]]"),
  subagent: turns("[[subagent:[[shell:echo hi > child.txt]]]]"),
  compaction: turns("[[err:400ctx]]", "[[text]]"),
  cut: turns("[[cut:30]]"),
  "cut-always": turns("[[cut:30,always]]"),
  "error-401": turns("[[err:401]]"),
  "error-402": turns("[[err:402]]"),
  "error-404": turns("[[err:404]]"),
  "error-429": turns("[[err:429]]"),
  "error-429-quota": turns("[[err:429quota]]"),
  "error-500": turns("[[err:500]]"),
  "error-503": turns("[[err:503]]"),
  "interrupt-text": interrupted("[[gate:text]]", async (host, from) => {
    await host.mock.gateHeld("text");
    await host.notification("item/agentMessage/delta", from);
  }),
  "interrupt-command": interrupted("[[slow_shell:60]]", running),
  "interrupt-approval": interrupted("[[shell:echo hi]]", async (host, from) => {
    await host.request(from);
  }),
  "interrupt-subagent": async (host) => {
    await host.open();
    const { turn, from } = await host.start("[[subagent:[[slow_shell:60]]]]");
    const request = await host.request(from);
    host.reply(request, { decision: "accept" });
    await host.notification("serverRequest/resolved", from);
    await host.call("turn/interrupt", { threadId: host.thread, turnId: turn });
    const child = { threadId: at(request, "params", "threadId"), turnId: at(request, "params", "turnId") };
    await host.call("turn/interrupt", child);
    await host.call("thread/backgroundTerminals/clean", { threadId: child.threadId });
    await host.tap.close();
  },
  background: async (host) => {
    await host.open({ approvalPolicy: "never", sandbox: "danger-full-access" });
    await host.turn('[[call:exec_command {"cmd":"echo begun; sleep 60","yield_time_ms":300}]]');
    const from = host.tap.messages.length;
    await host.call("thread/backgroundTerminals/clean", { threadId: host.thread });
    await host.notification("item/completed", from);
    await host.tap.close();
  },
  steer: async (host) => {
    await host.open();
    const { turn, from } = await host.start("[[shell:echo hi > said.txt]]");
    const request = await host.request(from);
    const input = { threadId: host.thread, clientUserMessageId: "steered", input: host.input("[[text:steered]]") };
    await host.call("turn/steer", { ...input, expectedTurnId: turn });
    await host.start("[[text:started while it ran]]");
    host.reply(request, { decision: "accept" });
    await host.ended(from);
    await host.call("turn/steer", { ...input, clientUserMessageId: "too-late", expectedTurnId: turn });
    await host.tap.close();
  },
  settings: async (host) => {
    await host.open();
    await host.call("thread/settings/update", { threadId: host.thread, effort: "low", ...planMode });
    const from = host.tap.messages.length;
    await host.call("thread/name/set", { threadId: host.thread, name: "A name" });
    await host.notification("thread/name/updated", Math.max(0, from - 5));
    await host.turn("[[text]]");
    await host.tap.close();
  },
  mcp: async (host) => {
    await host.open(small);
    await host.notification("mcpServer/startupStatus/updated", 0, (params) => at(params, "status") === "ready");
    await host.turn('[[call:add {"a":1,"b":2}]]');
    await host.turn("[[call:ask {}]]");
    await host.tap.close();
  },
  resume: async (host) => {
    await host.open();
    await host.turn("[[text:remember me]]");
    const { thread } = host;
    const { from } = await host.start("[[gate:killed]]");
    await host.mock.gateHeld("killed");
    await host.notification("item/agentMessage/delta", from);
    await host.tap.kill();
    await host.open({ threadId: thread, excludeTurns: true }, "thread/resume");
    await host.turn("[[echo]]");
    await host.call("thread/resume", { threadId: "00000000-0000-7000-8000-000000000000" });
    await host.tap.close();
  },
  killed: async (host) => {
    await host.open();
    const { from } = await host.start("[[slow_shell:60]]");
    await running(host, from);
    await host.tap.kill();
  },
};

export const record = (context: RecordContext): Promise<void> =>
  recordScenarios(
    {
      name: "codex",
      scenarios,
      host: (program, mock) => new CodexHost(program, mock),
      trimming: codexTrimming,
    },
    context,
  );
