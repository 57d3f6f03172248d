import { codexEnvironment, codexHome, codexModel, type RunningMockModel } from "@tributary/testkit";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Replacements, Trimming } from "./neutral.ts";
import { type Message, Tap } from "./tap.ts";

export type Answer = (request: Message) => Message;

export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((found, member) => (found as Message | undefined)?.[member], value);

export const accept: Answer = ({ method, params }) => {
  if (method === "mcpServer/elicitation/request") return { action: "accept", content: { name: "Zoe" }, _meta: null };
  if (method !== "item/tool/requestUserInput") return { decision: "accept" };
  const questions = at(params, "questions") as ReadonlyArray<Message>;
  return { answers: Object.fromEntries(questions.map(({ id }) => [String(id), { answers: ["Blue"] }])) };
};

export const decide =
  (decision: string): Answer =>
  () => ({ decision });

/** Turns in plan mode. */
export const planMode: Message = {
  collaborationMode: {
    mode: "plan",
    settings: { model: codexModel, reasoning_effort: null, developer_instructions: null },
  },
};

const repository = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");

/** A thin host of `codex app-server` that records what crosses the pipe. */
export class CodexHost {
  readonly tap = new Tap();
  readonly mock: RunningMockModel;
  readonly #program: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "record-codex-"));
  readonly #home = join(this.#folder, "home");
  readonly cwd = join(this.#folder, "project");
  #id = 0;
  #inputs = 0;
  thread: unknown;

  constructor(program: string, mock: RunningMockModel) {
    this.#program = program;
    this.mock = mock;
    mkdirSync(this.#home);
    mkdirSync(this.cwd);
    for (const [name, content] of Object.entries(codexHome(mock.url, this.#home)))
      writeFileSync(join(this.#home, name), content);
  }

  async open(params: Message = {}, method = "thread/start"): Promise<void> {
    this.tap.spawn(this.#program, ["app-server"], this.cwd, codexEnvironment(this.#home));
    await this.call("initialize", {
      clientInfo: { name: "recorder", title: "recorder", version: "0" },
      capabilities: { experimentalApi: true, requestAttestation: false },
    });
    this.tap.send({ method: "initialized" });
    const settings = { cwd: this.cwd, approvalPolicy: "untrusted", sandbox: "workspace-write", ...params };
    this.thread = at(await this.call(method, settings), "result", "thread", "id");
  }

  async call(method: string, params: Message): Promise<Message> {
    this.#id += 1;
    const id = this.#id;
    const from = this.tap.messages.length;
    this.tap.send({ id, method, params });
    return this.tap.next(`the reply to ${method}`, (message) => message["id"] === id && !("method" in message), from);
  }

  /** Starts a turn. Gives its id, and where the messages after its start begin. */
  async start(text: string, more: Message = {}): Promise<{ readonly turn: unknown; readonly from: number }> {
    const from = this.tap.messages.length;
    this.#inputs += 1;
    const params = {
      threadId: this.thread,
      clientUserMessageId: `input-${this.#inputs}`,
      input: this.input(text),
      ...more,
    };
    return { turn: at(await this.call("turn/start", params), "result", "turn", "id"), from };
  }

  input(text: string): ReadonlyArray<Message> {
    return [{ type: "text", text, text_elements: [] }];
  }

  /** The next request of Codex. */
  request(from: number): Promise<Message> {
    return this.tap.next("a request", (message) => "method" in message && "id" in message, from);
  }

  reply(request: Message, result: Message): void {
    this.tap.send({ id: request["id"], result });
  }

  notification(method: string, from: number, fits: (params: unknown) => boolean = () => true): Promise<Message> {
    return this.tap.next(method, (message) => message["method"] === method && fits(message["params"]), from);
  }

  ended(from: number): Promise<Message> {
    return this.notification("turn/completed", from, (params) => at(params, "threadId") === this.thread);
  }

  /** A whole turn, every request answered. */
  async turn(text: string, more: Message = {}, answer: Answer = accept): Promise<void> {
    const { from } = await this.start(text, more);
    for (let next = from; ;) {
      const message = await this.tap.next(
        "the end of the turn",
        (each) =>
          ("method" in each && "id" in each) ||
          (each["method"] === "turn/completed" && at(each, "params", "threadId") === this.thread),
        next,
      );
      if (!("id" in message)) return;
      this.reply(message, answer(message));
      next = this.tap.messages.indexOf(message) + 1;
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get replacements(): Replacements {
    return [
      [this.#program, "codex"],
      [this.#home, "/home/dev/.codex"],
      [this.cwd, "/home/dev/project"],
      [process.execPath, "node"],
      [repository, "/home/dev/tributary"],
      // Codex names files of a turn's diff relative to the temporary folder that is their git root.
      [this.cwd.slice(tmpdir().length + 1), "home/dev/project"],
      [this.mock.url, "http://127.0.0.1:18080"],
      [hostname(), "host"],
    ];
  }
}

const threadMembers = [
  "id",
  "parentThreadId",
  "forkedFromId",
  "agentNickname",
  "cwd",
  "model",
  "status",
  "name",
  "turns",
];

export const codexTrimming: Trimming = {
  texts: new Set(["developer_instructions", "description", "userAgent"]),
  objects: { thread: new Set(threadMembers) },
  repeats: (msg) => {
    const method = at(msg, "method");
    const isDull =
      method === "thread/readState/changed" ||
      method === "remoteControl/status/changed" ||
      (method === "account/rateLimits/updated" && at(msg, "params", "rateLimits", "primary") === null);
    return isDull ? String(method) : undefined;
  },
};
