import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codexEnvironment, codexHome } from "@tributary/testkit";
import { JsonLines, type Message } from "./json-lines.ts";

const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((found, key) => (found as Message | undefined)?.[key], value);

/** What a test looks at after a turn. */
export interface CodexTurn {
  readonly status: unknown;
  readonly error: unknown;
  /** Text deltas of all assistant messages, joined. */
  readonly text: string;
  readonly messages: ReadonlyArray<Message>;
  /** Items that were completed, by type. */
  readonly items: (type: string) => ReadonlyArray<Message>;
}

/** A thin host of `codex app-server`: one thread, every approval accepted, every question answered "Blue". */
export class Codex {
  readonly #peer: JsonLines;
  readonly #cwd: string;
  #id = 0;
  #thread: unknown;

  constructor(path: string, mockUrl: string, folder: string) {
    const home = join(folder, "codex-home");
    this.#cwd = join(folder, "project");
    mkdirSync(home, { recursive: true });
    mkdirSync(this.#cwd, { recursive: true });
    for (const [name, content] of Object.entries(codexHome(mockUrl, home))) writeFileSync(join(home, name), content);
    this.#peer = new JsonLines(path, ["app-server"], this.#cwd, codexEnvironment(home));
  }

  async open(): Promise<void> {
    await this.#call("initialize", {
      clientInfo: { name: "tests", title: "tests", version: "0" },
      capabilities: { experimentalApi: true },
    });
    this.#peer.send({ method: "initialized" });
    const params = { cwd: this.#cwd, approvalPolicy: "untrusted", sandbox: "workspace-write" };
    this.#thread = at(await this.#call("thread/start", params), "result", "thread", "id");
  }

  async turn(text: string, options: Message = {}): Promise<CodexTurn> {
    const from = this.#peer.messages.length;
    const input = [{ type: "text", text, text_elements: [] }];
    await this.#call("turn/start", { threadId: this.#thread, input, ...options });
    const end = await this.#untilEnd(from);
    const messages = this.#peer.messages.slice(from);
    return {
      status: at(end, "params", "turn", "status"),
      error: at(end, "params", "turn", "error"),
      text: messages
        .filter((message) => message["method"] === "item/agentMessage/delta" && this.#isMine(message))
        .map((message) => String(at(message, "params", "delta")))
        .join(""),
      messages,
      items: (type) =>
        messages
          .filter((message) => message["method"] === "item/completed" && at(message, "params", "item", "type") === type)
          .map((message) => at(message, "params", "item") as Message),
    };
  }

  end(): Promise<void> {
    return this.#peer.end();
  }

  #isMine(message: Message): boolean {
    return at(message, "params", "threadId") === this.#thread;
  }

  async #call(method: string, params: Message): Promise<Message> {
    this.#id += 1;
    const id = `host-${this.#id}`;
    this.#peer.send({ id, method, params });
    const answer = await this.#peer.next(`the answer to ${method}`, (message) => message["id"] === id);
    if (answer["error"] !== undefined) throw new Error(`${method}: ${JSON.stringify(answer["error"])}`);
    return answer;
  }

  async #untilEnd(start: number): Promise<Message> {
    for (let from = start; ;) {
      const message = await this.#peer.next(
        "turn/completed",
        (each) =>
          (each["method"] === "turn/completed" && this.#isMine(each)) || (each["method"] !== undefined && "id" in each),
        from,
      );
      if (message["method"] === "turn/completed") return message;
      this.#answer(message);
      from = this.#peer.messages.indexOf(message) + 1;
    }
  }

  #answer({ id, method, params }: Message): void {
    if (method !== "item/tool/requestUserInput") return this.#peer.send({ id, result: { decision: "accept" } });
    const questions = at(params, "questions") as ReadonlyArray<Message>;
    const answers = Object.fromEntries(questions.map((question) => [question["id"], { answers: ["Blue"] }]));
    return this.#peer.send({ id, result: { answers } });
  }
}
