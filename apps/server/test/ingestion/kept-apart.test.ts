/** What must not mix: agents inside agents, background work and its turn, bases of usage, what was not said and zero. */
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { runScenario } from "../../src/scenario/run.ts";

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
