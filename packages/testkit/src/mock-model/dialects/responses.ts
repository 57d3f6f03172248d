import { userEntries, type Conversation, type Entry, type Tool } from "../conversation.ts";
import { inputTokens, mockModels, sse, tokens, type Dialect, type Encoder } from "../dialect.ts";
import { blockTexts, objectAt, objectsAt, stringAt, type JsonObject } from "../json.ts";
import type { ModelError } from "../scenario.ts";
import type { ToolCall } from "../tools.ts";

/**
 * OpenAI Responses (`POST …/responses`, server-sent events), as Codex speaks it. Event names and shapes follow the
 * public API reference; what Codex 0.171 sends and needs was seen (see the README of this folder).
 */

const toolOf = (declared: JsonObject, namespace?: string): ReadonlyArray<Tool> => {
  const name = stringAt(declared, "name");
  const description = stringAt(declared, "description") ?? "";
  if (name === undefined) return [];
  const group = namespace === undefined ? {} : { namespace };
  switch (declared["type"]) {
    case "function": {
      const schema = objectAt(declared, "parameters") ?? {};
      return [{ name, ...group, description, input: "json", schema }];
    }
    case "custom":
      return [{ name, ...group, description, input: "freeform", schema: objectAt(declared, "format") ?? {} }];
    case "namespace":
      return objectsAt(declared, "tools").flatMap((tool) => toolOf(tool, name));
    default:
      return [];
  }
};

const entriesOf = (item: JsonObject): ReadonlyArray<Entry> => {
  const id = stringAt(item, "call_id") ?? "";
  switch (item["type"]) {
    case "function_call":
    case "custom_tool_call":
      return [{ kind: "call", id, tool: stringAt(item, "name") ?? "" }];
    case "function_call_output":
    case "custom_tool_call_output":
      return [{ kind: "result", id, text: blockTexts(item["output"]).join("") }];
    case undefined:
    case "message": {
      const parts = blockTexts(item["content"]);
      if (item["role"] === "user") return parts.flatMap(userEntries);
      if (item["role"] === "assistant") return [{ kind: "assistant", text: parts.join("") }];
      return [];
    }
    default:
      return [];
  }
};

const read = (body: JsonObject): Conversation => {
  const input = body["input"];
  return {
    key: stringAt(body, "prompt_cache_key") ?? "",
    model: stringAt(body, "model") ?? "",
    stream: body["stream"] === true,
    tools: objectsAt(body, "tools").flatMap((tool) => toolOf(tool)),
    deferred: [],
    entries: typeof input === "string" ? userEntries(input) : objectsAt(body, "input").flatMap(entriesOf),
  };
};

/** The error's `type` and `code` as OpenAI writes them. */
const errorNames: Readonly<Record<ModelError["kind"], { readonly type: string; readonly code: string | null }>> = {
  bad_request: { type: "invalid_request_error", code: null },
  context: { type: "invalid_request_error", code: "context_length_exceeded" },
  auth: { type: "invalid_request_error", code: "invalid_api_key" },
  billing: { type: "billing_error", code: "billing_not_active" },
  forbidden: { type: "invalid_request_error", code: "unsupported_country_region_territory" },
  not_found: { type: "invalid_request_error", code: "model_not_found" },
  rate_limit: { type: "requests", code: "rate_limit_exceeded" },
  quota: { type: "insufficient_quota", code: "insufficient_quota" },
  server: { type: "server_error", code: "server_error" },
  overloaded: { type: "server_error", code: "server_is_overloaded" },
};

type Block =
  | { readonly kind: "message"; readonly id: string; text: string }
  | { readonly kind: "reasoning"; readonly id: string; text: string };

const messageItem = (id: string, text: string, status: string): JsonObject => ({
  id,
  type: "message",
  status,
  role: "assistant",
  content: status === "completed" ? [{ type: "output_text", text, annotations: [], logprobs: [] }] : [],
});

const reasoningItem = (id: string, text: string): JsonObject => ({
  id,
  type: "reasoning",
  summary: text === "" ? [] : [{ type: "summary_text", text }],
  encrypted_content: null,
});

class ResponsesEncoder implements Encoder {
  readonly #conversation: Conversation;
  readonly #id: string;
  readonly #output: Array<JsonObject> = [];
  #said = "";
  #sequence = 0;
  #block: Block | undefined;
  #error: { readonly code: string | null; readonly message: string } | null = null;

  constructor(conversation: Conversation, id: string) {
    this.#conversation = conversation;
    this.#id = id;
  }

  open(): string {
    const response = this.#response("in_progress");
    return this.#event("response.created", { response }) + this.#event("response.in_progress", { response });
  }

  text(delta: string): string {
    const opened = this.#enter("message");
    return opened + this.#delta("response.output_text.delta", delta, { content_index: 0, logprobs: [] });
  }

  reasoning(delta: string): string {
    const opened = this.#enter("reasoning");
    return opened + this.#delta("response.reasoning_summary_text.delta", delta, { summary_index: 0 });
  }

  toolCall(call: ToolCall, callId: string): string {
    const closed = this.#leave();
    const freeform = call.tool.input === "freeform";
    const source = typeof call.input === "string" ? call.input : JSON.stringify(call.input);
    const field = freeform ? "input" : "arguments";
    const kind = freeform ? "custom_tool_call" : "function_call";
    const events = freeform ? "response.custom_tool_call_input" : "response.function_call_arguments";
    const id = this.#itemId(freeform ? "ctc" : "fc");
    const item = (status: string, value: string): JsonObject => ({
      id,
      type: kind,
      status,
      call_id: callId,
      name: call.tool.name,
      ...(call.tool.namespace === undefined ? {} : { namespace: call.tool.namespace }),
      [field]: value,
    });
    const at = { item_id: id, output_index: this.#output.length };
    const half = Math.ceil(source.length / 2);
    const frames = [
      this.#event("response.output_item.added", { output_index: at.output_index, item: item("in_progress", "") }),
      this.#event(`${events}.delta`, { ...at, delta: source.slice(0, half) }),
      this.#event(`${events}.delta`, { ...at, delta: source.slice(half) }),
      this.#event(`${events}.done`, { ...at, [field]: source }),
      this.#event("response.output_item.done", { output_index: at.output_index, item: item("completed", source) }),
    ];
    this.#output.push(item("completed", source));
    this.#said += source;
    return closed + frames.join("");
  }

  fail(error: ModelError): string {
    this.#error = { code: errorNames[error.kind].code ?? errorNames[error.kind].type, message: error.message };
    return this.#event("response.failed", { response: this.#response("failed") });
  }

  close(): string {
    return this.#leave() + this.#event("response.completed", { response: this.#response("completed") });
  }

  whole(): unknown {
    return this.#response(this.#error === null ? "completed" : "failed");
  }

  #event(type: string, data: JsonObject): string {
    const frame = sse(type, { type, sequence_number: this.#sequence, ...data });
    this.#sequence += 1;
    return frame;
  }

  #itemId(prefix: string): string {
    return `${prefix}_${this.#id}_${this.#output.length}`;
  }

  #response(status: string): JsonObject {
    const input = inputTokens(this.#conversation);
    const output = tokens(this.#said);
    const usage = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    };
    return {
      id: `resp_${this.#id}`,
      object: "response",
      created_at: 0,
      status,
      error: this.#error,
      incomplete_details: null,
      model: this.#conversation.model,
      output: status === "completed" ? this.#output : [],
      usage: status === "completed" ? usage : null,
    };
  }

  #delta(type: string, delta: string, extra: JsonObject): string {
    const block = this.#block;
    if (block === undefined) return "";
    block.text += delta;
    this.#said += delta;
    return this.#event(type, { item_id: block.id, output_index: this.#output.length, ...extra, delta });
  }

  #enter(kind: Block["kind"]): string {
    if (this.#block?.kind === kind) return "";
    const closed = this.#leave();
    const id = this.#itemId(kind === "message" ? "msg" : "rs");
    this.#block = { kind, id, text: "" };
    const at = { item_id: id, output_index: this.#output.length };
    const item = kind === "message" ? messageItem(id, "", "in_progress") : reasoningItem(id, "");
    const added = this.#event("response.output_item.added", { output_index: at.output_index, item });
    const part =
      kind === "message"
        ? this.#event("response.content_part.added", { ...at, content_index: 0, part: outputText("") })
        : this.#event("response.reasoning_summary_part.added", { ...at, summary_index: 0, part: summaryText("") });
    return closed + added + part;
  }

  #leave(): string {
    const block = this.#block;
    if (block === undefined) return "";
    const { id, text } = block;
    const at = { item_id: id, output_index: this.#output.length };
    const message = block.kind === "message";
    const item = message ? messageItem(id, text, "completed") : reasoningItem(id, text);
    const done = message
      ? this.#event("response.output_text.done", { ...at, content_index: 0, text, logprobs: [] }) +
        this.#event("response.content_part.done", { ...at, content_index: 0, part: outputText(text) })
      : this.#event("response.reasoning_summary_text.done", { ...at, summary_index: 0, text }) +
        this.#event("response.reasoning_summary_part.done", { ...at, summary_index: 0, part: summaryText(text) });
    const itemDone = this.#event("response.output_item.done", { output_index: at.output_index, item });
    this.#output.push(item);
    this.#block = undefined;
    return done + itemDone;
  }
}

const outputText = (text: string): JsonObject => ({ type: "output_text", text, annotations: [], logprobs: [] });
const summaryText = (text: string): JsonObject => ({ type: "summary_text", text });

export const responses: Dialect = {
  name: "responses",
  speaks: ({ method, path }) => method === "POST" && path.endsWith("/responses"),
  aside: ({ method, path }) =>
    method === "GET" && path.endsWith("/models")
      ? {
          status: 200,
          body: {
            object: "list",
            data: mockModels.map((id) => ({ id, object: "model", created: 0, owned_by: "mock" })),
          },
        }
      : undefined,
  read,
  encoder: (conversation, id) => new ResponsesEncoder(conversation, id),
  error: (error) => ({
    status: error.status,
    headers: error.retryAfterSeconds === undefined ? {} : { "retry-after": String(error.retryAfterSeconds) },
    body: { error: { message: error.message, param: null, ...errorNames[error.kind] } },
  }),
};
