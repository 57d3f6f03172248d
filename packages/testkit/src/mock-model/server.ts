import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib";
import { actionsOf, describe } from "./actions.ts";
import { choose } from "./choice.ts";
import { answerControl } from "./control.ts";
import type { Conversation, Entry } from "./conversation.ts";
import type { Dialect, RequestLine } from "./dialect.ts";
import { dialects } from "./dialects/index.ts";
import { errorOf } from "./errors.ts";
import { Gates } from "./gates.ts";
import { Journal, maskedHeaders, type JournalEntry, type Outcome, type Predicate } from "./journal.ts";
import { isObject, type JsonObject } from "./json.ts";
import { play, sendJson } from "./player.ts";
import type { Part, Reply } from "./scenario.ts";

export interface MockModelOptions {
  /** Default 0: a free one. */
  readonly port?: number;
  /** How many requests the journal keeps. Default 1,000. */
  readonly journalLimit?: number;
  /** Sees every model request with its whole body, credentials in headers masked. */
  readonly onRequest?: (entry: JournalEntry, body: unknown) => void;
}

/** A running mock model server. */
export interface RunningMockModel {
  /** `http://127.0.0.1:PORT`, no trailing slash. OpenAI clients want `/v1` behind it, Anthropic ones do not. */
  readonly url: string;
  readonly port: number;
  readonly journal: () => ReadonlyArray<JournalEntry>;
  /** Forgets the journal and the counted attempts, and lets everyone through the gates. */
  readonly reset: () => void;
  /** Lets the streams at this gate go on, and those that will come to it. */
  readonly releaseGate: (name: string) => void;
  /** Resolves when a stream stands at the gate. */
  readonly gateHeld: (name: string) => Promise<void>;
  /** The first request, past or coming, that fits; asked again when a request ends. */
  readonly waitForRequest: (predicate: Predicate, signal?: AbortSignal) => Promise<JournalEntry>;
  /** Ends all streams and stops listening. */
  readonly stop: () => Promise<void>;
}

const maxBodyBytes = 64 * 1024 * 1024;
const maxCountedRequests = 10_000;
const keptTextLength = 2000;

const decoders: Readonly<Record<string, (body: Buffer) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Array<Buffer> = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new Error(`The request body is larger than ${maxBodyBytes} bytes.`);
    chunks.push(chunk);
  }
  const whole = Buffer.concat(chunks);
  const decode = decoders[request.headers["content-encoding"] ?? ""];
  const text = (decode === undefined ? whole : await decode(whole)).toString("utf8");
  return text === "" ? {} : (JSON.parse(text) as unknown);
};

const shortened = (entry: Entry): Entry =>
  "text" in entry && entry.text.length > keptTextLength
    ? { ...entry, text: entry.text.slice(0, keptTextLength) }
    : entry;

class MockModelServer {
  readonly journal: Journal;
  readonly gates = new Gates();
  readonly #attempts = new Map<string, number>();
  readonly #open = new Set<AbortController>();
  readonly #onRequest: MockModelOptions["onRequest"];

  constructor(options: MockModelOptions) {
    this.journal = new Journal(options.journalLimit ?? 1000);
    this.#onRequest = options.onRequest;
  }

  reset(): void {
    this.journal.reset();
    this.#attempts.clear();
    this.gates.reset();
  }

  abortAll(): void {
    for (const controller of this.#open) controller.abort();
    this.gates.reset();
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const line: RequestLine = { method: request.method ?? "GET", path: url.pathname, headers: request.headers };
    const control = answerControl(line, this);
    if (control !== undefined) return sendJson(response, control);
    let body: unknown;
    try {
      body = await readBody(request);
    } catch (error) {
      return this.#refuse(line, response, 400, `The body is not readable JSON: ${String(error)}`);
    }
    const object = isObject(body) ? body : {};
    const dialect = dialects.find((candidate) => candidate.speaks(line));
    if (dialect !== undefined) return this.#answer(line, dialect, object, response);
    for (const candidate of dialects) {
      const aside = candidate.aside(line, object);
      if (aside === undefined) continue;
      this.#note(line, candidate.name, `aside ${aside.status}`, "completed");
      return sendJson(response, aside);
    }
    return this.#refuse(line, response, 404, `No dialect of the mock model knows ${line.method} ${line.path}.`);
  }

  async #answer(line: RequestLine, dialect: Dialect, body: JsonObject, response: ServerResponse): Promise<void> {
    const conversation = dialect.read(body);
    const choice = choose(conversation);
    const { parts, attempt } = this.#attempt(dialect, conversation, choice.reply);
    const actions = actionsOf(conversation, parts);
    const controller = new AbortController();
    this.#open.add(controller);
    response.on("close", () => controller.abort());
    const { entry, end } = this.journal.add({
      ...this.#lineOf(line, dialect.name),
      model: conversation.model,
      conversation: conversation.key,
      stream: conversation.stream,
      tools: conversation.tools.map((tool) =>
        tool.namespace === undefined ? tool.name : `${tool.namespace}.${tool.name}`,
      ),
      entries: conversation.entries.map(shortened),
      scenario: choice.scenario,
      arg: choice.arg,
      step: choice.step,
      attempt,
      reply: actions.map(describe),
    });
    this.#onRequest?.(entry, body);
    const { signal } = controller;
    const outcome = await play({ dialect, conversation, actions, gates: this.gates, response, signal });
    this.#open.delete(controller);
    end(outcome);
  }

  /** The parts that hold for this attempt at the request: the same history in the same conversation is the same request. */
  #attempt(
    dialect: Dialect,
    conversation: Conversation,
    reply: Reply,
  ): { parts: ReadonlyArray<Part>; attempt: number } {
    if (reply.attempts === undefined) return { parts: reply.parts, attempt: 1 };
    const identity = JSON.stringify([dialect.name, conversation.key, conversation.entries]);
    const key = createHash("sha256").update(identity).digest("hex");
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempt);
    if (this.#attempts.size > maxCountedRequests) this.#attempts.delete(this.#attempts.keys().next().value ?? key);
    return { parts: attempt > reply.attempts.times ? reply.attempts.later : reply.parts, attempt };
  }

  #lineOf(line: RequestLine, dialect: string) {
    return { dialect, method: line.method, path: line.path, headers: maskedHeaders(line.headers) };
  }

  #note(line: RequestLine, dialect: string, reply: string, outcome: Outcome): void {
    const nothing = { model: "", conversation: "", stream: false, tools: [], entries: [], scenario: "", arg: "" };
    const entry = { ...this.#lineOf(line, dialect), ...nothing, step: 0, attempt: 1, reply: [reply] };
    this.journal.add(entry).end(outcome);
  }

  #refuse(line: RequestLine, response: ServerResponse, status: number, message: string): void {
    this.#note(line, "none", `error ${status}`, "error");
    const error = errorOf(String(status));
    sendJson(response, { status, body: { error: { type: error.kind, code: null, message } } });
  }
}

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address === "object" && address !== null) resolve(address.port);
      else reject(new Error("The mock model server has no port."));
    });
  });

/** Starts the server on 127.0.0.1. Fails when the port is taken. */
export const startMockModel = async (options: MockModelOptions = {}): Promise<RunningMockModel> => {
  const mock = new MockModelServer(options);
  const server = createServer((request, response) => {
    mock.handle(request, response).catch((error: unknown) => {
      // A defect of the mock itself: the runtime must not wait for it, and the test must see it.
      process.emitWarning(`The mock model failed: ${error instanceof Error ? error.stack : String(error)}`);
      response.destroy();
    });
  });
  server.keepAliveTimeout = 1000;
  const port = await listen(server, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    journal: () => mock.journal.entries(),
    reset: () => mock.reset(),
    releaseGate: (name) => mock.gates.release(name),
    gateHeld: (name) => mock.gates.held(name),
    waitForRequest: (predicate, signal) => mock.journal.wait(predicate, signal),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        mock.abortAll();
        server.closeAllConnections();
      }),
  };
};
