import { assert, describe, it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { openScript, oneTurn, say } from "./harness.ts";

describe("steps of a script", () => {
  it.effect("a turn is framed by its start, with the input, and its end", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(oneTurn({ do: "text", text: "hi" }), { model: "m1" });
      yield* session.prompt({ ...say("hello"), effort: "low" });
      const ended = yield* heard.wait("turn.completed");
      assert.deepStrictEqual(heard.types, [
        "turn.started",
        "item.started",
        "content.delta",
        "item.completed",
        "turn.completed",
      ]);
      const started = heard.of("turn.started")[0];
      assert.deepStrictEqual(started?.payload, { inputIds: ["in1"], origin: "input", model: "m1", effort: "low" });
      assert.strictEqual(started?.turnId, ended.turnId);
      assert.deepStrictEqual(ended.payload, { outcome: "completed", stopReason: "end" });
      const ids = heard.events.map(({ id }) => id);
      assert.strictEqual(new Set(ids).size, ids.length);
    }),
  );

  it.effect("text is cut into chunks of code units with a delay before each", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(oneTurn({ do: "text", text: "a😀bc", chunk: 2, delayMs: 10 }));
      yield* session.prompt(say("x"));
      yield* heard.wait("item.started");
      assert.strictEqual(heard.of("content.delta").length, 0);
      yield* TestClock.adjust(10);
      yield* heard.wait("content.delta");
      assert.strictEqual(heard.of("content.delta").length, 1);
      yield* TestClock.adjust(20);
      yield* heard.wait("turn.completed");
      // The pair is cut in two, as runtimes do that count code units: joined again it is whole.
      assert.deepStrictEqual(
        heard.of("content.delta").map(({ payload }) => payload.text),
        ["a\ud83d", "\ude00b", "c"],
      );
      assert.strictEqual(heard.text(), "a😀bc");
      assert.strictEqual(heard.of("item.completed")[0]?.payload.text, "a😀bc");
    }),
  );

  it.effect("an item that is left open goes on, is retracted, and claims no whole afterwards", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(
        oneTurn(
          { do: "text", item: "a", text: "one ", end: false },
          { do: "text", item: "a", text: "two ", end: false },
          { do: "retract", reason: "stream cut" },
          { do: "text", item: "a", text: "three" },
          { do: "text", text: "other", whole: "quite another" },
          { do: "text", text: "silent", whole: false },
        ),
      );
      yield* session.prompt(say("x"));
      yield* heard.wait("turn.completed");
      assert.strictEqual(heard.of("item.started").length, 3);
      assert.deepStrictEqual(heard.of("content.retracted")[0]?.payload, { reason: "stream cut" });
      assert.strictEqual(heard.of("content.retracted")[0]?.itemId, "a");
      assert.deepStrictEqual(
        heard.of("item.completed").map(({ payload }) => payload.text),
        [undefined, "quite another", undefined],
      );
    }),
  );

  it.effect("a command streams its output and ends by its exit code; other tools give theirs at the end", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(
        oneTurn(
          { do: "reasoning", text: "hm", stream: "reasoning_summary" },
          { do: "tool", title: "false", output: "line1\nline2\n", chunk: 6, exitCode: 1 },
          { do: "tool", itemType: "search", output: "found", locations: [{ path: "a.ts", line: 3 }] },
          { do: "tool", itemType: "file_change", changes: [{ path: "a.ts", kind: "update", diff: "+x" }], end: false },
        ),
      );
      yield* session.prompt(say("x"));
      yield* heard.wait("turn.completed");
      assert.strictEqual(heard.text("reasoning_summary"), "hm");
      assert.strictEqual(heard.text("command_output"), "line1\nline2\n");
      assert.deepStrictEqual(
        heard.of("item.completed").map(({ payload }) => payload),
        [
          { itemType: "reasoning", status: "completed" },
          { itemType: "command", status: "failed", exitCode: 1 },
          { itemType: "search", status: "completed", output: "found" },
        ],
      );
      assert.strictEqual(heard.of("item.started").at(-1)?.payload.itemType, "file_change");
    }),
  );

  it.effect("an approval waits, names its answer and takes its branch", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(
        oneTurn({
          do: "approval",
          name: "go",
          action: "command",
          title: "May I?",
          subject: { command: "rm x" },
          on: { reject: [{ do: "text", text: "no: {{approval.go}}" }] },
          otherwise: [{ do: "text", text: "yes" }],
        }),
      );
      yield* session.prompt(say("x"));
      const asked = yield* heard.wait("request.opened");
      assert.strictEqual(asked.payload.options?.length, 3);
      assert.strictEqual(heard.records.find(({ events }) => events[0] === asked)?.kind, "call");
      const requestId = asked.requestId ?? "";
      const wrong = yield* Effect.flip(session.answer!({ requestId, answer: { optionId: "perhaps" } }));
      assert.strictEqual(wrong.reason, "refused");
      yield* session.answer!({ requestId, answer: { optionId: "reject" } });
      yield* heard.wait("turn.completed");
      assert.strictEqual(heard.text(), "no: Reject");
      assert.deepStrictEqual(heard.of("request.resolved")[0]?.payload, {
        outcome: "answered",
        by: "client",
        optionId: "reject",
      });
      const twice = yield* Effect.flip(session.answer!({ requestId, answer: { optionId: "reject" } }));
      assert.strictEqual(twice.failure.code, "unknown_request");
    }),
  );

  it.effect("a tool that asks is declined by a refusal", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(
        oneTurn({ do: "tool", title: "ls", output: "x", ask: { action: "command" } }, { do: "text", text: "done" }),
      );
      yield* session.prompt(say("x"));
      const asked = yield* heard.wait("request.opened");
      assert.strictEqual(asked.itemId, heard.of("item.started")[0]?.itemId);
      yield* session.answer!({ requestId: asked.requestId ?? "", answer: { optionId: "reject" } });
      yield* heard.wait("turn.completed");
      assert.strictEqual(heard.text("command_output"), "");
      assert.deepStrictEqual(heard.of("item.completed")[0]?.payload, { itemType: "command", status: "declined" });
    }),
  );

  it.effect("a question branches on its values; a secret one is masked in what is recorded", () =>
    Effect.gen(function* () {
      const question = { text: "?", options: [{ label: "A" }, { label: "B" }], multiple: true, freeText: false };
      const { session, heard } = yield* openScript(
        oneTurn({
          do: "question",
          name: "q",
          questions: [
            { id: "which", ...question },
            { id: "key", ...question, freeText: true, secret: true },
          ],
          cases: [
            { when: { which: "A", key: "no" }, steps: [{ do: "text", text: "wrong branch" }] },
            { when: { which: "B" }, steps: [{ do: "text", text: "chose {{answer.q.which}}" }] },
          ],
        }),
      );
      yield* session.prompt(say("x"));
      const asked = yield* heard.wait("request.opened");
      const requestId = asked.requestId ?? "";
      yield* session.answer!({ requestId, answer: { answers: { which: ["A", "B"], key: "hunter2" } } });
      yield* heard.wait("turn.completed");
      assert.strictEqual(heard.text(), "chose A, B");
      assert.isFalse(JSON.stringify(heard.records).includes("hunter2"));
      assert.isTrue(heard.records.some(({ replyTo, dir }) => replyTo === requestId && dir === "out"));
    }),
  );

  it.effect("sub-agents interleave under their own paths", () =>
    Effect.gen(function* () {
      const agent = (name: string, delayMs: number) =>
        ({
          do: "agent",
          name,
          summary: `${name} is done`,
          steps: [{ do: "text", text: name.repeat(3), chunk: 1, delayMs }],
        }) as const;
      const { session, heard } = yield* openScript(
        oneTurn({ do: "parallel", branches: [[agent("a", 2)], [agent("b", 5)]] }, { do: "text", text: "all" }),
      );
      yield* session.prompt(say("x"));
      yield* heard.wait("task.started", 2);
      yield* TestClock.adjust(20);
      yield* heard.wait("turn.completed");
      const deltas = heard.of("content.delta").map((event) => [event.agentPath?.join(".") ?? "", event.payload.text]);
      assert.deepStrictEqual(deltas, [
        ["a", "a"],
        ["a", "a"],
        ["b", "b"],
        ["a", "a"],
        ["b", "b"],
        ["b", "b"],
        ["", "all"],
      ]);
      assert.deepStrictEqual(
        heard.of("task.completed").map(({ payload }) => payload.summary),
        ["a is done", "b is done"],
      );
    }),
  );

  it.effect("a background agent outlives its turn", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(
        oneTurn({ do: "agent", name: "bg", background: true, steps: [{ do: "wait", ms: 100 }] }),
      );
      yield* session.prompt(say("x"));
      yield* heard.wait("turn.completed");
      assert.strictEqual(heard.of("task.completed").length, 0);
      yield* TestClock.adjust(100);
      const done = yield* heard.wait("task.completed");
      assert.strictEqual(done.payload.kind, "background");
    }),
  );

  it.effect("plans, diffs, usage, notices, any other event, and noise", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(
        oneTurn(
          { do: "plan", steps: [{ text: "one", status: "pending" }] },
          { do: "proposedPlan", markdown: "# Plan", chunk: 3 },
          { do: "diff", unifiedDiff: "+a" },
          { do: "usage", inputTokens: 3 },
          { do: "notice", code: "hint", message: "look" },
          { do: "emit", event: { type: "session.title", payload: { title: "T" } } },
          { do: "emit", event: { type: "session.title", payload: { title: 7 } } },
          { do: "noise", line: "not json" },
          { do: "repeat", times: 2, steps: [{ do: "retract", reason: "nothing to take back" }] },
          { do: "flood", count: 5, text: "z" },
        ),
      );
      yield* session.prompt(say("x"));
      yield* heard.wait("turn.completed");
      assert.deepStrictEqual(
        heard.types.filter((type) => !type.startsWith("item.") && type !== "content.delta"),
        [
          "turn.started",
          "turn.plan",
          "proposed_plan.delta",
          "proposed_plan.delta",
          "proposed_plan.completed",
          "turn.diff",
          "usage.updated",
          "notice",
          "session.title",
          "unknown",
          "unknown",
          "turn.completed",
        ],
      );
      assert.strictEqual(heard.text(), "zzzzz");
      assert.deepStrictEqual(heard.of("usage.updated")[0]?.payload, { inputTokens: 3, basis: "turn" });
    }),
  );

  it.effect("a turn fails with its class, and what was open is wound up", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(
        oneTurn({
          do: "parallel",
          branches: [
            [{ do: "agent", name: "a", steps: [{ do: "approval" }] }],
            [
              { do: "wait", ms: 5 },
              { do: "fail", class: "rate_limit", retryable: true, message: "slow down" },
            ],
          ],
        }),
      );
      yield* session.prompt(say("x"));
      yield* heard.wait("request.opened");
      yield* TestClock.adjust(5);
      const ended = yield* heard.wait("turn.completed");
      assert.deepStrictEqual(ended.payload, {
        outcome: "failed",
        error: { class: "rate_limit", message: "slow down", retryable: true },
      });
      assert.strictEqual(heard.of("request.resolved")[0]?.payload.outcome, "withdrawn");
      assert.strictEqual(heard.of("task.completed")[0]?.payload.status, "interrupted");
      assert.strictEqual(heard.of("item.completed")[0]?.payload.status, "interrupted");
    }),
  );

  it.effect("an explicit end stops the script there", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(
        oneTurn({ do: "end", stopReason: "max_tokens" }, { do: "text", text: "never" }),
      );
      yield* session.prompt(say("x"));
      const ended = yield* heard.wait("turn.completed");
      assert.deepStrictEqual(ended.payload, { outcome: "completed", stopReason: "max_tokens" });
      assert.strictEqual(heard.text(), "");
    }),
  );

  it.effect("steered text is folded in", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(
        oneTurn({ do: "awaitSteer" }, { do: "awaitSteer" }, { do: "text", text: "got {{steer}} after {{input}}" }),
      );
      yield* session.prompt(say("x"));
      const { turnId = "" } = yield* heard.wait("turn.started");
      const other = yield* Effect.flip(session.steer!({ ...say("late", "in2"), turnId: "another" }));
      assert.strictEqual(other.reason, "refused");
      yield* session.steer!({ ...say("first", "in2"), turnId });
      yield* session.steer!({ ...say("second", "in3"), turnId });
      yield* heard.wait("turn.completed");
      assert.strictEqual(heard.text(), "got second after x");
      assert.deepStrictEqual(
        heard.of("input.state").map(({ payload }) => payload),
        [
          { inputId: "in2", state: "folded" },
          { inputId: "in3", state: "folded" },
        ],
      );
    }),
  );

  it.effect("exit in the middle of a turn is the last record, and calls fail afterwards", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(
        oneTurn({ do: "text", text: "going" }, { do: "exit", code: 3, stderr: "panic" }, { do: "text", text: "never" }),
      );
      yield* session.prompt(say("x"));
      const exited = yield* heard.wait("session.exited");
      assert.deepStrictEqual(exited.payload, { kind: "crash", exitCode: 3, stderrTail: "panic", recoverable: true });
      assert.strictEqual(heard.types.at(-1), "session.exited");
      assert.strictEqual(heard.text(), "going");
      assert.strictEqual((yield* Effect.flip(session.prompt(say("y")))).reason, "exited");
      yield* session.close;
      yield* session.signal("kill");
    }),
  );

  it.effect("silence lasts until somebody interrupts", () =>
    Effect.gen(function* () {
      const { session, heard } = yield* openScript(oneTurn({ do: "silence" }));
      yield* session.prompt(say("x"));
      yield* heard.wait("turn.started");
      yield* TestClock.adjust("1 hour");
      assert.deepStrictEqual(heard.types, ["turn.started"]);
      const interrupted = yield* Effect.forkChild(session.interrupt({}));
      const ended = yield* heard.wait("turn.completed");
      assert.deepStrictEqual(ended.payload, { outcome: "interrupted" });
      yield* Fiber.join(interrupted);
    }),
  );
});
