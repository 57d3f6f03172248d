import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import type { Adapter } from "@tributary/contracts";
import { Effect, Exit, Fiber, Scope } from "effect";
import { TestClock } from "effect/testing";
import type { Script } from "../../src/scripted/index.ts";
import { makeScripted } from "../../src/scripted/index.ts";
import { openScript, oneTurn, say } from "./harness.ts";

const installation = (adapter: Adapter, options: Record<string, unknown>) =>
  adapter.installation({ id: "i", runtime: "scripted", options });

describe("controls of a script", () => {
  it.effect("turns go by pattern first, then in order, then otherwise", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript({
        turns: [
          { steps: [{ do: "text", text: "first;" }] },
          { match: "^again", steps: [{ do: "text", text: "matched;" }] },
          { steps: [{ do: "text", text: "second;" }] },
        ],
      });
      const texts = ["a", "AGAIN please", "b", "again", "c"];
      for (const [index, text] of texts.entries()) {
        yield* session.prompt(say(text, `in${index}`));
        yield* heard.wait("turn.completed", index + 1);
      }
      assert.strictEqual(heard.text(), "first;matched;second;matched;The script has no turn left for “c”.");
    }),
  );

  it.effect("a second prompt during a turn is refused", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(oneTurn({ do: "silence" }));
      yield* session.prompt(say("x"));
      yield* heard.wait("turn.started");
      const busy = yield* Effect.flip(session.prompt(say("y", "in2")));
      assert.strictEqual(busy.reason, "refused");
      assert.strictEqual(busy.failure.code, "busy");
    }),
  );

  it.effect("hang, mute, ignore and fail differ by what was done and what was answered", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript({
        on: {
          prompt: ["hang", "mute", { fail: "not_written", class: "transport", code: "epipe", retryable: true }],
          interrupt: ["ignore", "hang", "accept"],
        },
        otherwise: [{ do: "silence" }],
      });
      const hanging = yield* Effect.forkChild(session.prompt(say("x")));
      yield* TestClock.adjust("1 minute");
      assert.deepStrictEqual(heard.types, []);
      const mute = yield* Effect.forkChild(session.prompt(say("y", "in2")));
      yield* heard.wait("turn.started");
      yield* TestClock.adjust("1 minute");
      assert.isUndefined(hanging.pollUnsafe());
      assert.isUndefined(mute.pollUnsafe());
      const failed = yield* Effect.flip(session.prompt(say("z", "in3")));
      assert.strictEqual(failed.reason, "not_written");
      assert.deepStrictEqual(failed.failure, {
        class: "transport",
        code: "epipe",
        message: "the script answers with not_written",
        retryable: true,
      });
      yield* session.interrupt({});
      assert.strictEqual(heard.of("turn.completed").length, 0);
      const unheard = yield* Effect.forkChild(session.interrupt({}));
      yield* TestClock.adjust("1 minute");
      assert.isUndefined(unheard.pollUnsafe());
      assert.strictEqual(heard.of("turn.completed").length, 0);
      yield* session.interrupt({});
      assert.strictEqual(heard.of("turn.completed").length, 1);
      yield* Fiber.interruptAll([hanging, mute, unheard]);
    }),
  );

  it.effect("open can hang, fail with its code, refuse an option, or be unable to resume", () =>
    Effect.gen(function* () {
      const codeOf = (script: Script, over = {}) =>
        Effect.map(Effect.flip(openScript(script, over)), ({ code }) => code);
      assert.strictEqual(yield* codeOf({ on: { open: { fail: "runtime_refused" } } }), "runtime_refused");
      assert.strictEqual(yield* codeOf({ on: { open: { fail: "session_unavailable" } } }), "session_unavailable");
      const resume = { resume: { nativeSessionId: "n" } };
      assert.strictEqual(yield* codeOf({ resume: "unavailable" }, resume), "session_unavailable");
      const refusing = { capabilities: { refusedOptions: { effort: "it has none" } } };
      const error = yield* Effect.flip(openScript(refusing, { effort: "high" }));
      assert.strictEqual(error.code, "unsupported_option");
      assert.include(error.failure.message, "effort");
      assert.strictEqual(yield* codeOf({ model: "small" }, { model: "large" }), "unsupported_option");
      assert.strictEqual(yield* codeOf({ capabilities: { models: ["a"] } }, { model: "b" }), "unsupported_option");

      const hanging = yield* Effect.forkChild(openScript({ on: { open: "hang" } }));
      yield* TestClock.adjust("1 hour");
      assert.isUndefined(hanging.pollUnsafe());
      yield* Fiber.interrupt(hanging);
      const slow = yield* Effect.forkChild(openScript({ openDelayMs: 500 }));
      yield* TestClock.adjust(500);
      assert.isFalse((yield* Fiber.join(slow)).session.resumed);
    }),
  );

  it.effect("a resumed session goes on with the next turn and the same native id", () =>
    Effect.gen(function* () {
      const script: Script = {
        nativeSessionId: "resume-me",
        turns: [{ steps: [{ do: "text", text: "one" }] }, { steps: [{ do: "text", text: "two" }] }],
      };
      const first = yield* openScript(script);
      yield* first.session.prompt(say("x"));
      yield* first.heard.wait("turn.completed");
      yield* first.session.close;
      assert.deepStrictEqual(first.heard.of("session.exited")[0]?.payload, {
        kind: "graceful",
        exitCode: 0,
        recoverable: true,
      });
      const second = yield* openScript(script, { generation: 2, resume: { nativeSessionId: "resume-me" } });
      assert.isTrue(second.session.resumed);
      yield* second.session.prompt(say("y"));
      const { turnId } = yield* second.heard.wait("turn.completed");
      assert.strictEqual(second.heard.text(), "two");
      assert.notStrictEqual(turnId, first.heard.of("turn.completed")[0]?.turnId);
    }),
  );

  it.effect("close and TERM can be ignored; KILL ends it, mid-turn and without a word", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript({
        ...oneTurn({ do: "silence" }),
        on: { close: "hang", terminate: "hang" },
      });
      yield* session.prompt(say("x"));
      yield* heard.wait("turn.started");
      const closing = yield* Effect.forkChild(session.close);
      yield* session.signal("terminate");
      yield* TestClock.adjust("1 minute");
      assert.isUndefined(closing.pollUnsafe());
      yield* session.signal("kill");
      yield* Fiber.join(closing);
      assert.deepStrictEqual(heard.types, ["turn.started", "session.exited"]);
      assert.deepStrictEqual(heard.of("session.exited")[0]?.payload, {
        kind: "killed",
        signal: "SIGKILL",
        recoverable: true,
      });
    }),
  );

  it.effect("a call that waits fails when the runtime goes", () =>
    Effect.gen(function* () {
      const { session } = yield* openScript({ on: { prompt: "hang" } });
      const waiting = yield* Effect.forkChild(Effect.flip(session.prompt(say("x"))), { startImmediately: true });
      yield* session.signal("terminate");
      assert.strictEqual((yield* Fiber.join(waiting)).reason, "exited");
    }),
  );

  it.effect("closing the scope ends everything", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make();
      const opened = yield* Scope.provide(openScript(oneTurn({ do: "flood", count: 3 }, { do: "silence" })), scope);
      yield* opened.session.prompt(say("x"));
      yield* opened.heard.wait("item.completed");
      yield* Scope.close(scope, Exit.void);
      const before = opened.heard.records.length;
      yield* TestClock.adjust("1 hour");
      assert.strictEqual(opened.heard.records.length, before);
    }),
  );

  it.effect("a session without a script is the demo: both answers are reflected", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(undefined);
      yield* session.prompt(say("Grüezi"));
      yield* Effect.forkChild(Effect.forever(TestClock.adjust(100)));
      const approval = yield* heard.wait("request.opened");
      assert.include(heard.text(), "You said: “Grüezi”");
      yield* session.answer!({ requestId: approval.requestId ?? "", answer: { optionId: "allow" } });
      const question = yield* heard.wait("request.opened", 2);
      assert.strictEqual(question.payload.questions?.[0]?.options.length, 3);
      yield* session.answer!({ requestId: question.requestId ?? "", answer: { answers: { tone: "In verse" } } });
      yield* heard.wait("turn.completed");
      assert.include(heard.text("command_output"), "README.md");
      assert.include(heard.text(), "The stream runs on");
      assert.include(heard.text(), "“Allow once”, and to my question “In verse”");
    }),
  );

  it.effect("scripts come from JSON and NDJSON files; a broken one says what is wrong before anything opens", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "tributary-scripted-"));
      const file = (name: string, text: string) => {
        const path = join(folder, name);
        writeFileSync(path, text);
        return path;
      };
      const lines = file(
        "s.ndjson",
        `{"name":"s","model":"m"}\n{"steps":[{"do":"text","text":"one"}]}\n\n{"match":"x","steps":[]}\n`,
      );
      const { session, heard } = yield* openScript(undefined, { options: { script: lines } });
      assert.strictEqual(session.model, "m");
      yield* session.prompt(say("a"));
      yield* heard.wait("turn.completed");
      assert.strictEqual(heard.text(), "one");

      const adapter = makeScripted();
      assert.isTrue((yield* installation(adapter, {})).available);
      const problems = [
        { script: join(folder, "missing.json") },
        { script: file("bad.json", `{"turns":[{"steps":[{"do":"dance"}]}]}`) },
        { script: { turns: [{ match: "(", steps: [] }] } },
        { script: { capabilities: { steer: "perhaps" } } },
        { scripd: "typo" },
      ];
      for (const options of problems) {
        const found = yield* installation(adapter, options);
        assert.isFalse(found.available, JSON.stringify(options));
        assert.isTrue((found.problem ?? "").length > 20);
      }
      const failed = yield* Effect.flip(openScript(undefined, { options: problems[0]! }));
      assert.strictEqual(failed.code, "runtime_unavailable");
    }),
  );
});
