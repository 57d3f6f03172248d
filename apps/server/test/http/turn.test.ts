import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { addInstance, asking, silent } from "../support/agents.ts";
import type { TestServer } from "../support/server.ts";
import { freshServer } from "../support/server.ts";
import { is, openSse } from "../support/sse.ts";
import type { SseFrame, SseStream } from "../support/sse.ts";

const call = (server: TestServer, path: string, body?: unknown) =>
  Effect.promise(() => server.call(path, body === undefined ? {} : { body }));

const createThread = (server: TestServer, threadId: string, instance: string, text?: string) =>
  call(server, "/threads", {
    threadId,
    cwd: server.work,
    instance,
    ...(text === undefined ? {} : { input: { inputId: `${threadId}-1`, text } }),
  });

const follow = (server: TestServer, threadId: string) =>
  Effect.acquireRelease(
    Effect.promise(() => openSse(`${server.url}/threads/${threadId}/live`, { token: server.token })),
    (stream) => Effect.sync(stream.close),
  );

const until = (stream: SseStream, type: string) => Effect.promise(() => stream.take(is("event", type)));
const last = (frames: ReadonlyArray<SseFrame>) => frames.at(-1)?.data.payload;

describe("a turn over HTTP", () => {
  it.live("streams, asks, is answered, and completes", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "asking", asking);
      yield* createThread(server, "T", "asking", "hello");
      const stream = yield* follow(server, "T");

      const approval = last(yield* until(stream, "request.opened"));
      assert.deepInclude(approval, { kind: "approval", title: "Run make?" });
      const shell = (yield* call(server, "/threads/T")).body.thread;
      assert.strictEqual(shell.status.value, "needs_you");
      const pending = (yield* call(server, "/requests")).body.requests;
      assert.deepStrictEqual(
        pending.map((request: { requestId: string; threadId: string }) => [request.threadId, request.requestId]),
        [["T", approval.requestId]],
      );

      const answer = (body: unknown) =>
        call(server, `/requests/${encodeURIComponent(approval.requestId)}/answer`, body);
      const notOffered = yield* answer({ answer: { optionId: "maybe" } });
      assert.deepInclude(notOffered.body, { status: 409, code: "invalid_answer" });
      const changed = yield* answer({ answer: { optionId: "allow" }, subjectHash: "of something else" });
      assert.deepInclude(changed.body, { status: 409, code: "request_changed" });
      const given = yield* answer({ answer: { optionId: "allow" }, subjectHash: approval.subjectHash });
      assert.strictEqual(given.body.status, "accepted");

      const question = last(yield* until(stream, "request.opened"));
      assert.deepInclude(question, { kind: "user_input" });
      const again = yield* answer({ threadId: "T", answer: { optionId: "reject" } });
      assert.deepInclude(again.body, { status: 409, code: "already_answered" });
      yield* call(server, `/requests/${encodeURIComponent(question.requestId)}/answer`, {
        answer: { answers: { tone: "Gently" } },
      });

      const rest = yield* until(stream, "turn.ended");
      assert.deepInclude(last(rest), { state: "completed" });
      const page = (yield* call(server, "/threads/T")).body;
      const texts = page.rows.filter((row: { kind: string }) => row.kind === "message");
      assert.deepStrictEqual(
        texts.map((row: { role: string; text: string }) => `${row.role}: ${row.text}`),
        ["user: hello", "assistant: You said hello.", "assistant: Allow once, Gently."],
      );
      assert.deepStrictEqual(
        page.turns.map((turn: { state: string }) => turn.state),
        ["completed"],
      );

      const command = page.rows.find((row: { kind: string }) => row.kind === "activity");
      const output = yield* call(server, `/threads/T/items/${encodeURIComponent(command.itemId)}/output`);
      assert.deepInclude(output.body, { output: "done\n", complete: true });
      const row = yield* call(server, `/threads/T/rows/${encodeURIComponent(texts[1].rowId)}`);
      assert.deepInclude(row.body, { kind: "message", text: "You said hello." });
      const records = (yield* call(server, "/threads/T/records?limit=5")).body;
      assert.lengthOf(records.records, 5);
      const more = (yield* call(server, `/threads/T/records?after=${encodeURIComponent(records.next)}`)).body;
      assert.deepStrictEqual([more.records[0].seq, more.done], [6, true]);
    }),
  );

  it.live("shows text before the log has it, and each piece once", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "silent", silent);
      yield* createThread(server, "T", "silent", "go");
      const stream = yield* follow(server, "T");
      // Nothing ends the segment: only live frames, and later its age, bring it out.
      const frames = yield* Effect.promise(() => stream.take(is("live")));
      const live = frames.at(-1)?.data;
      assert.deepInclude(live, { threadId: "T", stream: "assistant_text", offset: 0, text: "I begin and" });
      assert.isFalse(frames.some(is("event", "message.appended")));
      const logged = last(yield* until(stream, "message.appended"));
      assert.deepInclude(logged, { messageId: live.rowId, offset: 0, text: "I begin and" });
      yield* call(server, "/threads/T/interrupt", {});
      const rest = yield* until(stream, "turn.ended");
      assert.deepInclude(last(rest), { state: "interrupted" });
      assert.isFalse(rest.some(is("live")));
    }),
  );

  it.live("that is busy refuses a second prompt, queues one that may wait, and is stopped", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "silent", silent);
      yield* createThread(server, "T", "silent", "one");
      const stream = yield* follow(server, "T");
      yield* until(stream, "turn.started");
      const second = yield* call(server, "/threads/T/inputs", { text: "two", delivery: "prompt" });
      assert.deepInclude(second.body, { status: 409, code: "busy" });
      const queued = yield* call(server, "/threads/T/inputs", { inputId: "Q", text: "three", delivery: "queue" });
      assert.deepInclude(queued.body, { inputId: "Q" });
      assert.strictEqual(queued.body.receipt.mode, "queue");
      const edited = yield* Effect.promise(() =>
        server.call("/threads/T/inputs/Q", { method: "PATCH", body: { text: "four" } }),
      );
      assert.strictEqual(edited.body.status, "accepted");
      const inputs = (yield* call(server, "/threads/T/inputs")).body.inputs;
      assert.include(
        inputs.map((input: { state: string; text: string }) => `${input.state}: ${input.text}`),
        "queued: four",
      );
      const taken = yield* Effect.promise(() => server.call("/threads/T/inputs/Q", { method: "DELETE" }));
      assert.strictEqual(taken.body.status, "accepted");
      yield* call(server, "/threads/T/interrupt", {});
      assert.deepInclude(last(yield* until(stream, "turn.ended")), { state: "interrupted" });
      const nothing = yield* call(server, "/threads/T/interrupt", {});
      assert.deepInclude(nothing.body, { status: 409, code: "no_active_turn" });
    }),
  );

  it.live("of an agent that can't be started says so in the thread", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "broken", "/nowhere/script.json");
      yield* createThread(server, "T", "broken", "hello");
      const stream = yield* follow(server, "T");
      assert.match(last(yield* until(stream, "session.failed")).error.message, /\/nowhere\/script\.json/);
      const view = (yield* call(server, "/instances/broken")).body;
      assert.isFalse(view.installation.available);
    }),
  );

  it.live("keeps the values of an instance's environment to itself (I16)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const secret = "s3cret-value-of-the-environment";
      const script = { otherwise: [{ do: "text", text: `The key is ${secret}.` }] };
      yield* call(server, "/instances", {
        id: "leaky",
        runtime: "scripted",
        env: { API_KEY: secret },
        options: { script },
      });
      const view = yield* call(server, "/instances/leaky");
      assert.deepStrictEqual(view.body.env, ["API_KEY"]);
      yield* createThread(server, "T", "leaky", "hello");
      yield* until(yield* follow(server, "T"), "turn.ended");
      const page = JSON.stringify((yield* call(server, "/threads/T")).body);
      assert.include(page, "The key is");
      assert.notInclude(page, secret);
    }),
  );

  it.live("keeps the answer to a secret question to itself (I16)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const secret = "correct horse battery staple";
      const question = { id: "pw", text: "Password?", options: [], multiple: false, freeText: true, secret: true };
      yield* addInstance(server, "curious", {
        otherwise: [
          { do: "question", name: "pw", questions: [question] },
          { do: "text", text: "I heard {{answer.pw.pw}}." },
        ],
      });
      yield* createThread(server, "T", "curious", "hello");
      const stream = yield* follow(server, "T");
      const { requestId } = last(yield* until(stream, "request.opened"));
      yield* call(server, `/requests/${encodeURIComponent(requestId)}/answer`, { answer: { answers: { pw: secret } } });
      yield* until(stream, "turn.ended");
      const written = ["/threads/T", "/threads/T/events", "/threads/T/records"];
      const all = yield* Effect.forEach(written, (path) => call(server, path));
      assert.include(JSON.stringify(all), "I heard");
      assert.notInclude(JSON.stringify(all), secret);
    }),
  );
});
