/** Stored events for tests: numbered like a log. */
import { itemKey, messageId } from "@tributary/contracts";
import type { AgentPath, DomainEventType, DomainPayloads, StoredEvent } from "@tributary/contracts";

export interface History {
  readonly events: Array<StoredEvent>;
  readonly add: <T extends DomainEventType>(streamId: string, type: T, payload: DomainPayloads[T]) => StoredEvent;
  readonly thread: (threadId: string, more?: Partial<DomainPayloads["thread.created"]>) => StoredEvent;
}

/** A second an event. */
export const instant = (sequence: number): string => new Date(Date.UTC(2026, 0, 1) + sequence * 1000).toISOString();

export const makeHistory = (first = 1): History => {
  const events: Array<StoredEvent> = [];
  const versions = new Map<string, number>();
  const add: History["add"] = (streamId, type, payload) => {
    const sequence = first + events.length;
    const version = (versions.get(streamId) ?? 0) + 1;
    versions.set(streamId, version);
    // The type parameter ties type and payload; the union of all events cannot see that.
    const event = {
      sequence,
      streamId,
      version,
      eventId: `e${sequence}`,
      schemaVersion: 1,
      occurredAt: instant(sequence),
      causationId: null,
      actor: { kind: "system", id: "test" },
      type,
      payload,
    } as StoredEvent;
    events.push(event);
    return event;
  };
  return {
    events,
    add,
    thread: (threadId, more) =>
      add(threadId, "thread.created", {
        projectId: "P",
        cwd: "/p",
        instance: "stub",
        approvalMode: "ask",
        interactionMode: "default",
        textDelivery: "streaming",
        ...more,
      }),
  };
};

export const capabilities: DomainPayloads["session.started"]["capabilities"] = {
  steer: true,
  queue: { durable: false, withdraw: false },
  approvals: true,
  userInput: true,
  images: false,
  attribution: "nested",
  resume: { survivesKill: true, replaysHistory: false },
  usage: true,
  mcp: { stdio: true, http: true, listChanged: false },
  refusedOptions: {},
};

export const root: AgentPath = [];

/** A message from its pieces, complete. */
export const say = (
  history: History,
  threadId: string,
  turnId: string,
  itemId: string,
  pieces: ReadonlyArray<string>,
  end = true,
) => {
  const id = messageId(turnId, root, itemId, 0);
  let offset = 0;
  for (const text of pieces) {
    const start = offset === 0 ? { turnId, agentPath: root, itemId, segment: 0, generation: 1 } : undefined;
    history.add(threadId, "message.appended", {
      messageId: id,
      offset,
      text,
      ...(start === undefined ? {} : { start }),
    });
    offset += text.length;
  }
  if (end) history.add(threadId, "message.completed", { messageId: id, length: offset });
  return id;
};

export const startActivity = (
  history: History,
  threadId: string,
  turnId: string | undefined,
  itemId: string,
  more: Partial<DomainPayloads["activity.started"]> = {},
): string => {
  const activityId = itemKey(turnId, root, itemId);
  history.add(threadId, "activity.started", {
    activityId,
    itemId,
    itemType: "command",
    ...(turnId === undefined ? {} : { turnId }),
    agentPath: root,
    generation: 1,
    ...more,
  });
  return activityId;
};

/** Queued, handed over and begun. */
export const beginTurn = (history: History, threadId: string, inputId: string, turnId: string, text = "go"): void => {
  history.add(threadId, "input.queued", {
    inputId,
    text,
    delivery: "auto",
    mode: "prompt",
    origin: { kind: "user" },
  });
  history.add(threadId, "input.handed_over", { inputId, generation: 1, mode: "prompt" });
  history.add(threadId, "turn.started", { turnId, generation: 1, inputIds: [inputId], origin: "input" });
  history.add(threadId, "input.started", { inputId, turnId, how: "started" });
};

export const endTurn = (
  history: History,
  threadId: string,
  inputId: string,
  turnId: string,
  more: Partial<DomainPayloads["turn.ended"]> = {},
): void => {
  history.add(threadId, "turn.ended", { turnId, state: "completed", ...more });
  history.add(threadId, "input.done", { inputId, turnId });
};

export const openSession = (history: History, threadId: string, generation = 1): void => {
  history.add(threadId, "session.opening", { generation });
  history.add(threadId, "session.started", {
    generation,
    nativeSessionId: `n${generation}`,
    resumed: false,
    capabilities,
  });
};
