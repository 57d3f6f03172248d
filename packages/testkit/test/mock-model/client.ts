import { connect } from "node:net";
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from "../../src/mock-model/json.ts";
import { claudeTools, codexTools } from "./offers.ts";

/** One call as the model wrote it. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly input: unknown;
}

/** A model reply as a client puts it together from the stream. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: ReadonlyArray<Call>;
  /** Whether the stream said that it is over; false when it was cut. */
  readonly ended: boolean;
  readonly failure: JsonObject | undefined;
  readonly events: ReadonlyArray<JsonObject>;
}

/** A conversation from the side of a runtime: what a test says, and the tool results it gives. */
export interface TestClient {
  readonly dialect: string;
  /** Sends the history with a new user message. */
  readonly say: (text: string) => Promise<Answer>;
  /** Answers the calls of the last reply, one text each, and sends. */
  readonly results: (...texts: ReadonlyArray<string>) => Promise<Answer>;
  /** Sends the same request once more. */
  readonly again: () => Promise<Answer>;
  /** The body of the next request without a stream. */
  readonly body: (text: string) => JsonObject;
  readonly path: string;
}

export const post = (url: string, body: unknown, signal?: AbortSignal): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer sk-secret", "x-api-key": "sk-secret" },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });

/** Reads server-sent events; `broken` when the connection ended inside the response. */
const readEvents = async (response: Response) => {
  const decoder = new TextDecoder();
  let text = "";
  let broken = false;
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
    }
  } catch {
    broken = true;
  }
  const events = text.split("\n\n").flatMap((frame) => {
    const data = frame.split("\n").find((line) => line.startsWith("data: "));
    const parsed: unknown = data === undefined ? undefined : JSON.parse(data.slice(6));
    return isObject(parsed) ? [parsed] : [];
  });
  return { events, broken };
};

const joined = (events: ReadonlyArray<JsonObject>, type: string, key: string): string =>
  events.map((event) => (event["type"] === type ? (stringAt(event, key) ?? "") : "")).join("");

const responsesAnswer = (events: ReadonlyArray<JsonObject>): Omit<Answer, "status" | "events"> => {
  const items = events.flatMap((event) =>
    event["type"] === "response.output_item.done" ? [objectAt(event, "item") ?? {}] : [],
  );
  return {
    text: joined(events, "response.output_text.delta", "delta"),
    reasoning: joined(events, "response.reasoning_summary_text.delta", "delta"),
    calls: items.flatMap((item): ReadonlyArray<Call> => {
      const head = { id: stringAt(item, "call_id") ?? "", name: stringAt(item, "name") ?? "" };
      const namespace = stringAt(item, "namespace");
      const group = namespace === undefined ? {} : { namespace };
      if (item["type"] === "custom_tool_call") return [{ ...head, input: item["input"] }];
      if (item["type"] !== "function_call") return [];
      return [{ ...head, ...group, input: JSON.parse(stringAt(item, "arguments") ?? "") as unknown }];
    }),
    ended: events.at(-1)?.["type"] === "response.completed",
    failure: objectAt(
      objectAt(
        events.find((event) => event["type"] === "response.failed"),
        "response",
      ),
      "error",
    ),
  };
};

const messagesAnswer = (events: ReadonlyArray<JsonObject>): Omit<Answer, "status" | "events"> => {
  const deltas = events.flatMap((event) => {
    const delta = objectAt(event, "delta");
    return delta === undefined ? [] : [{ index: event["index"], delta }];
  });
  const all = (type: string, key: string): string =>
    deltas.map(({ delta }) => (delta["type"] === type ? (stringAt(delta, key) ?? "") : "")).join("");
  const calls = events.flatMap((event): ReadonlyArray<Call> => {
    const block = objectAt(event, "content_block");
    if (block?.["type"] !== "tool_use") return [];
    const own = deltas.filter(({ index }) => index === event["index"]);
    const source = own.map(({ delta }) => stringAt(delta, "partial_json") ?? "").join("");
    return [
      { id: stringAt(block, "id") ?? "", name: stringAt(block, "name") ?? "", input: JSON.parse(source) as unknown },
    ];
  });
  return {
    text: all("text_delta", "text"),
    reasoning: all("thinking_delta", "thinking"),
    calls,
    ended: events.at(-1)?.["type"] === "message_stop",
    failure: objectAt(
      events.find((event) => event["type"] === "error"),
      "error",
    ),
  };
};

/** What one API needs to know to keep a conversation going. */
interface Protocol {
  readonly dialect: string;
  readonly path: string;
  readonly body: (history: ReadonlyArray<JsonObject>, tools: ReadonlyArray<JsonObject>) => JsonObject;
  readonly user: (text: string) => JsonObject;
  readonly reply: (answer: Answer) => ReadonlyArray<JsonObject>;
  readonly results: (calls: ReadonlyArray<Call>, texts: ReadonlyArray<string>) => ReadonlyArray<JsonObject>;
  readonly answer: (events: ReadonlyArray<JsonObject>) => Omit<Answer, "status" | "events">;
}

const responsesProtocol: Protocol = {
  dialect: "responses",
  path: "/v1/responses",
  body: (input, tools) => ({ model: "mock-model", stream: true, prompt_cache_key: "thread-1", tools, input }),
  user: (text) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] }),
  reply: ({ text, calls }) => [
    ...(text === "" ? [] : [{ type: "message", role: "assistant", content: [{ type: "output_text", text }] }]),
    ...calls.map(({ id, name, input }) =>
      typeof input === "string"
        ? { type: "custom_tool_call", call_id: id, name, input }
        : { type: "function_call", call_id: id, name, arguments: JSON.stringify(input) },
    ),
  ],
  results: (calls, texts) =>
    calls.map((call, index) => ({
      type: typeof call.input === "string" ? "custom_tool_call_output" : "function_call_output",
      call_id: call.id,
      output: texts[index] ?? "",
    })),
  answer: responsesAnswer,
};

const messagesProtocol: Protocol = {
  dialect: "messages",
  path: "/v1/messages",
  body: (messages, tools) => ({
    model: "claude-mock",
    stream: true,
    max_tokens: 1000,
    metadata: { user_id: "session-1" },
    tools,
    messages,
  }),
  user: (text) => ({ role: "user", content: [{ type: "text", text }] }),
  reply: ({ text, calls }) => [
    {
      role: "assistant",
      content: [
        ...(text === "" ? [] : [{ type: "text", text }]),
        ...calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })),
      ],
    },
  ],
  results: (calls, texts) => [
    {
      role: "user",
      content: calls.map((call, index) => ({
        type: "tool_result",
        tool_use_id: call.id,
        content: [{ type: "text", text: texts[index] ?? "" }],
      })),
    },
  ],
  answer: messagesAnswer,
};

const clientOf = (protocol: Protocol, url: string, tools: ReadonlyArray<JsonObject>): TestClient => {
  const history: Array<JsonObject> = [];
  let last: Answer | undefined;
  const send = async (): Promise<Answer> => {
    const response = await post(`${url}${protocol.path}`, protocol.body(history, tools));
    if (response.headers.get("content-type") !== "text/event-stream") {
      const failure = objectAt(await response.json(), "error");
      return { status: response.status, text: "", reasoning: "", calls: [], ended: false, failure, events: [] };
    }
    const { events, broken } = await readEvents(response);
    const answer = { status: response.status, events, ...protocol.answer(events) };
    last = broken ? { ...answer, ended: false } : answer;
    return last;
  };
  const remember = (): void => {
    if (last !== undefined) history.push(...protocol.reply(last));
    last = undefined;
  };
  return {
    dialect: protocol.dialect,
    path: protocol.path,
    say: (text) => {
      remember();
      history.push(protocol.user(text));
      return send();
    },
    results: (...texts) => {
      const calls = last?.calls ?? [];
      remember();
      history.push(...protocol.results(calls, texts));
      return send();
    },
    again: send,
    body: (text) => ({ ...protocol.body([protocol.user(text)], tools), stream: false }),
  };
};

export const responsesClient = (url: string, tools: ReadonlyArray<JsonObject> = codexTools): TestClient =>
  clientOf(responsesProtocol, url, tools);
export const messagesClient = (url: string, tools: ReadonlyArray<JsonObject> = claudeTools): TestClient =>
  clientOf(messagesProtocol, url, tools);

/** What a raw connection sees of a reply: the bytes, and whether HTTP said that they are complete. */
export const rawReply = (port: number, path: string, body: unknown): Promise<{ text: string; complete: boolean }> =>
  new Promise((resolve, reject) => {
    const content = JSON.stringify(body);
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (data: string) => {
      text += data;
      if (text.endsWith("0\r\n\r\n")) socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve({ text, complete: text.endsWith("0\r\n\r\n") }));
    const length = Buffer.byteLength(content);
    socket.write(`POST ${path} HTTP/1.1\r\nhost: mock\r\ncontent-length: ${length}\r\n\r\n${content}`);
  });

/** The objects of a stream's events under a key, for looking at protocol details. */
export const eventsOf = (answer: Answer, type: string): ReadonlyArray<JsonObject> =>
  answer.events.filter((event) => event["type"] === type);

export { objectAt, objectsAt, stringAt };
