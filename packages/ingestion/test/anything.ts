/** Any canonical events at all, in any order: what a broken or hostile runtime might say. */
import type { ItemType, RuntimeEvent, RuntimeEventEnvelope } from "@tributary/contracts";
import type { Random } from "./random.ts";
import { scrap } from "./random.ts";

const turns = [undefined, "t1", "t2", "t3", "elsewhere"];
const items = [undefined, "a", "b", "c"];
const paths: ReadonlyArray<ReadonlyArray<string>> = [[], [], ["x"], ["x", "y"]];
const tasks = ["task1", "task2"];
const types: ReadonlyArray<ItemType> = [
  "assistant_message",
  "reasoning",
  "user_message",
  "command",
  "file_change",
  "tool",
];
const statuses = ["in_progress", "completed", "failed", "declined", "interrupted"] as const;

type Make = (random: Random, envelope: RuntimeEventEnvelope) => RuntimeEvent;

const maybe = <A>({ chance }: Random, value: A): { readonly some: A } | undefined =>
  chance(0.5) ? { some: value } : undefined;

const itemPayload = (random: Random) => {
  const itemType = random.pick(types);
  const status = maybe(random, random.pick(statuses));
  const text = maybe(random, scrap(random));
  const output = maybe(random, random.chance(0.02) ? scrap(random).repeat(50_000) : scrap(random));
  return {
    itemType,
    ...(status === undefined ? {} : { status: status.some }),
    ...(text === undefined ? {} : { text: text.some }),
    ...(output === undefined ? {} : { output: output.some }),
  };
};

const taskPayload = (random: Random) => ({
  taskId: random.pick(tasks),
  kind: random.pick(["subagent", "background"] as const),
  agentPath: random.pick([["x"], ["x", "y"]]),
  status: random.pick(statuses),
});

const delta: Make = (random, envelope) => ({
  ...envelope,
  type: "content.delta",
  payload: {
    stream: random.pick([
      "assistant_text",
      "assistant_text",
      "reasoning",
      "reasoning_summary",
      "command_output",
    ] as const),
    text: random.chance(0.02) ? scrap(random).repeat(9_000) : scrap(random),
  },
});

const makers: ReadonlyArray<Make> = [
  delta,
  delta,
  delta,
  delta,
  delta,
  (_, envelope) => ({ ...envelope, type: "turn.started", payload: {} }),
  (_, envelope) => ({ ...envelope, type: "turn.started", payload: {} }),
  (random, envelope) => ({
    ...envelope,
    type: "turn.completed",
    payload: { outcome: random.pick(["completed", "failed", "interrupted"] as const) },
  }),
  (random, envelope) => ({ ...envelope, type: "item.started", payload: itemPayload(random) }),
  (random, envelope) => ({ ...envelope, type: "item.updated", payload: itemPayload(random) }),
  (random, envelope) => ({ ...envelope, type: "item.completed", payload: itemPayload(random) }),
  (random, envelope) => ({ ...envelope, type: "item.completed", payload: itemPayload(random) }),
  (_, envelope) => ({ ...envelope, type: "content.retracted", payload: { reason: "retry" } }),
  (random, envelope) => ({ ...envelope, type: "task.started", payload: taskPayload(random) }),
  (random, envelope) => ({ ...envelope, type: "task.updated", payload: taskPayload(random) }),
  (random, envelope) => ({ ...envelope, type: "task.completed", payload: taskPayload(random) }),
  (random, envelope) => ({
    ...envelope,
    ...(random.chance(0.9) ? { requestId: random.pick(["r1", "r2", "r3"]) } : {}),
    type: "request.opened",
    payload: { kind: "approval", options: [] },
  }),
  (random, envelope) => ({
    ...envelope,
    requestId: random.pick(["r1", "r2", "r3"]),
    type: "request.resolved",
    payload: { outcome: random.pick(["answered", "withdrawn", "expired"] as const) },
  }),
  (random, envelope) => ({
    ...envelope,
    type: "input.state",
    payload: { inputId: random.pick(["i1", "i2"]), state: random.pick(["started", "folded", "dropped"] as const) },
  }),
  (random, envelope) => ({
    ...envelope,
    type: "usage.updated",
    payload: { inputTokens: random.below(1_000), basis: random.pick(["turn", "session"] as const) },
  }),
  (random, envelope) => ({
    ...envelope,
    type: "turn.diff",
    payload: { unifiedDiff: random.chance(0.1) ? "+line\n".repeat(20_000) : scrap(random) },
  }),
  (random, envelope) => ({
    ...envelope,
    type: "turn.plan",
    payload: { steps: [{ text: scrap(random), status: "pending" }] },
  }),
  (random, envelope) => ({
    ...envelope,
    type: "proposed_plan.delta",
    payload: { planId: random.pick(["p1", "p2"]), text: scrap(random) },
  }),
  (random, envelope) => ({
    ...envelope,
    type: "proposed_plan.completed",
    payload: { planId: random.pick(["p1", "p2"]), markdown: random.pick(["", scrap(random)]) },
  }),
  (_, envelope) => ({ ...envelope, type: "unknown", payload: { kind: "novelty" } }),
  (_, envelope) => ({ ...envelope, type: "notice", payload: { level: "info", code: "c", message: "m" } }),
  (_, envelope) => ({ ...envelope, type: "session.state", payload: { state: "ready" } }),
  (_, envelope) => ({ ...envelope, type: "session.title", payload: { title: "A title" } }),
  (_, envelope) => ({ ...envelope, type: "session.configured", payload: { model: "m" } }),
  (_, envelope) => ({ ...envelope, type: "context.compacted", payload: { state: "completed" } }),
  (_, envelope) => ({ ...envelope, type: "model.rerouted", payload: { from: "a", to: "b" } }),
  (_, envelope) => ({ ...envelope, type: "account.limits", payload: { windows: [] } }),
  (_, envelope) => ({ ...envelope, type: "retry.scheduled", payload: { attempt: 1, reason: "overloaded" } }),
  (_, envelope) => ({
    ...envelope,
    type: "runtime.error",
    payload: { class: "provider", message: "no", retryable: true, fatal: false },
  }),
  (_, envelope) => ({
    ...envelope,
    type: "unknown",
    payload: { kind: "undecodable" },
    ext: { tributary: { undecodable: "content.delta", problem: "no text" } },
  }),
];

const exit: RuntimeEvent = { type: "session.exited", payload: { kind: "crash", recoverable: true } };

/** One event. An exit is rare, or nothing else would be seen. */
export const anything = (random: Random): RuntimeEvent => {
  if (random.chance(0.004)) return exit;
  const turnId = random.chance(0.6) ? "t1" : random.pick(turns);
  const itemId = random.pick(items);
  const agentPath = random.pick(paths);
  const envelope: RuntimeEventEnvelope = {
    ...(turnId === undefined ? {} : { turnId }),
    ...(itemId === undefined ? {} : { itemId }),
    ...(agentPath.length === 0 ? {} : { agentPath }),
  };
  return random.pick(makers)(random, envelope);
};
