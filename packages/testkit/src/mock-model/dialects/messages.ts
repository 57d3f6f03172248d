import { resultEntries, userEntries, type Conversation, type Entry, type Tool } from "../conversation.ts";
import { inputTokens, mockModels, sse, tokens, type Dialect, type Encoder, type RequestLine } from "../dialect.ts";
import { blockTexts, objectAt, objectsAt, stringAt, type JsonObject } from "../json.ts";
import type { ModelError } from "../scenario.ts";
import type { ToolCall } from "../tools.ts";

/**
 * Anthropic Messages (`POST …/v1/messages`, server-sent events), as Claude Code speaks it. Shapes follow the public
 * API reference; what Claude Code 2.1.332 sends and needs was seen (see the README of this folder).
 */

const toolsOf = (body: JsonObject): ReadonlyArray<Tool> =>
  objectsAt(body, "tools").flatMap((declared): ReadonlyArray<Tool> => {
    const name = stringAt(declared, "name");
    const schema = objectAt(declared, "input_schema");
    if (name === undefined || schema === undefined) return [];
    return [{ name, description: stringAt(declared, "description") ?? "", input: "json", schema }];
  });

const deferredList = /deferred tools are now available[^\n]*\n([\s\S]*?)<\/system-reminder>/g;

/** Claude Code names deferred tools in a reminder, one a line. */
const deferredOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.flatMap((text) =>
    [...text.matchAll(deferredList)].flatMap((match) =>
      (match[1] ?? "").split("\n").filter((line) => /^\w+$/.test(line)),
    ),
  );

const blockEntries = (role: unknown, block: JsonObject): ReadonlyArray<Entry> => {
  const text = stringAt(block, "text") ?? "";
  switch (block["type"]) {
    case "text":
      return role === "assistant" ? [{ kind: "assistant", text }] : userEntries(text);
    case "tool_use":
      return [{ kind: "call", id: stringAt(block, "id") ?? "", tool: stringAt(block, "name") ?? "" }];
    case "tool_result":
      return resultEntries(stringAt(block, "tool_use_id") ?? "", blockTexts(block["content"]).join("\n"));
    default:
      return [];
  }
};

const messageEntries = (message: JsonObject): ReadonlyArray<Entry> => {
  const { role, content } = message;
  if (typeof content === "string") return blockEntries(role, { type: "text", text: content });
  return objectsAt(message, "content").flatMap((block) => blockEntries(role, block));
};

const read = (body: JsonObject): Conversation => {
  const tools = toolsOf(body);
  const messages = objectsAt(body, "messages");
  const loaded = new Set(tools.map((tool) => tool.name));
  const texts = messages.flatMap((message) => blockTexts(message["content"]));
  return {
    key: stringAt(objectAt(body, "metadata"), "user_id") ?? "",
    model: stringAt(body, "model") ?? "",
    stream: body["stream"] === true,
    tools,
    deferred: deferredOf(texts).filter((name) => !loaded.has(name)),
    entries: messages.flatMap(messageEntries),
  };
};

const errorTypes: Readonly<Record<ModelError["kind"], string>> = {
  bad_request: "invalid_request_error",
  context: "invalid_request_error",
  auth: "authentication_error",
  billing: "billing_error",
  forbidden: "permission_error",
  not_found: "not_found_error",
  rate_limit: "rate_limit_error",
  quota: "rate_limit_error",
  server: "api_error",
  overloaded: "overloaded_error",
};

const errorBody = (error: ModelError): JsonObject => ({
  type: "error",
  error: { type: errorTypes[error.kind], message: error.message },
  request_id: "req_mock",
});

type Block = { readonly kind: "text" | "thinking"; text: string };

class MessagesEncoder implements Encoder {
  readonly #conversation: Conversation;
  readonly #id: string;
  readonly #content: Array<JsonObject> = [];
  #said = "";
  #block: Block | undefined;
  #error: ModelError | undefined;
  #calls = 0;

  constructor(conversation: Conversation, id: string) {
    this.#conversation = conversation;
    this.#id = id;
  }

  open(): string {
    return this.#event("message_start", { message: this.#message([], null, 1) });
  }

  text(delta: string): string {
    return this.#enter("text") + this.#delta(delta, { type: "text_delta", text: delta });
  }

  reasoning(delta: string): string {
    return this.#enter("thinking") + this.#delta(delta, { type: "thinking_delta", thinking: delta });
  }

  toolCall(call: ToolCall, id: string): string {
    const closed = this.#leave();
    const index = this.#content.length;
    const source = JSON.stringify(call.input);
    const half = Math.ceil(source.length / 2);
    const block = { type: "tool_use", id, name: call.tool.name };
    const part = (json: string): JsonObject => ({ index, delta: { type: "input_json_delta", partial_json: json } });
    this.#content.push({ ...block, input: call.input });
    this.#said += source;
    this.#calls += 1;
    return (
      closed +
      this.#event("content_block_start", { index, content_block: { ...block, input: {} } }) +
      this.#event("content_block_delta", part(source.slice(0, half))) +
      this.#event("content_block_delta", part(source.slice(half))) +
      this.#event("content_block_stop", { index })
    );
  }

  fail(error: ModelError): string {
    this.#error = error;
    return sse("error", errorBody(error));
  }

  close(): string {
    return (
      this.#leave() +
      this.#event("message_delta", {
        delta: { stop_reason: this.#stopReason(), stop_sequence: null },
        usage: { output_tokens: tokens(this.#said) },
      }) +
      this.#event("message_stop", {})
    );
  }

  whole(): unknown {
    return this.#error === undefined
      ? this.#message(this.#content, this.#stopReason(), tokens(this.#said))
      : errorBody(this.#error);
  }

  #event(type: string, data: JsonObject): string {
    return sse(type, { type, ...data });
  }

  #stopReason(): string {
    return this.#calls > 0 ? "tool_use" : "end_turn";
  }

  #message(content: ReadonlyArray<JsonObject>, stopReason: string | null, outputTokens: number): JsonObject {
    return {
      id: `msg_${this.#id}`,
      type: "message",
      role: "assistant",
      model: this.#conversation.model,
      content,
      stop_reason: stopReason,
      stop_sequence: null,
      usage: {
        input_tokens: inputTokens(this.#conversation),
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: outputTokens,
      },
    };
  }

  #delta(text: string, delta: JsonObject): string {
    if (this.#block !== undefined) this.#block.text += text;
    this.#said += text;
    return this.#event("content_block_delta", { index: this.#content.length, delta });
  }

  #enter(kind: Block["kind"]): string {
    if (this.#block?.kind === kind) return "";
    const closed = this.#leave();
    this.#block = { kind, text: "" };
    const block = kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
    return closed + this.#event("content_block_start", { index: this.#content.length, content_block: block });
  }

  #leave(): string {
    const block = this.#block;
    if (block === undefined) return "";
    const index = this.#content.length;
    const signature = `mock-signature-${this.#id}`;
    const signed =
      block.kind === "thinking"
        ? this.#event("content_block_delta", { index, delta: { type: "signature_delta", signature } })
        : "";
    this.#content.push(
      block.kind === "text"
        ? { type: "text", text: block.text }
        : { type: "thinking", thinking: block.text, signature },
    );
    this.#block = undefined;
    return signed + this.#event("content_block_stop", { index });
  }
}

const isModelList = ({ method, path, headers }: RequestLine): boolean =>
  method === "GET" && path.endsWith("/models") && headers["anthropic-version"] !== undefined;

export const messages: Dialect = {
  name: "messages",
  speaks: ({ method, path }) => method === "POST" && path.endsWith("/messages"),
  aside: (line, body) => {
    if (isModelList(line)) {
      const data = mockModels.map((id) => ({
        type: "model",
        id,
        display_name: id,
        created_at: "2026-01-01T00:00:00Z",
      }));
      return { status: 200, body: { data, has_more: false, first_id: data[0]?.id, last_id: data.at(-1)?.id } };
    }
    if (line.method === "POST" && line.path.endsWith("/messages/count_tokens")) {
      return { status: 200, body: { input_tokens: inputTokens(read(body)) } };
    }
    return undefined;
  },
  read,
  encoder: (conversation, id) => new MessagesEncoder(conversation, id),
  error: (error) => ({
    status: error.status,
    headers: error.retryAfterSeconds === undefined ? {} : { "retry-after": String(error.retryAfterSeconds) },
    body: errorBody(error),
  }),
};
