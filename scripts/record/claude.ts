import { fileURLToPath } from "node:url";
import { acceptForSession, ClaudeHost, claudeTrimming, reject } from "./claude-host.ts";
import type { RecordContext } from "./main.ts";
import { recordScenarios } from "./scenarios.ts";

type Scenario = (host: ClaudeHost) => Promise<void>;

const forwarding = { greeting: { forwardSubagentText: true } };

/** Opens a session, runs one turn for each text, and closes. */
const turns =
  (...texts: ReadonlyArray<string>): Scenario =>
  async (host) => {
    await host.open();
    for (const text of texts) await host.turn(text);
    await host.tap.close();
  };

const inPlanMode =
  (...[first, ...others]: ReadonlyArray<Parameters<ClaudeHost["turn"]>>): Scenario =>
  async (host) => {
    await host.open(["--permission-mode", "plan"]);
    for (const turn of first === undefined ? [] : [first, ...others]) await host.turn(...turn);
    await host.tap.close();
  };

/** A turn that waits for the model, another message, what is done about both, and the ends of both. */
const withQueued =
  (then: (host: ClaudeHost, queued: string) => Promise<void>, last: (host: ClaudeHost) => Promise<void>): Scenario =>
  async (host) => {
    await host.open();
    const { from } = host.say("[[gate:first]]");
    await host.mock.gateHeld("first");
    const { uuid } = host.say("[[text:queued one]]");
    await host.frame("command_lifecycle", host.tap.messages.length);
    await then(host, uuid);
    host.mock.releaseGate("first");
    await host.ended(from);
    await last(host);
    await host.tap.close();
  };

/** The queued message gets a turn of its own. */
const itsTurn = async (host: ClaudeHost): Promise<void> => {
  const first = host.tap.messages.findIndex(({ type }) => type === "result");
  await host.ended(first + 1);
};

const background = (tool: string, input: object): string => `[[call:${tool} ${JSON.stringify(input)}]]`;
const slowAgent = { description: "an agent", prompt: "[[slow:40,50]]", subagent_type: "general-purpose" };
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const hook = (command: string) => ({ hooks: [{ type: "command", command }] });
const hooks = {
  SessionStart: [hook("echo started")],
  UserPromptSubmit: [hook("echo extra context")],
  PreToolUse: [{ matcher: "Bash", ...hook("echo pre; exit 2") }],
  Stop: [hook("echo stop")],
};

const small = {
  mcpServers: {
    small: {
      command: process.execPath,
      args: [fileURLToPath(new URL("../../tests/runtimes/fixtures/mcp-server.mjs", import.meta.url))],
    },
    broken: { command: "/nonexistent", args: [] },
  },
};

const scenarios: Readonly<Record<string, Scenario>> = {
  separators: turns("a\u2028b\u2029c\u0085d [[echo]]"),
  empty: turns("[[empty]]"),
  cut: turns("[[cut:40]]", "[[cut:40,always]]"),
  "todo-list": turns("[[plan]]"),
  "error-400": turns("[[err:400]]"),
  "error-400-context": turns("[[err:400ctx]]", "[[text]]"),
  "error-401": turns("[[err:401]]"),
  "error-402": turns("[[err:402]]"),
  "error-403": turns("[[err:403]]"),
  "error-404": turns("[[err:404]]"),
  "error-529": turns("[[err:529]]"),
  "error-in-stream": turns("[[err_mid:500]]"),
  "slash-commands": turns("[[text]]", "/context", "/cost", "/compact", "[[text:after it]]", "/clear", "[[echo]]"),
  tools: async (host) => {
    host.put("f.txt", "one\ntwo\nthree\n");
    await host.open();
    await host.turn('[[call:Read {"file_path":"f.txt"}]]');
    await host.turn('[[call:Edit {"file_path":"f.txt","old_string":"two","new_string":"2"}]]');
    for (const text of ["[[shell:ls nosuch]]", "[[shell:grep zzz f.txt]]", '[[call:Read {"file_path":"nosuch.txt"}]]'])
      await host.turn(text);
    await host.tap.close();
  },
  "allow-session": async (host) => {
    await host.open();
    for (let times = 0; times < 2; times += 1) await host.turn("[[shell:touch a.txt]]", acceptForSession);
    await host.tap.close();
  },
  "reject-and-stop": async (host) => {
    await host.open();
    await host.turn("[[shell:touch a.txt]]", reject({ interrupt: true }));
    await host.turn("[[text]]");
    await host.tap.close();
  },
  "plan-accepted": inPlanMode(["[[exit_plan]]"], ["[[text]]"]),
  "plan-rejected": inPlanMode(["[[exit_plan]]", reject()]),
  // The cut must come after the first words: not so on a very busy machine.
  "fallback-without-stream": async (host) => {
    await host.open([], { env: { CLAUDE_CODE_MAX_RETRIES: "0" } });
    await host.turn("[[cut:40,1]]");
    await host.tap.close();
  },
  image: async (host) => {
    await host.open();
    const source = { type: "base64", media_type: "image/png", data: png };
    await host.turn([
      { type: "text", text: "[[text:seen]]" },
      { type: "image", source },
    ]);
    await host.tap.close();
  },
  mcp: async (host) => {
    await host.open(["--mcp-config", host.write("mcp.json", JSON.stringify(small))]);
    await host.turn('[[call:mcp__small__add {"a":1,"b":2}]]');
    await host.turn("[[call:mcp__small__ask {}]]");
    await host.tap.close();
  },
  hooks: async (host) => {
    host.write("settings.json", JSON.stringify({ hooks }));
    await host.open(["--include-hook-events"]);
    await host.turn("[[shell:echo hi]]");
    await host.tap.close();
  },
  subagent: async (host) => {
    await host.open([], forwarding);
    await host.turn("[[subagent:[[shell:touch child.txt]]]]");
    await host.tap.close();
  },
  "subagent-without-text": turns("[[subagent:[[text:I am a child]]]]"),
  "subagent-background": async (host) => {
    await host.open([], forwarding);
    await host.turn(background("Agent", { ...slowAgent, run_in_background: true }));
    await host.ended(host.tap.messages.length);
    await host.tap.close();
  },
  "command-background": async (host) => {
    await host.open();
    const command = { command: "sleep 2; echo late", description: "a late word", run_in_background: true };
    await host.turn(background("Bash", command));
    await host.ended(host.tap.messages.length);
    await host.tap.close();
  },
  "command-moved-to-background": async (host) => {
    await host.open();
    // Slow, and in the foreground all the time.
    await host.turn("[[shell:sleep 4]]");
    const { from } = host.say("[[shell:sleep 20]]");
    await host.frame("system", from, "task_started");
    await host.call({ subtype: "background_tasks" });
    await host.ended(from);
    await host.call({ subtype: "interrupt" });
    await host.tap.close();
  },
  steer: async (host) => {
    await host.open();
    const { from } = host.say("[[shell:sleep 1; touch a.txt]]");
    const request = await host.request(from);
    const queued = host.say("[[text:steered]]");
    await host.frame("command_lifecycle", queued.from);
    host.reply(request);
    await host.ended(from);
    await host.tap.close();
  },
  "message-after-text": withQueued(async () => undefined, itsTurn),
  withdraw: withQueued(
    (host, queued) => host.call({ subtype: "cancel_async_message", message_uuid: queued }),
    async () => undefined,
  ),
  "interrupt-with-queue": withQueued(
    (host) => host.call({ subtype: "interrupt", cancel_queued: true }),
    (host) => host.turn("[[text:later]]"),
  ),
  "interrupt-keeping-queue": withQueued((host) => host.call({ subtype: "interrupt" }), itsTurn),
  "interrupt-before-start": async (host) => {
    await host.open();
    const { from } = host.say("[[slow:20,50]]");
    host.ask({ subtype: "interrupt", cancel_queued: true });
    await host.tap.next("the end of the message", (message) => message["state"] === "cancelled", from);
    await host.turn("[[text]]");
    await host.tap.close();
  },
  "interrupt-approval": async (host) => {
    await host.open();
    const { from } = host.say("[[shell:touch a.txt]]");
    await host.request(from);
    await host.call({ subtype: "interrupt" });
    await host.frame("result", from);
    await host.turn("[[text]]");
    await host.tap.close();
  },
  "interrupt-subagent": async (host) => {
    await host.open([], forwarding);
    const { from } = host.say("[[subagent:[[slow:100,50]]]]");
    await host.frame("system", from, "task_started");
    await host.call({ subtype: "interrupt", cancel_queued: true });
    await host.ended(from);
    await host.tap.close();
  },
  controls: async (host) => {
    await host.open();
    await host.call({ subtype: "get_settings" });
    for (const model of ["opus", "no-such-model"]) {
      await host.call({ subtype: "set_model", model });
      await host.call({ subtype: "get_settings" });
    }
    await host.call({ subtype: "apply_flag_settings", settings: { effortLevel: "high" } });
    for (const mode of ["bypassPermissions", "acceptEdits", "plan", "default", "nonsense"])
      await host.call({ subtype: "set_permission_mode", mode });
    await host.call({ subtype: "interrupt" });
    await host.tap.close();
  },
  effort: async (host) => {
    await host.open(["--model", "opus", "--effort", "high"]);
    await host.call({ subtype: "get_settings" });
    await host.tap.close();
  },
  "permission-modes": async (host) => {
    await host.open(["--permission-mode", "bypassPermissions"], { env: { IS_SANDBOX: "1" } });
    await host.turn("[[shell:touch b.txt]]");
    for (const mode of ["default", "bypassPermissions", "plan", "bypassPermissions"])
      await host.call({ subtype: "set_permission_mode", mode });
    await host.tap.close();
  },
  resume: async (host) => {
    await host.open();
    await host.turn("[[text:one]]");
    await host.tap.close();
    await host.open(["--resume", host.session]);
    await host.call({ subtype: "get_usage" });
    await host.turn("[[text:two]]");
    await host.tap.close();
  },
  "repeated-uuid": async (host) => {
    await host.open();
    const first = host.say("[[text:one]]");
    await host.ended(first.from);
    const again = host.say("[[text:one]]", first.uuid);
    const isOver = (message: object) => "state" in message && message.state === "completed";
    await host.tap.next("the end of the message", isOver, again.from);
    await host.tap.close();
  },
  "missing-session": async (host) => {
    host.start(["--resume", "11111111-1111-4111-8111-111111111111"]);
    host.ask({ subtype: "initialize", hooks: null });
    await host.frame("result", 0);
    await host.tap.close();
  },
  "start-refused": async (host) => {
    // As root only; elsewhere this starts.
    host.start(["--dangerously-skip-permissions"], { CLAUDE_CODE_STARTUP_FAILURE_RESULTS: "1" });
    host.ask({ subtype: "initialize", hooks: null });
    await host.frame("result", 0);
    await host.tap.close();
  },
  "no-login": async (host) => {
    await host.open([], { env: { ANTHROPIC_API_KEY: undefined } });
    await host.turn("[[text]]");
    await host.tap.close();
  },
  killed: async (host) => {
    await host.open();
    const { from } = host.say("[[slow:40,50]]");
    await host.delta(from);
    await host.tap.kill();
  },
};

export const record = (context: RecordContext): Promise<void> =>
  recordScenarios(
    {
      name: "claude",
      scenarios,
      host: (program, mock) => new ClaudeHost(program, mock),
      trimming: claudeTrimming,
    },
    context,
  );
