import { claudeEnvironment, claudeModel, type RunningMockModel } from "@tributary/testkit";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Replacements, Trimming } from "./neutral.ts";
import { type Message, Tap } from "./tap.ts";

export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((found, member) => (found as Message | undefined)?.[member], value);

/** Gives the body of the reply to a request of the runtime. */
export type Answer = (request: unknown) => Message;

/** Allows, fills forms, answers questions. */
export const accept: Answer = (request) => {
  if (at(request, "subtype") === "elicitation") return { action: "accept", content: { name: "Zoe" } };
  const input = at(request, "input") as Message;
  const questions = (at(input, "questions") ?? []) as ReadonlyArray<Message>;
  const answers = Object.fromEntries(questions.map(({ question }) => [String(question), "Blue"]));
  return {
    behavior: "allow",
    updatedInput: questions.length === 0 ? input : { ...input, answers },
  };
};

/** Allows, with the suggested rules for this session. */
export const acceptForSession: Answer = (request) => ({
  ...accept(request),
  updatedPermissions: ((at(request, "permission_suggestions") ?? []) as ReadonlyArray<Message>)
    .filter(({ type }) => type !== "setMode")
    .map((update) => ({ ...update, destination: "session" })),
});

export const reject =
  (more: Message = {}): Answer =>
  () => ({ behavior: "deny", message: "The person refused this.", ...more });

const wire = [
  ..."-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages".split(" "),
  ..."--replay-user-messages --permission-prompt-tool stdio --permission-mode default --model".split(" "),
  claudeModel,
];

const repository = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");

/** A thin host of `claude -p` that records what crosses the pipe. */
export class ClaudeHost {
  readonly tap = new Tap();
  readonly mock: RunningMockModel;
  readonly #program: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "record-claude-"));
  readonly #home = join(this.#folder, "home");
  readonly cwd = join(this.#folder, "project");
  #calls = 0;

  constructor(program: string, mock: RunningMockModel) {
    this.#program = program;
    this.mock = mock;
    mkdirSync(this.#home);
    mkdirSync(this.cwd);
  }

  /** A file of the project. */
  put(name: string, content: string): void {
    writeFileSync(join(this.cwd, name), content);
  }

  /** A file of the home folder. Gives its path. */
  write(name: string, content: string): string {
    const path = join(this.#home, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }

  /** Starts a process without a word. */
  start(args: ReadonlyArray<string> = [], env: Readonly<Record<string, string | undefined>> = {}): void {
    const all = Object.entries({ ...claudeEnvironment(this.mock.url, this.#home), ...env });
    const given = Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
    this.tap.spawn(this.#program, [...wire, ...args], this.cwd, given);
  }

  async open(
    args: ReadonlyArray<string> = [],
    {
      env = {},
      greeting = {},
    }: { readonly env?: Record<string, string | undefined>; readonly greeting?: Message } = {},
  ): Promise<void> {
    this.start(args, env);
    await this.call({ subtype: "initialize", hooks: null, ...greeting });
  }

  get session(): string {
    return String(this.tap.messages.findLast((message) => "session_id" in message)?.["session_id"]);
  }

  /** Asks without waiting. */
  ask(request: Message): string {
    this.#calls += 1;
    const id = `call-${this.#calls}`;
    this.tap.send({ type: "control_request", request_id: id, request });
    return id;
  }

  async call(request: Message): Promise<void> {
    const from = this.tap.messages.length;
    const id = this.ask(request);
    const isReply = (message: Message) => at(message, "response", "request_id") === id;
    await this.tap.next(`the reply to ${String(request["subtype"])}`, isReply, from);
  }

  /** Says something. Gives its uuid, and where the messages after it begin. */
  say(content: string | ReadonlyArray<Message>, uuid: string = randomUUID()) {
    const from = this.tap.messages.length;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const message = { role: "user", content: blocks };
    this.tap.send({ type: "user", message, parent_tool_use_id: null, session_id: "", uuid });
    return { uuid, from };
  }

  frame(type: string, from: number, subtype?: string): Promise<Message> {
    const fits = (message: Message) =>
      message["type"] === type && (subtype === undefined || message["subtype"] === subtype);
    return this.tap.next(subtype ?? type, fits, from);
  }

  request(from: number): Promise<Message> {
    return this.frame("control_request", from);
  }

  reply(request: Message, answer: Answer = accept): void {
    const response = answer(request["request"]);
    this.tap.send({
      type: "control_response",
      response: { subtype: "success", request_id: request["request_id"], response },
    });
  }

  delta(from: number): Promise<Message> {
    const isDelta = (message: Message) => at(message, "event", "type") === "content_block_delta";
    return this.tap.next("a delta", isDelta, from);
  }

  /** Until the turn is over, every request answered. */
  async ended(from: number, answer: Answer = accept): Promise<void> {
    for (let next = from; ;) {
      const isNews = ({ type }: Message) => type === "control_request" || type === "result";
      const message = await this.tap.next("the end of the turn", isNews, next);
      if (message["type"] === "result") return;
      this.reply(message, answer);
      next = this.tap.messages.indexOf(message) + 1;
    }
  }

  /** A whole turn. */
  async turn(content: string | ReadonlyArray<Message>, answer: Answer = accept): Promise<void> {
    await this.ended(this.say(content).from, answer);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get replacements(): Replacements {
    const slug = (path: string) => path.replaceAll(/[^\dA-Za-z]/g, "-");
    return [
      [this.#program, "claude"],
      [this.#home, "/home/dev/.claude"],
      [this.cwd, "/home/dev/project"],
      [slug(this.cwd), "-home-dev-project"],
      [this.#folder, "/home/dev"],
      [process.execPath, "/usr/bin/node"],
      [repository, "/home/dev/tributary"],
      [join(tmpdir(), `claude-${process.getuid?.() ?? 0}`), "/tmp/claude"],
      [this.mock.url, "http://127.0.0.1:18080"],
      [hostname(), "host"],
    ];
  }
}

const timings = [
  "duration_ms",
  "duration_api_ms",
  "ttft_ms",
  "ttft_stream_ms",
  "time_to_request_ms",
  "time_to_request_from_spawn_ms",
  "time_origin_ms",
  "request_sent_wall_ms",
];

export const claudeTrimming: Trimming = {
  texts: new Set(["description"]),
  objects: {},
  dropped: new Set([
    ...timings,
    ..."agents plugins skills memory_paths output_style available_output_styles capabilities".split(" "),
    ..."fast_mode_state fast_mode_disabled_reason subagent_stats begun_message_ids safety_stops".split(" "),
    ..."context_management context_usage iterations server_tool_use service_tier inference_geo speed".split(" "),
    ..."pending_permission_requests pending_user_dialog_requests thinking_display owed_rows".split(" "),
    ..."first_content_frame_ms queued_turn_count analytics_disabled product_feedback_disabled argumentHint".split(" "),
  ]),
  lists: { commands: 2, slash_commands: 2, tools: 4 },
  repeats: () => undefined,
};
