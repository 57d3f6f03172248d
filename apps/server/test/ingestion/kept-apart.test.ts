/** What must not mix: agents inside agents, background work and its turn, bases of usage, what was not said and zero. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import type { RuntimeEvent } from "@tributary/contracts";
import { Effect } from "effect";
import { runScenario } from "../../src/scenario/run.ts";
import { startServer, temporaryFolders } from "../support/server.ts";
import { saying } from "./saying.ts";

const create = { command: { type: "thread.create", threadId: "T", cwd: "/p", instance: "stub" } };
const event = (type: string, payload: unknown, over: Readonly<Record<string, unknown>> = {}) => ({
  event: { type, turnId: "t1", payload, ...over },
});
const says = (text: string, agentPath: ReadonlyArray<string>, over = {}) =>
  event("content.delta", { stream: "assistant_text", text }, { itemId: "m", agentPath, ...over });

const play = (...lines: ReadonlyArray<unknown>) =>
  Effect.map(
    runScenario([create, event("turn.started", {}), ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""), {
      folder: ".",
    }),
    // What the command prints.
    // oxlint-disable-next-line typescript/no-explicit-any
    (output) => JSON.parse(JSON.stringify(output)) as any,
  );

describe("sub-agents", () => {
  const child = { taskId: "k1", kind: "subagent", agentPath: ["a"], itemId: "call" };
  const grandchild = { taskId: "k2", kind: "subagent", agentPath: ["a", "b"], itemId: "call" };

  it.effect("stay apart in text, tools and tasks, however their streams interleave", () =>
    Effect.gen(function* () {
      const paths = [[], ["a"], ["a", "b"], ["b"]];
      const rounds = [1, 2, 3].flatMap((round) => paths.map((path) => says(`${path.join("/")}${round} `, path)));
      const tool = (agentPath: ReadonlyArray<string>, type: string, over: object) =>
        event(type, { itemType: "tool", title: agentPath.join("/"), ...over }, { itemId: "x", agentPath });
      const { final, refused } = yield* play(
        event("task.started", child),
        event("task.started", grandchild, { agentPath: ["a"] }),
        ...rounds.slice(0, 6),
        tool(["a"], "item.started", {}),
        tool(["a", "b"], "item.started", {}),
        ...rounds.slice(6),
        tool(["a", "b"], "item.completed", { status: "failed" }),
        event("task.completed", { ...grandchild, status: "completed", summary: "inner" }, { agentPath: ["a"] }),
        tool(["a"], "item.completed", {}),
        event("task.completed", { ...child, status: "completed", summary: "outer" }),
        event("turn.completed", { outcome: "completed" }),
      );
      const [{ messages, activities, tasks }] = final.threads;
      assert.deepStrictEqual(refused, []);
      const texts: Record<string, string> = {};
      for (const { agentPath, text } of messages)
        texts[agentPath.join("/")] = (texts[agentPath.join("/")] ?? "") + text;
      assert.deepStrictEqual(texts, {
        "": "1 2 3 ",
        a: "a1 a2 a3 ",
        "a/b": "a/b1 a/b2 a/b3 ",
        b: "b1 b2 b3 ",
      });
      assert.deepStrictEqual(
        activities.map((one: { agentPath: ReadonlyArray<string>; status: string }) => [one.agentPath, one.status]),
        [
          [["a"], "completed"],
          [["a", "b"], "failed"],
        ],
      );
      assert.deepStrictEqual(
        tasks.map((one: { id: string; status: string; summary: string }) => [one.id, one.status, one.summary]),
        [
          ["k1", "completed", "outer"],
          ["k2", "completed", "inner"],
        ],
      );
    }),
  );

  it.effect(
    "that work in the background live on after their turn, and their text goes on in a message of its own",
    () =>
      Effect.gen(function* () {
        const background = { taskId: "k", kind: "background", agentPath: ["a"] };
        const { final, refused } = yield* play(
          event("task.started", background),
          says("before ", ["a"]),
          event("turn.completed", { outcome: "completed" }),
          says("after", ["a"]),
          { snapshot: "between" },
          event("task.completed", { ...background, status: "completed" }),
        );
        assert.deepStrictEqual(refused, []);
        const [{ messages, tasks, turns }] = final.threads;
        assert.strictEqual(messages.map(({ text }: { text: string }) => text).join(""), "before after");
        assert.deepStrictEqual([tasks[0].status, turns[0].state], ["completed", "completed"]);
        assert.isFalse(messages.some(({ streaming }: { streaming: boolean }) => streaming));
      }),
  );
});

describe("usage", () => {
  it.effect("is kept by basis, and what was not said stays absent: it is no zero", () =>
    Effect.gen(function* () {
      const { events } = yield* play(
        event("usage.updated", { basis: "turn", inputTokens: 10, outputTokens: 0 }),
        { advance: 1_000 },
        event("usage.updated", { basis: "turn", cachedInputTokens: 0 }),
        event("usage.updated", { basis: "session", contextTokens: 0, costUsd: 0, costBasis: "list" }),
        event("usage.updated", { basis: "unknown", outputTokens: 7 }),
        event("turn.completed", { outcome: "completed", usage: { outputTokens: 0 } }),
      );
      const recorded = events.filter(({ type }: { type: string }) => type === "usage.recorded");
      assert.deepStrictEqual(
        recorded.map(({ payload }: { payload: unknown }) => payload),
        [
          { turnId: "t1", agentPath: [], basis: "turn", inputTokens: 10, outputTokens: 0 },
          { turnId: "t1", agentPath: [], basis: "turn", cachedInputTokens: 0 },
          { turnId: "t1", agentPath: [], basis: "session", contextTokens: 0, costUsd: 0, costBasis: "list" },
          { turnId: "t1", agentPath: [], basis: "unknown", outputTokens: 7 },
        ],
      );
      const ended = events.find(({ type }: { type: string }) => type === "turn.ended");
      assert.deepStrictEqual(ended.payload.usage, { outputTokens: 0 });
    }),
  );
});

describe("reasoning, by setting", () => {
  const thought = (stream: string, text: string) => ({
    type: "content.delta",
    turnId: "t1",
    itemId: "r",
    payload: { stream, text },
  });
  const events = [
    { type: "turn.started", turnId: "t1", payload: { inputIds: ["i"] } },
    thought("reasoning", "every step"),
    thought("reasoning_summary", "in short"),
    { type: "content.delta", turnId: "t1", itemId: "m", payload: { stream: "assistant_text", text: "answer" } },
    { type: "turn.completed", turnId: "t1", payload: { outcome: "completed" } },
  ] as ReadonlyArray<RuntimeEvent>;

  for (const [setting, shown] of [
    ["full", ["every step", "in short"]],
    ["summary", ["in short"]],
    ["off", []],
  ] as const)
    it.live(
      `${setting}: ${shown.length} of its two streams enter the log, the journal has both, the answer has neither`,
      () =>
        Effect.gen(function* () {
          const folders = yield* temporaryFolders;
          mkdirSync(folders.data, { mode: 0o700 });
          writeFileSync(join(folders.data, "config.json"), JSON.stringify({ settings: { reasoning: setting } }), {
            mode: 0o600,
          });
          const server = yield* startServer(folders, { adapters: { said: saying(events) } });
          const call = (...args: Parameters<typeof server.call>) => Effect.promise(() => server.call(...args));
          yield* call("/projects", { body: { root: server.work } });
          yield* call("/instances", { body: { id: "said", runtime: "said" } });
          const input = { inputId: "i", text: "go" };
          yield* call("/threads", { body: { threadId: "T", cwd: server.work, instance: "said", input } });
          for (;;) {
            const { body } = yield* call("/threads/T");
            if (body.thread.lastTurn?.state !== "completed") {
              yield* Effect.sleep("20 millis");
              continue;
            }
            const textsOf = (kind: string) =>
              body.rows
                .filter((row: { kind: string; role?: string }) => row.kind === kind && row.role !== "user")
                .map((row: { text: string }) => row.text);
            assert.sameMembers(textsOf("reasoning"), [...shown]);
            assert.deepStrictEqual(textsOf("message"), ["answer"]);
            break;
          }
          const { body } = yield* call("/threads/T/records");
          assert.strictEqual(body.records.length, events.length);
        }).pipe(Effect.scoped),
    );
});
