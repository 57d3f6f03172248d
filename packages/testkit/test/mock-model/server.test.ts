import { promisify } from "node:util";
import { gzip, zstdCompress } from "node:zlib";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Fiber, Scope } from "effect";
import { MockModel, mockTexts, startMockModel } from "../../src/mock-model/index.ts";
import { post, responsesClient } from "./client.ts";

const ask = (url: string, prompt: string) => Effect.promise(() => responsesClient(url).say(prompt));
const json = (response: Response) => response.json() as Promise<unknown>;

describe("the journal", () => {
  it.effect("says what was asked and what was chosen, without credentials", () =>
    Effect.gen(function* () {
      const mock = yield* MockModel;
      yield* ask(mock.url, "[[shell:echo hi]]");
      const entry = (yield* mock.journal)[0];
      assert.deepInclude(entry, {
        number: 1,
        dialect: "responses",
        method: "POST",
        path: "/v1/responses",
        model: "mock-model",
        conversation: "thread-1",
        stream: true,
        scenario: "shell",
        arg: "echo hi",
        step: 0,
        attempt: 1,
        reply: [`text ${mockTexts.beforeToolText.length}`, "call exec_command"],
        outcome: "completed",
      });
      assert.deepEqual(entry?.entries, [{ kind: "user", text: "[[shell:echo hi]]" }]);
      assert.include(entry?.tools ?? [], "multi_agent_v1.spawn_agent");
      assert.strictEqual(entry?.headers["authorization"], "***");
      assert.strictEqual(entry?.headers["x-api-key"], "***");
      assert.notInclude(JSON.stringify(yield* mock.journal), "sk-secret");
    }).pipe(Effect.provide(MockModel.layer())),
  );

  it.effect("is bounded, numbers on, and starts again at a reset", () =>
    Effect.gen(function* () {
      const mock = yield* MockModel;
      for (const _ of [1, 2, 3, 4, 5]) yield* ask(mock.url, "[[empty]]");
      assert.deepEqual(
        (yield* mock.journal).map(({ number }) => number),
        [3, 4, 5],
      );
      yield* mock.reset;
      assert.deepEqual(yield* mock.journal, []);
      yield* ask(mock.url, "[[empty]]");
      assert.deepEqual(
        (yield* mock.journal).map(({ number }) => number),
        [1],
      );
    }).pipe(Effect.provide(MockModel.layer({ journalLimit: 3 }))),
  );

  it.effect("can be waited for", () =>
    Effect.gen(function* () {
      const mock = yield* MockModel;
      const coming = yield* Effect.forkChild(mock.waitForRequest(({ scenario }) => scenario === "echo"));
      yield* ask(mock.url, "[[text]]");
      yield* ask(mock.url, "[[echo]]");
      assert.strictEqual((yield* Fiber.join(coming)).number, 2);
      const past = yield* mock.waitForRequest(({ scenario }) => scenario === "text");
      assert.strictEqual(past.number, 1);
      const ended = yield* mock.waitForRequest(({ number, outcome }) => number === 2 && outcome === "completed");
      assert.strictEqual(ended.scenario, "echo");
    }).pipe(Effect.provide(MockModel.layer())),
  );
});

describe("the server", () => {
  it.effect("refuses what no dialect knows, and bodies that are no JSON", () =>
    Effect.gen(function* () {
      const { url, journal } = yield* MockModel;
      const unknown = yield* Effect.promise(() => post(`${url}/v1/nothing`, {}));
      assert.strictEqual(unknown.status, 404);
      const broken = yield* Effect.promise(() => fetch(`${url}/v1/responses`, { method: "POST", body: "{" }));
      assert.strictEqual(broken.status, 400);
      assert.deepEqual(
        (yield* journal).map(({ dialect, reply }) => [dialect, reply]),
        [
          ["none", ["error 404"]],
          ["none", ["error 400"]],
        ],
      );
    }).pipe(Effect.provide(MockModel.layer())),
  );

  it.effect("reads compressed bodies", () =>
    Effect.gen(function* () {
      const { url } = yield* MockModel;
      const body = Buffer.from(JSON.stringify({ input: "[[text:small]]" }));
      const packed = { gzip: promisify(gzip), zstd: promisify(zstdCompress) };
      for (const [encoding, pack] of Object.entries(packed)) {
        const response = yield* Effect.promise(async () =>
          fetch(`${url}/v1/responses`, {
            method: "POST",
            headers: { "content-encoding": encoding },
            body: new Uint8Array(await pack(body)),
          }),
        );
        assert.include(JSON.stringify(yield* Effect.promise(() => json(response))), '"small"');
      }
    }).pipe(Effect.provide(MockModel.layer())),
  );

  it.effect("can be driven from another process", () =>
    Effect.gen(function* () {
      const { url, gateHeld } = yield* MockModel;
      const answer = responsesClient(url).say("[[gate:a b]]");
      yield* gateHeld("a b");
      yield* Effect.promise(() => fetch(`${url}/__mock/gates/${encodeURIComponent("a b")}`, { method: "POST" }));
      assert.strictEqual((yield* Effect.promise(() => answer)).text, mockTexts.plainText);
      const journal = yield* Effect.promise(() => fetch(`${url}/__mock/journal`).then(json));
      assert.deepInclude((journal as ReadonlyArray<object>)[0], { scenario: "gate", arg: "a b" });
      yield* Effect.promise(() => fetch(`${url}/__mock/reset`, { method: "POST" }));
      assert.deepEqual(yield* Effect.promise(() => fetch(`${url}/__mock/journal`).then(json)), []);
      const other = yield* Effect.promise(() => fetch(`${url}/__mock/other`));
      assert.strictEqual(other.status, 404);
    }).pipe(Effect.provide(MockModel.layer())),
  );

  it.effect("ends with its scope, open streams included", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make();
      const mock = yield* Scope.provide(MockModel.make(), scope);
      const ended = responsesClient(mock.url)
        .say("[[gate:never]]")
        .then((answer) => answer.ended)
        .catch(() => false);
      yield* mock.gateHeld("never");
      yield* Scope.close(scope, Exit.void);
      assert.isFalse(yield* Effect.promise(() => ended));
      const after = yield* Effect.exit(Effect.tryPromise(() => fetch(mock.url)));
      assert.isTrue(Exit.isFailure(after));
    }),
  );

  it.effect("says when its port is taken", () =>
    Effect.gen(function* () {
      const first = yield* Effect.acquireRelease(
        Effect.promise(() => startMockModel()),
        (running) => Effect.promise(() => running.stop()),
      );
      const error = yield* Effect.flip(Effect.scoped(MockModel.make({ port: first.port })));
      assert.strictEqual(error._tag, "MockModelError");
      assert.include(error.message, "EADDRINUSE");
    }).pipe(Effect.scoped),
  );
});
