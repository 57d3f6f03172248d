import { request } from "node:http";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import type { Answered, CallOptions, TestServer } from "../support/server.ts";
import { freshServer } from "../support/server.ts";

/** By hand: `fetch` lets nobody set these headers. */
const withHeaders = (server: TestServer, headers: Readonly<Record<string, string>>): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const sent = request(`${server.url}/threads`, {
      headers: { authorization: `Bearer ${server.token}`, ...headers },
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers["content-type"] ?? "",
          headers: new Headers(),
          body: JSON.parse(text),
        }),
      );
    });
    sent.end();
  });

interface Case {
  readonly name: string;
  readonly path: string;
  readonly options?: CallOptions;
  readonly status: number;
  readonly code: string;
  /** What the detail must say, so that a person can act on it. */
  readonly says: RegExp;
}

const thread = { threadId: "T", instance: "demo" };

const cases: ReadonlyArray<Case> = [
  {
    name: "malformed JSON",
    path: "/threads",
    options: { raw: '{"cwd": "/x",\n  instance}' },
    status: 400,
    code: "bad_request",
    says: /line 2, column 3/,
  },
  {
    name: "an input that says nothing",
    path: "/threads/T/inputs",
    options: { body: { text: " \n" } },
    status: 400,
    code: "bad_request",
    says: /The input is empty: give it a `text`, or attach/,
  },
  {
    name: "a first input that says nothing",
    path: "/threads",
    options: { body: { ...thread, cwd: "/x", input: { text: "", attachments: [] } } },
    status: 400,
    code: "bad_request",
    says: /The input is empty/,
  },
  {
    name: "an answer deeper than any stack",
    path: "/requests/x/answer",
    options: { raw: `{"answer": {"answers": {"a": ${"[".repeat(20_000)}${"]".repeat(20_000)}}}}` },
    status: 400,
    code: "bad_request",
    says: /payload\.answer/,
  },
  {
    name: "an instance's option deeper than any stack",
    path: "/instances",
    options: {
      raw: `{"id": "x", "runtime": "scripted", "options": {"a": ${"[".repeat(20_000)}${"]".repeat(20_000)}}}`,
    },
    status: 400,
    code: "bad_request",
    says: /256 values inside/,
  },
  {
    name: "an id that is half a character",
    path: "/threads",
    options: { raw: '{"cwd": "/x", "instance": "demo", "threadId": "\\ud800"}' },
    status: 400,
    code: "bad_request",
    says: /payload\.threadId/,
  },
  {
    name: "JSON deeper than any stack",
    path: "/threads",
    options: { raw: `{"cwd": ${"[".repeat(200_000)}` },
    status: 400,
    code: "bad_request",
    says: /line 1, column 200009/,
  },
  {
    name: "a field that is deeper than any stack",
    path: "/threads",
    options: { raw: `{"cwd": ${"[".repeat(100_000)}${"]".repeat(100_000)}, "instance": "demo"}` },
    status: 400,
    code: "bad_request",
    says: /payload\.cwd/,
  },
  {
    name: "a field of the wrong type",
    path: "/threads",
    options: { body: { cwd: 5, instance: "demo" } },
    status: 400,
    code: "bad_request",
    says: /payload\.cwd/,
  },
  {
    name: "a missing body",
    path: "/threads",
    options: { method: "POST" },
    status: 400,
    code: "bad_request",
    says: /payload/,
  },
  {
    name: "a body that is no JSON by its type",
    path: "/threads",
    options: { raw: "cwd=1", headers: { "content-type": "application/x-www-form-urlencoded" } },
    status: 415,
    code: "unsupported_media_type",
    says: /application\/json/,
  },
  { name: "an unknown route", path: "/nowhere", status: 404, code: "not_found", says: /openapi\.json/ },
  {
    name: "a wrong method",
    path: "/threads",
    options: { method: "PUT", body: {} },
    status: 405,
    code: "method_not_allowed",
    says: /GET, POST/,
  },
  {
    name: "a path that can't be decoded",
    path: "/threads/%E0%A4%A",
    status: 400,
    code: "bad_request",
    says: /percent/,
  },
  { name: "a query that is out of range", path: "/threads?limit=0", status: 400, code: "bad_request", says: /limit/ },
  { name: "no token", path: "/threads", options: { token: null }, status: 401, code: "unauthorized", says: /\/token/ },
  {
    name: "a wrong token",
    path: "/threads",
    options: { token: "x".repeat(43) },
    status: 401,
    code: "unauthorized",
    says: /\/token/,
  },
  { name: "an unknown thread", path: "/threads/none", status: 404, code: "not_found", says: /none/ },
  {
    name: "a prompt to an unknown thread",
    path: "/threads/none/inputs",
    options: { body: { text: "x" } },
    status: 409,
    code: "thread_not_found",
    says: /none/,
  },
  {
    name: "an unknown instance",
    path: "/threads",
    options: { body: { cwd: "WORK", instance: "nobody" } },
    status: 409,
    code: "runtime_unavailable",
    says: /nobody/,
  },
  {
    name: "a relative cwd",
    path: "/threads",
    options: { body: { ...thread, cwd: "work" } },
    status: 409,
    code: "cwd_missing",
    says: /absolute/,
  },
  {
    name: "a cwd that is not there",
    path: "/threads",
    options: { body: { ...thread, cwd: "WORK/none" } },
    status: 409,
    code: "cwd_missing",
    says: /none/,
  },
  {
    name: "a cwd outside every project",
    path: "/threads",
    options: { body: { ...thread, cwd: "DATA" } },
    status: 409,
    code: "cwd_outside_roots",
    says: /WORK/,
  },
  {
    name: "an unknown request",
    path: "/requests/none/answer",
    options: { body: { answer: { optionId: "allow" } } },
    status: 404,
    code: "not_found",
    says: /none/,
  },
  {
    name: "an unknown request of a thread that is there",
    path: "/requests/none/answer",
    options: { body: { threadId: "here", answer: { optionId: "allow" } } },
    status: 409,
    code: "unknown_request",
    says: /none/,
  },
  {
    name: "a journal cursor on the event log",
    path: "/threads/here/events?after=r:x.1.2",
    status: 400,
    code: "cursor_invalid",
    says: /journal/,
  },
  {
    name: "an event cursor on the journal",
    path: "/threads/here/records?after=e:x.2",
    status: 400,
    code: "cursor_invalid",
    says: /event log/,
  },
  {
    name: "a cursor that nobody gave",
    path: "/threads/here/events?after=42",
    status: 400,
    code: "cursor_invalid",
    says: /after/,
  },
  {
    name: "nothing to change",
    path: "/threads/here",
    options: { method: "PATCH", body: {} },
    status: 400,
    code: "bad_request",
    says: /one command/,
  },
  {
    name: "a cwd that shall change",
    path: "/threads/here",
    options: { method: "PATCH", body: { cwd: "/elsewhere" } },
    status: 409,
    code: "cwd_immutable",
    says: /./,
  },
  {
    name: "an instance that is there already",
    path: "/instances",
    options: { body: { id: "demo", runtime: "scripted" } },
    status: 400,
    code: "bad_request",
    says: /PATCH/,
  },
];

/** `WORK` and `DATA` stand for the server's folders. */
const placed = <A>(value: A, { work, data }: TestServer): A =>
  JSON.parse(JSON.stringify(value).replaceAll("WORK", work).replaceAll("DATA", data)) as A;

describe("bad input is answered with a problem, and the server goes on", () => {
  it.live(
    "each by its own code",
    () =>
      Effect.gen(function* () {
        const server = yield* freshServer;
        yield* Effect.promise(() =>
          server.call("/threads", { body: { threadId: "here", cwd: server.work, instance: "demo" } }),
        );
        for (const { name, path, options, status, code, says } of cases) {
          const answer = yield* Effect.promise(() => server.call(path, placed(options ?? {}, server)));
          assert.deepInclude(answer.body, { status, code, title: answer.body.title }, name);
          assert.strictEqual(answer.status, status, name);
          assert.match(answer.type, /^application\/problem\+json/, name);
          const expected = new RegExp(says.source.replaceAll("WORK", server.work), says.flags);
          assert.match(answer.body.detail, expected, name);
          assert.isString(answer.body.userAction, name);
        }
        const health = yield* Effect.promise(() => server.call("/health"));
        assert.deepStrictEqual(health.body, { status: "ok" });
      }),
    20_000,
  );

  it.live("a foreign Host and a foreign Origin are refused before anything else is read (pain 25)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const foreign: ReadonlyArray<Readonly<Record<string, string>>> = [
        { host: "evil.example" },
        { host: "localhost:1" },
        { origin: "http://evil.example" },
        { origin: "null" },
        { "sec-fetch-site": "cross-site" },
        // A wrong token does not matter then.
        { host: "evil.example", authorization: "Bearer x" },
      ];
      for (const headers of foreign) {
        const answer = yield* Effect.promise(() => withHeaders(server, headers));
        assert.deepInclude(answer.body, { status: 403, code: "forbidden" }, JSON.stringify(headers));
      }
      const own = yield* Effect.promise(() => withHeaders(server, { origin: server.url }));
      assert.strictEqual(own.status, 200);
    }),
  );

  it.live("an origin in the settings may call, and its browser may read", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const origin = "https://app.example";
      const change = yield* Effect.promise(() =>
        server.call("/settings", { method: "PATCH", body: { allowedOrigins: [origin] } }),
      );
      assert.deepStrictEqual(change.body, { allowedOrigins: [origin] });
      const preflight = yield* Effect.promise(() =>
        server.call("/threads", { method: "OPTIONS", token: null, headers: { origin } }),
      );
      assert.strictEqual(preflight.status, 204);
      const answer = yield* Effect.promise(() => server.call("/threads", { headers: { origin } }));
      assert.strictEqual(answer.status, 200);
      assert.strictEqual(answer.headers.get("access-control-allow-origin"), origin);
    }),
  );

  it.live("100 MB are refused without being kept, whether their length is told or not", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const piece = new Uint8Array(1024 * 1024).fill(0x61);
      let sent = 0;
      const pieces = () =>
        new ReadableStream<Uint8Array>({
          pull: (controller) => {
            sent += 1;
            if (sent > 100) controller.close();
            else controller.enqueue(piece);
          },
        });
      const told = yield* Effect.promise(() => server.call("/threads", { raw: "a".repeat(100 * 1024 * 1024) }));
      assert.deepInclude(told.body, { status: 413, code: "payload_too_large" });
      const untold = yield* Effect.promise(() =>
        fetch(`${server.url}/threads`, {
          method: "POST",
          headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
          body: pieces(),
          duplex: "half",
        }),
      );
      assert.strictEqual(untold.status, 413);
      assert.isBelow(sent, 100);
      const health = yield* Effect.promise(() => server.call("/health"));
      assert.deepStrictEqual(health.body, { status: "ok" });
    }),
  );

  it.live("the same commandId repeats the answer; with another body it is a conflict", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const headers = { "idempotency-key": "once" };
      const create = (title: string) =>
        Effect.promise(() => server.call("/threads", { headers, body: { cwd: server.work, instance: "demo", title } }));
      const first = yield* create("a");
      assert.strictEqual(first.status, 200);
      assert.deepStrictEqual((yield* create("a")).body, first.body);
      const other = yield* create("b");
      assert.deepInclude(other.body, { status: 409, code: "command_id_conflict", commandId: "once" });
      const list = yield* Effect.promise(() => server.call("/threads"));
      assert.lengthOf(list.body.threads, 1);
    }),
  );

  it.live("a first input that is given no id has one that follows from the key, and comes once (I2)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const create = Effect.promise(() =>
        server.call("/threads", {
          headers: { "idempotency-key": "once" },
          body: { cwd: server.work, instance: "demo", input: { text: "hello" } },
        }),
      );
      const first = yield* create;
      assert.strictEqual(first.status, 200, JSON.stringify(first.body));
      assert.deepStrictEqual((yield* create).body, first.body);
      const { threadId, inputId } = first.body;
      const { body } = yield* Effect.promise(() => server.call(`/threads/${threadId}/inputs`));
      assert.deepStrictEqual(
        body.inputs.map(({ id, text }: { id: string; text: string }) => ({ id, text })),
        [{ id: inputId, text: "hello" }],
      );
    }),
  );
});
