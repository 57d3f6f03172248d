/** Canonical events in few words. */
import type { RuntimeEvent, RuntimeEventEnvelope, RuntimeEventOf, RuntimePayloads } from "@tributary/contracts";

export const turnStarted = (turnId = "t1"): RuntimeEvent => ({ type: "turn.started", turnId, payload: {} });

export const turnCompleted = (
  turnId: string | undefined = "t1",
  outcome: "completed" | "failed" | "interrupted" = "completed",
): RuntimeEvent => ({
  type: "turn.completed",
  turnId,
  payload: { outcome },
});

export const turnCompletedUnnamed: RuntimeEvent = { type: "turn.completed", payload: { outcome: "completed" } };

export const delta = (
  text: string,
  over: RuntimeEventEnvelope & { readonly stream?: RuntimePayloads["content.delta"]["stream"] } = {},
): RuntimeEvent => {
  const { stream, ...envelope } = over;
  return {
    type: "content.delta",
    turnId: "t1",
    itemId: "m",
    ...envelope,
    payload: { stream: stream ?? "assistant_text", text },
  };
};

export const looseDelta = (text: string, itemId = "m"): RuntimeEvent => ({
  type: "content.delta",
  itemId,
  payload: { stream: "assistant_text", text },
});

type ItemType = RuntimePayloads["item.started"]["itemType"];

const item =
  <T extends "item.started" | "item.updated" | "item.completed">(type: T) =>
  (
    itemId: string,
    itemType: ItemType,
    payload: Partial<RuntimePayloads["item.started"]> = {},
    over: RuntimeEventEnvelope = {},
  ): RuntimeEventOf<T> => ({
    type,
    turnId: "t1",
    itemId,
    ...over,
    payload: { itemType, ...payload },
  });

export const itemStarted = item("item.started");
export const itemUpdated = item("item.updated");
export const itemCompleted = item("item.completed");

export const completed = (text?: string, itemId = "m", over: RuntimeEventEnvelope = {}): RuntimeEvent =>
  itemCompleted(itemId, "assistant_message", text === undefined ? {} : { text }, over);

export const retracted = (itemId = "m"): RuntimeEvent => ({
  type: "content.retracted",
  turnId: "t1",
  itemId,
  payload: { reason: "retry" },
});

export const requestOpened = (requestId = "r1", over: RuntimeEventEnvelope = {}): RuntimeEvent => ({
  type: "request.opened",
  turnId: "t1",
  requestId,
  ...over,
  payload: {
    kind: "approval",
    action: "command",
    title: "Run ls",
    subject: { command: "ls" },
    options: [{ id: "yes", label: "Yes", effect: "allow", scope: "once" }],
  },
});

export const exited: RuntimeEvent = { type: "session.exited", payload: { kind: "crash", recoverable: true } };
