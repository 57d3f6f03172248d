/**
 * The public API as a client sees it: fetch, the schemas of the contract, and nothing else. Every answer is checked
 * against its schema, so that a case also says whether the wire is what it claims to be.
 */
import { randomUUID } from "node:crypto";
import {
  type Answer,
  InputView,
  RejectionCode,
  RequestRow,
  ThreadPage,
  TimelineRow,
  UserAction,
  type Delivery,
} from "@tributary/contracts";
import { Accepted, AttachmentView, EventPage, InstanceView, PublicEvent } from "@tributary/contracts/api";
import { Schema } from "effect";
import { openSse, type SseStream } from "./sse.ts";

/** Why the server said no. `code` is closed; `userAction` says what to do next. */
const Problem = Schema.Struct({
  type: Schema.String,
  status: Schema.Int,
  title: Schema.String,
  code: Schema.Union([RejectionCode, Schema.String]),
  detail: Schema.String,
  userAction: UserAction,
});
export type Problem = typeof Problem.Type;

/** The server answered with a problem. */
export class ProblemError extends Error {
  readonly problem: Problem;
  constructor(call: string, problem: Problem) {
    super(`${call}: ${problem.status} ${problem.code}: ${problem.detail}`);
    this.problem = problem;
  }
}

const decoder = <A>(schema: Schema.Codec<A, unknown>): ((value: unknown) => A) => Schema.decodeUnknownSync(schema);

const Page = Schema.Struct({ ...ThreadPage.fields, cursor: Schema.String });
const Records = Schema.Struct({
  records: Schema.Array(
    Schema.Struct({
      generation: Schema.Int,
      seq: Schema.Int,
      kind: Schema.Literals(["frame", "call", "reply"]),
      nativeKind: Schema.String,
      events: Schema.Array(Schema.Unknown),
    }),
  ),
  next: Schema.String,
  done: Schema.Boolean,
});
const Diagnostics = Schema.Struct({
  unknown: Schema.Record(Schema.String, Schema.Int),
  undecodable: Schema.Int,
  refused: Schema.Record(Schema.String, Schema.Int),
  recent: Schema.Array(Schema.Struct({ type: Schema.String, reason: Schema.String })),
});

const decode = {
  problem: decoder(Problem),
  accepted: decoder(Accepted),
  thread: decoder(Schema.Struct({ threadId: Schema.String, receipt: Accepted })),
  input: decoder(Schema.Struct({ inputId: Schema.String, receipt: Accepted })),
  attachment: decoder(AttachmentView),
  inputs: decoder(Schema.Struct({ inputs: Schema.Array(InputView) })),
  page: decoder(Page),
  row: decoder(TimelineRow),
  events: decoder(EventPage),
  replay: decoder(Schema.Array(PublicEvent)),
  requests: decoder(Schema.Struct({ requests: Schema.Array(RequestRow) })),
  instance: decoder(InstanceView),
  records: decoder(Records),
  diagnostics: decoder(Diagnostics),
  openapi: decoder(Schema.Struct({ paths: Schema.Record(Schema.String, Schema.Unknown) })),
};

export type ThreadPageView = typeof Page.Type;
export type JournalRecord = (typeof Records.Type)["records"][number];
export type Receipt = typeof Accepted.Type;

export interface NewThread {
  readonly threadId: string;
  readonly cwd: string;
  readonly instance: string;
  readonly [field: string]: unknown;
}

export interface NewInput {
  readonly inputId: string;
  readonly text: string;
  readonly delivery?: Delivery;
  readonly attachments?: ReadonlyArray<{ readonly id: string }>;
}

/** Calls of one server. `key` is the commandId: the same one again repeats a call. */
export class Client {
  readonly url: string;
  readonly token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  async call(method: string, path: string, body?: unknown, key?: string): Promise<unknown> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(method === "GET" ? {} : { "idempotency-key": key ?? randomUUID() }),
      },
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    const what = `${method} ${path}`;
    try {
      throw new ProblemError(what, decode.problem(JSON.parse(text)));
    } catch (error) {
      if (error instanceof ProblemError) throw error;
      throw new Error(`${what} answered ${response.status}, not with a problem: ${text.slice(0, 1_000)}`, {
        cause: error,
      });
    }
  }

  async instance(id: string) {
    return decode.instance(await this.call("GET", `/instances/${id}`));
  }

  /** The paths of the API. */
  async paths(): Promise<ReadonlyArray<string>> {
    return Object.keys(decode.openapi(await this.call("GET", "/openapi.json")).paths);
  }

  async createProject(root: string): Promise<void> {
    await this.call("POST", "/projects", { root });
  }

  async createThread(thread: NewThread) {
    return decode.thread(await this.call("POST", "/threads", thread)).receipt;
  }

  /** Changes settings of a thread. */
  async configure(threadId: string, settings: Readonly<Record<string, string>>): Promise<Receipt> {
    return decode.accepted(await this.call("PATCH", `/threads/${threadId}`, settings));
  }

  async remove(threadId: string): Promise<Receipt> {
    return decode.accepted(await this.call("DELETE", `/threads/${threadId}`));
  }

  /** The newest page of a thread. */
  async page(threadId: string): Promise<ThreadPageView> {
    return decode.page(await this.call("GET", `/threads/${threadId}`));
  }

  /** One row whole. */
  async row(threadId: string, rowId: string) {
    return decode.row(await this.call("GET", `/threads/${threadId}/rows/${encodeURIComponent(rowId)}`));
  }

  async inputs(threadId: string) {
    return decode.inputs(await this.call("GET", `/threads/${threadId}/inputs`)).inputs;
  }

  async requests(threadId: string, state: string) {
    return decode.requests(await this.call("GET", `/requests?threadId=${threadId}&state=${state}`)).requests;
  }

  async submit(threadId: string, input: NewInput, key?: string): Promise<Receipt> {
    return decode.input(await this.call("POST", `/threads/${threadId}/inputs`, input, key)).receipt;
  }

  /** Uploads a content; gives its id. */
  async attach(content: Uint8Array<ArrayBuffer>, mediaType: string): Promise<string> {
    const response = await fetch(`${this.url}/attachments`, {
      method: "POST",
      body: content,
      headers: { authorization: `Bearer ${this.token}`, "content-type": mediaType },
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new ProblemError("POST /attachments", decode.problem(answer));
    return decode.attachment(answer).attachmentId;
  }

  async edit(threadId: string, inputId: string, change: { readonly text?: string; readonly state?: string }) {
    return decode.accepted(await this.call("PATCH", `/threads/${threadId}/inputs/${inputId}`, change));
  }

  async withdraw(threadId: string, inputId: string): Promise<Receipt> {
    return decode.accepted(await this.call("DELETE", `/threads/${threadId}/inputs/${inputId}`));
  }

  async interrupt(
    threadId: string,
    target: { readonly turnId?: string; readonly inputId?: string } = {},
    key?: string,
  ): Promise<Receipt> {
    return decode.accepted(await this.call("POST", `/threads/${threadId}/interrupt`, target, key));
  }

  async release(threadId: string): Promise<Receipt> {
    return decode.accepted(await this.call("POST", `/threads/${threadId}/release`));
  }

  async resumeQueue(threadId: string): Promise<Receipt> {
    return decode.accepted(await this.call("POST", `/threads/${threadId}/queue/resume`));
  }

  async answer(threadId: string, requestId: string, answer: Answer, key?: string): Promise<Receipt> {
    const path = `/requests/${encodeURIComponent(requestId)}/answer`;
    return decode.accepted(await this.call("POST", path, { threadId, answer }, key));
  }

  /** All public events of a thread after a cursor, page by page. */
  async events(threadId: string, after?: string): Promise<ReadonlyArray<PublicEvent>> {
    const all: Array<PublicEvent> = [];
    for (let cursor = after; ;) {
      const query = cursor === undefined ? "" : `?after=${encodeURIComponent(cursor)}`;
      const page = decode.events(await this.call("GET", `/threads/${threadId}/events${query}`));
      all.push(...page.events);
      if (page.done) return all;
      cursor = page.next;
    }
  }

  /** The first events of a thread under the names of session replay. */
  async replay(threadId: string): Promise<ReadonlyArray<PublicEvent>> {
    return decode.replay(await this.call("GET", `/sessions/${threadId}/replay?limit=1000`));
  }

  async records(threadId: string): Promise<ReadonlyArray<JournalRecord>> {
    const all: Array<JournalRecord> = [];
    for (let after = ""; ;) {
      const page = decode.records(await this.call("GET", `/threads/${threadId}/records${after}`));
      all.push(...page.records);
      if (page.done) return all;
      after = `?after=${encodeURIComponent(page.next)}`;
    }
  }

  async diagnostics(threadId: string) {
    return decode.diagnostics(await this.call("GET", `/threads/${threadId}/diagnostics`));
  }

  /** The live stream of a thread, after a cursor or from its beginning. */
  live(threadId: string, after?: string): Promise<SseStream> {
    return openSse(`${this.url}/threads/${threadId}/live`, { token: this.token, lastEventId: after });
  }
}

/** The code with which the server refuses a call; a call that is taken is the failure. */
export const refusal = async (call: Promise<unknown>): Promise<Problem["code"]> => {
  try {
    await call;
  } catch (error) {
    if (error instanceof ProblemError) return error.problem.code;
    throw error;
  }
  throw new Error("The server took what it should have refused.");
};
