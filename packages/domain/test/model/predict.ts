/** What the ledger says must come of a command, written from the design's words rather than from the decider. */
import type { InternalCommand, ThreadCommand } from "@tributary/contracts";
import type { Entry, Ledger } from "./ledger.ts";

/** `ok`, `ok:<mode>`, or the code or reason of the refusal; undefined where the ledger has no opinion. */
export type Prediction = string | undefined;

const worksArchived = new Set([
  "thread.rename",
  "thread.archive",
  "thread.unarchive",
  "thread.delete",
  "thread.read",
  "turn.interrupt",
  "request.answer",
  "session.release",
]);

const submit = (ledger: Ledger, inputId: string, delivery: string): Prediction => {
  if (ledger.get("input", inputId) !== undefined) return "input_exists";
  const { turn, flight, next, steerable, interrupt } = ledger;
  const anyQueued = ledger.in("input", "queued").length > 0;
  const runsOrWill = turn !== undefined || flight !== undefined || next !== undefined;
  switch (delivery) {
    case "queue":
      return "ok:queue";
    case "prompt":
      return runsOrWill ? "busy" : "ok:prompt";
    case "steer":
      if (turn === undefined) return "no_active_turn";
      if (!steerable) return "unsupported";
      return interrupt === undefined ? "ok:steer" : "busy";
    default:
      if (turn !== undefined && steerable && interrupt === undefined) return "ok:steer";
      return runsOrWill || anyQueued ? "ok:queue" : "ok:prompt";
  }
};

const when = (held: boolean, otherwise: string): Prediction => (held ? "ok" : otherwise);
const isIn = (entry: Entry | undefined, ...states: ReadonlyArray<string>): boolean =>
  entry !== undefined && states.includes(entry.state);

const answer = (ledger: Ledger, command: Extract<ThreadCommand, { type: "request.answer" }>): Prediction => {
  const request = ledger.get("request", command.requestId);
  if (request === undefined) return "unknown_request";
  if (isIn(request, "answered", "answering")) return "already_answered";
  if (isIn(request, "expired", "withdrawn")) return "request_expired";
  if (command.subjectHash !== undefined && command.subjectHash !== request.hash) return "request_changed";
  return when("optionId" in command.answer && ["yes", "no"].includes(command.answer.optionId), "invalid_answer");
};

const interrupt = (ledger: Ledger, { turnId, inputId }: { turnId?: string; inputId?: string }): Prediction => {
  const running = ledger.turn;
  if (turnId !== undefined) return when(running?.id === turnId, "no_active_turn");
  if (inputId === undefined)
    return when(
      running !== undefined || ledger.flight !== undefined || ledger.next?.mode === "prompt",
      "no_active_turn",
    );
  const input = ledger.get("input", inputId);
  const isLostSteer = isIn(input, "handed_over") && input?.mode === "steer" && running === undefined;
  return when(isIn(input, "queued", "handed_over", "started") && !isLostSteer, "no_active_turn");
};

/** Of a client's command. */
export const predictClient = (ledger: Ledger, command: ThreadCommand): Prediction => {
  if (command.type === "thread.create") return ledger.deleted ? "thread_deleted" : "thread_exists";
  if (ledger.deleted) return "thread_deleted";
  if (ledger.archived && !worksArchived.has(command.type)) return "thread_archived";
  switch (command.type) {
    case "input.submit":
      return submit(ledger, command.inputId, command.delivery ?? "auto");
    case "input.edit":
      return when(isIn(ledger.get("input", command.inputId), "queued"), "not_queued");
    case "input.withdraw": {
      const input = ledger.get("input", command.inputId);
      const isHeld = isIn(input, "handed_over") && ledger.gives && ledger.session?.state === "ready";
      return when(isIn(input, "queued") || isHeld, "not_queued");
    }
    case "session.forget":
      return ledger.live ? "busy" : "ok";
    case "input.resubmit":
      if (!isIn(ledger.get("input", command.inputId), "failed", "unconfirmed")) return "not_queued";
      return submit(ledger, "never used", ledger.turn === undefined ? "auto" : "queue");
    case "input.discard":
      return when(isIn(ledger.get("input", command.inputId), "failed", "unconfirmed"), "not_queued");
    case "request.answer":
      return answer(ledger, command);
    case "turn.interrupt":
      return interrupt(ledger, command);
    case "thread.configure":
      return command.cwd === "/elsewhere" ? "cwd_immutable" : "ok";
    default:
      return "ok";
  }
};

const standing = (ledger: Ledger, generation: number): string | undefined => {
  if (ledger.session === undefined) return "no_session";
  if (generation !== ledger.generation) return "other_generation";
  return ledger.live ? undefined : "session_over";
};

const turnEnd = (ledger: Ledger, turnId: string | undefined): Prediction => {
  const running = ledger.turn;
  if (turnId !== undefined && running?.id === turnId) return "ok";
  if (turnId === undefined) return running === undefined ? "no_active_turn" : "not_active_turn";
  if (isIn(ledger.get("turn", turnId), "over")) return "turn_over";
  return running === undefined ? "turn_unknown" : "not_active_turn";
};

const handOver = (ledger: Ledger, command: Extract<InternalCommand, { type: "input.hand_over" }>): Prediction => {
  const input = ledger.get("input", command.inputId);
  if (input === undefined) return "input_unknown";
  if (!isIn(input, "queued", "handed_over", "started", "failed", "unconfirmed")) return "invalid";
  const bad = standing(ledger, command.generation);
  if (bad !== undefined) return bad;
  if (input.state !== "queued" || ledger.session?.state !== "ready" || ledger.interrupt !== undefined) return "invalid";
  if (command.mode === "steer") {
    if (ledger.turn === undefined) return "no_active_turn";
    return when(input.mode === "steer" && ledger.steerable, "invalid");
  }
  if (ledger.turn !== undefined) return "turn_active";
  return when(ledger.flight === undefined && ledger.next === input, "invalid");
};

/** Of an internal command. */
export const predictInternal = (ledger: Ledger, command: InternalCommand): Prediction => {
  if (ledger.deleted && command.type !== "thread.purge") return "thread_deleted";
  switch (command.type) {
    case "session.open":
      return ledger.live ? "invalid" : when(command.generation === ledger.generation + 1, "other_generation");
    case "session.opened":
    case "session.fail":
      return standing(ledger, command.generation) ?? when(ledger.session?.state === "opening", "invalid");
    case "session.exit":
      return standing(ledger, command.generation) ?? "ok";
    case "turn.start": {
      const bad = standing(ledger, command.generation);
      if (bad !== undefined) return bad;
      if (ledger.turn?.id === command.turnId) return "ok";
      if (isIn(ledger.get("turn", command.turnId), "over")) return "turn_over";
      return when(ledger.turn === undefined || ledger.flight !== undefined, "turn_active");
    }
    case "turn.end":
      return standing(ledger, command.generation) ?? turnEnd(ledger, command.turnId);
    case "input.hand_over":
      return handOver(ledger, command);
    case "request.deliver":
    case "request.not_delivered": {
      const request = ledger.get("request", command.requestId);
      if (request === undefined) return "request_unknown";
      return isIn(request, "pending", "answering") ? when(isIn(request, "answering"), "invalid") : "request_over";
    }
    case "message.append": {
      if (command.start !== undefined) return undefined;
      const text = ledger.get("text", command.messageId);
      if (isIn(text, "retracted")) return "item_over";
      return when(text !== undefined && text.text?.length === command.offset, "invalid");
    }
    case "activity.end":
    case "activity.update": {
      const activity = ledger.get("activity", command.activityId);
      return activity === undefined ? "invalid" : when(activity.state === "open", "item_over");
    }
    case "task.end":
    case "task.update": {
      const task = ledger.get("task", command.taskId);
      return task === undefined ? "invalid" : when(task.state === "open", "task_over");
    }
    default:
      return undefined;
  }
};
