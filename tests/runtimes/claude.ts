import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { claudeEnvironment, claudeModel } from "@tributary/testkit";
import { JsonLines, type Message } from "./json-lines.ts";

const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((found, key) => (found as Message | undefined)?.[key], value);

const blocksOf = (message: Message): ReadonlyArray<Message> => {
  const content = at(message, "message", "content");
  return Array.isArray(content) ? (content as ReadonlyArray<Message>) : [];
};

/** What a test looks at after a turn. */
export interface ClaudeTurn {
  readonly result: Message;
  /** Streamed text of the root agent, joined. */
  readonly text: string;
  readonly messages: ReadonlyArray<Message>;
  /** Names of the tools that the model called, in order, sub-agents included. */
  readonly calls: ReadonlyArray<string>;
  /** Names of the tools that the host was asked about. */
  readonly asked: ReadonlyArray<unknown>;
}

/** A thin host of `claude` in stream-json mode: every permission granted, every question answered "Blue". */
export class Claude {
  readonly #peer: JsonLines;

  constructor(path: string, mockUrl: string, folder: string, ...more: ReadonlyArray<string>) {
    const home = join(folder, "claude-home");
    const cwd = join(folder, "project");
    mkdirSync(home, { recursive: true });
    mkdirSync(cwd, { recursive: true });
    const args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    const modes = ["--include-partial-messages", "--permission-prompt-tool", "stdio", "--permission-mode", "default"];
    const env = claudeEnvironment(mockUrl, home);
    this.#peer = new JsonLines(path, [...args, ...modes, "--model", claudeModel, ...more], cwd, env);
  }

  async open(): Promise<void> {
    this.#peer.send({ type: "control_request", request_id: "1", request: { subtype: "initialize", hooks: null } });
    await this.#peer.next("the answer to initialize", (message) => message["type"] === "control_response");
  }

  async turn(text: string): Promise<ClaudeTurn> {
    const start = this.#peer.messages.length;
    this.#peer.send({
      type: "user",
      message: { role: "user", content: [{ type: "text", text }] },
      parent_tool_use_id: null,
      session_id: "",
    });
    const result = await this.#untilResult(start);
    const messages = this.#peer.messages.slice(start);
    return {
      result,
      messages,
      text: messages
        .filter((message) => message["type"] === "stream_event" && message["parent_tool_use_id"] === null)
        .map((message) => at(message, "event", "delta", "text") ?? "")
        .join(""),
      calls: messages
        .filter((message) => message["type"] === "assistant")
        .flatMap(blocksOf)
        .filter((block) => block["type"] === "tool_use")
        .map((block) => String(block["name"])),
      asked: messages
        .filter((message) => message["type"] === "control_request")
        .map((message) => at(message, "request", "tool_name")),
    };
  }

  end(): Promise<void> {
    return this.#peer.end();
  }

  async #untilResult(start: number): Promise<Message> {
    for (let from = start; ;) {
      const message = await this.#peer.next(
        "the result",
        (each) => each["type"] === "result" || each["type"] === "control_request",
        from,
      );
      if (message["type"] === "result") return message;
      this.#allow(message);
      from = this.#peer.messages.indexOf(message) + 1;
    }
  }

  #allow(message: Message): void {
    const input = at(message, "request", "input") as Message;
    const questions = at(input, "questions");
    const answers = Array.isArray(questions)
      ? { answers: Object.fromEntries(questions.map((question) => [String(at(question, "question")), "Blue"])) }
      : {};
    this.#peer.send({
      type: "control_response",
      response: {
        subtype: "success",
        request_id: message["request_id"],
        response: { behavior: "allow", updatedInput: { ...input, ...answers } },
      },
    });
  }
}
