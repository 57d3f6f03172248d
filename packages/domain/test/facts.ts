/** Short words for events and values, so that a test reads as what happened. */
import { event, messageId, itemKey } from "@tributary/contracts";
import type { Actor, ApprovalOption, Capabilities, DomainEvent, DomainPayloads, Failure } from "@tributary/contracts";

export const threadId = "T";
export const person: Actor = { kind: "client", id: "phone" };
export const runtime: Actor = { kind: "runtime", id: "stub" };
export const now = "2026-01-01T00:00:00.000Z";

export const capabilities: Capabilities = {
  steer: true,
  queue: { durable: false, withdraw: false },
  approvals: true,
  userInput: true,
  images: false,
  attribution: "none",
  resume: { survivesKill: false, replaysHistory: false },
  usage: false,
  mcp: { stdio: false, http: false, listChanged: false },
  refusedOptions: {},
};

export const failure = (message = "no"): Failure => ({ class: "provider", message, retryable: true });

export const created = (over: Partial<DomainPayloads["thread.created"]> = {}): DomainEvent =>
  event("thread.created", {
    projectId: "P",
    cwd: "/p",
    instance: "stub",
    approvalMode: "ask",
    interactionMode: "default",
    textDelivery: "streaming",
    ...over,
  });

export const archived = event("thread.archived", {});
export const deleted = event("thread.deleted", {});

// sessions
export const opening = (generation = 1): DomainEvent => event("session.opening", { generation });
export const ready = (generation = 1, over: Partial<Capabilities> = {}): DomainEvent =>
  event("session.started", {
    generation,
    nativeSessionId: `native-${generation}`,
    resumed: false,
    capabilities: { ...capabilities, ...over },
  });
export const exited = (generation = 1): DomainEvent =>
  event("session.exited", { generation, kind: "crash", exitCode: 1, recoverable: true });
export const released = (generation = 1, reason: DomainPayloads["session.released"]["reason"] = "asked"): DomainEvent =>
  event("session.released", { generation, reason });

/** A thread with a session that takes prompts. */
export const open: ReadonlyArray<DomainEvent> = [created(), opening(), ready()];

// inputs
export const queued = (
  inputId: string,
  mode: DomainPayloads["input.queued"]["mode"] = "prompt",
  over: Partial<DomainPayloads["input.queued"]> = {},
): DomainEvent =>
  event("input.queued", {
    inputId,
    text: `text of ${inputId}`,
    delivery: mode,
    mode,
    origin: { kind: "user" },
    ...over,
  });
export const handedOver = (inputId: string, mode: "prompt" | "steer" = "prompt", generation = 1): DomainEvent =>
  event("input.handed_over", { inputId, generation, mode });
export const began = (inputId: string, turnId?: string, how: "started" | "folded" = "started"): DomainEvent =>
  event("input.started", turnId === undefined ? { inputId, how } : { inputId, turnId, how });
export const done = (inputId: string, turnId?: string): DomainEvent =>
  event("input.done", turnId === undefined ? { inputId } : { inputId, turnId });
export const withdrawn = (inputId: string, reason?: string): DomainEvent =>
  event("input.withdrawn", reason === undefined ? { inputId } : { inputId, reason });
export const failed = (inputId: string, error = failure()): DomainEvent => event("input.failed", { inputId, error });
export const unconfirmed = (inputId: string, reason: string): DomainEvent =>
  event("input.unconfirmed", { inputId, reason });
export const discarded = (inputId: string): DomainEvent => event("input.discarded", { inputId });
export const held = (reason: DomainPayloads["queue.held"]["reason"], turnId?: string): DomainEvent =>
  event("queue.held", turnId === undefined ? { reason } : { reason, turnId });
export const resumed = event("queue.resumed", {});

// turns
export const turn = (
  turnId: string,
  inputIds: ReadonlyArray<string> = [],
  over: Partial<DomainPayloads["turn.started"]> = {},
): DomainEvent =>
  event("turn.started", {
    turnId,
    generation: 1,
    inputIds,
    origin: inputIds.length > 0 ? "input" : "runtime",
    ...over,
  });
export const ended = (
  turnId: string,
  state: DomainPayloads["turn.ended"]["state"] = "completed",
  over: Partial<DomainPayloads["turn.ended"]> = {},
): DomainEvent => event("turn.ended", { turnId, state, ...over });

/** A prompt whose turn runs. */
export const running = (inputId = "i1", turnId = "t1"): ReadonlyArray<DomainEvent> => [
  queued(inputId),
  handedOver(inputId),
  turn(turnId, [inputId]),
  began(inputId, turnId),
];

export const interrupting = (target: { turnId?: string; inputId?: string }): DomainEvent =>
  event("interrupt.requested", { ...target, generation: 1 });

// text
interface Place {
  readonly turnId?: string;
  readonly agentPath?: ReadonlyArray<string>;
  readonly itemId?: string;
  readonly segment?: number;
  readonly generation?: number;
}
export const startOf = (place: Place) => ({
  ...(place.turnId === undefined ? {} : { turnId: place.turnId }),
  agentPath: place.agentPath ?? [],
  itemId: place.itemId ?? "m",
  segment: place.segment ?? 0,
  generation: place.generation ?? 1,
});
export const idOf = (place: Place): string =>
  messageId(place.turnId, place.agentPath ?? [], place.itemId ?? "m", place.segment ?? 0);
export const said = (text: string, place: Place): DomainEvent =>
  event("message.appended", { messageId: idOf(place), offset: 0, text, start: startOf(place) });
export const saidMore = (id: string, offset: number, text: string): DomainEvent =>
  event("message.appended", { messageId: id, offset, text });
export const closedText = (id: string, length: number, settledBy?: "system"): DomainEvent =>
  event(
    "message.completed",
    settledBy === undefined ? { messageId: id, length } : { messageId: id, length, settledBy },
  );
export const thought = (text: string, turnId: string, id = `${turnId}//r#r0`): DomainEvent =>
  event("reasoning.appended", {
    reasoningId: id,
    kind: "full",
    offset: 0,
    text,
    start: startOf({ turnId, itemId: "r" }),
  });

// work
export const acting = (itemId: string, place: Place = { turnId: "t1" }): DomainEvent =>
  event("activity.started", {
    activityId: itemKey(place.turnId, place.agentPath ?? [], itemId),
    itemId,
    itemType: "command",
    ...(place.turnId === undefined ? {} : { turnId: place.turnId }),
    agentPath: place.agentPath ?? [],
    generation: place.generation ?? 1,
  });
export const stopped = (activityId: string): DomainEvent =>
  event("activity.ended", { activityId, status: "interrupted", settledBy: "system" });
export const tasking = (
  taskId: string,
  kind: "subagent" | "background",
  over: Partial<DomainPayloads["task.started"]> = {},
): DomainEvent =>
  event("task.started", {
    taskId,
    kind,
    turnId: "t1",
    agentPath: [],
    childPath: [taskId],
    generation: 1,
    ...over,
  });
export const taskStopped = (taskId: string): DomainEvent =>
  event("task.ended", { taskId, status: "interrupted", settledBy: "system" });

// requests
export const options: ReadonlyArray<ApprovalOption> = [
  { id: "yes", label: "Yes", effect: "allow", scope: "once" },
  { id: "always", label: "Always", effect: "allow", scope: "session" },
  { id: "no", label: "No", effect: "reject", scope: "once" },
];
export const asked = (requestId: string, over: Partial<DomainPayloads["request.opened"]> = {}): DomainEvent =>
  event("request.opened", {
    requestId,
    turnId: "t1",
    agentPath: [],
    generation: 1,
    subjectHash: "h1",
    kind: "approval",
    action: "command",
    options,
    ...over,
  });
export const answering = (requestId: string, optionId = "yes", by: Actor = person): DomainEvent =>
  event("request.answering", { requestId, answer: { optionId }, by });
export const answered = (requestId: string, over: Partial<DomainPayloads["request.answered"]> = {}): DomainEvent =>
  event("request.answered", { requestId, answer: { optionId: "yes" }, by: person, delivery: "confirmed", ...over });
export const expired = (requestId: string, reason: string): DomainEvent =>
  event("request.expired", { requestId, reason });
