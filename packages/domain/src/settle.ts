/**
 * Settlement (4.10): what must be said when a turn, a session or a task is over, so that nothing stays open (I8).
 * Order: texts, activities, requests, tasks, the turn, its inputs, the queue; the session's own event follows.
 */
import { event } from "@tributary/contracts";
import type { DomainEvent, DomainPayloads } from "@tributary/contracts";
import { isWithin } from "./plain.ts";
import { awaitsTurn, queuedInputs, waitsInQueue } from "./queue.ts";
import type { RequestState, ThreadState } from "./state.ts";

const settledBy = "system";

type HeldReason = DomainPayloads["queue.held"]["reason"];
type TurnEnded = DomainPayloads["turn.ended"];
type Work = { readonly turnId?: string; readonly agentPath: ReadonlyArray<string> };

/** Whether an agent works inside a background task, which lives on when the turn that began it is over. */
export const livesOn = (state: ThreadState, agentPath: ReadonlyArray<string>): boolean =>
  state.tasks.some(
    ({ kind, childPath }) =>
      kind === "background" && childPath !== undefined && childPath.length > 0 && isWithin(childPath, agentPath),
  );

const settleTexts = (state: ThreadState, over: (work: Work) => boolean): Array<DomainEvent> =>
  state.texts
    .filter(over)
    .map(({ id, kind, length }) =>
      kind === "message"
        ? event("message.completed", { messageId: id, length, settledBy })
        : event("reasoning.completed", { reasoningId: id, length, settledBy }),
    );

const settleActivities = (state: ThreadState, over: (work: Work) => boolean): Array<DomainEvent> =>
  state.activities
    .filter(over)
    .map(({ activityId }) => event("activity.ended", { activityId, status: "interrupted", settledBy }));

const settleTasks = (state: ThreadState, over: (task: ThreadState["tasks"][number]) => boolean): Array<DomainEvent> =>
  state.tasks.filter(over).map(({ taskId }) => event("task.ended", { taskId, status: "interrupted", settledBy }));

const expire =
  (reason: string) =>
  ({ requestId }: RequestState): DomainEvent =>
    event("request.expired", { requestId, reason });

const withdraw =
  (reason: string) =>
  ({ requestId }: RequestState): DomainEvent =>
    event("request.withdrawn", { requestId, reason });

/**
 * Nobody waits for the answer any more. One that was on its way was perhaps read: it is `unconfirmed`, never pending
 * again and never given twice (I7).
 */
const close =
  (reason: string) =>
  (request: RequestState): DomainEvent => {
    const { requestId, answer, by } = request;
    return request.state === "answering" && answer !== undefined && by !== undefined
      ? event("request.answered", { requestId, answer, by, delivery: "unconfirmed" })
      : event("request.expired", { requestId, reason });
  };

/**
 * The queue waits for a person when the run before it did not go well. A prompt never waits in it, and an empty queue has
 * nothing to hold.
 */
export const holdQueue = (state: ThreadState, reason: HeldReason, turnId?: string): ReadonlyArray<DomainEvent> => {
  if (!queuedInputs(state).some(waitsInQueue) || state.queueHeld !== undefined) return [];
  return [event("queue.held", turnId === undefined ? { reason } : { reason, turnId })];
};

const inputsDone = (state: ThreadState, turnId: string): ReadonlyArray<DomainEvent> =>
  state.inputs
    .filter((input) => input.state === "started" && input.turnId === turnId)
    .map(({ inputId }) => event("input.done", { inputId, turnId }));

const held: { readonly [S in TurnEnded["state"]]: HeldReason | undefined } = {
  completed: undefined,
  // The next turn has begun already: the queue goes on after it.
  superseded: undefined,
  failed: "failed",
  interrupted: "interrupted",
  lost: "lost",
};

/** Texts and activities that stand under a turn which is over. */
export const leftovers = (state: ThreadState, turnId: string): ReadonlyArray<DomainEvent> => {
  const mine = (work: Work): boolean => work.turnId === turnId;
  return [
    ...settleTexts(state, mine),
    ...settleActivities(state, (work) => mine(work) && !livesOn(state, work.agentPath)),
  ];
};

/** A turn is over; background tasks and what they do live on. */
export const settleTurn = (state: ThreadState, ended: TurnEnded): ReadonlyArray<DomainEvent> => {
  const { turnId } = ended;
  const reason = held[ended.state];
  return [
    ...leftovers(state, turnId),
    ...state.requests
      .filter((request) => request.turnId === turnId && !livesOn(state, request.agentPath))
      .map(ended.state === "interrupted" ? withdraw("turn_interrupted") : close("turn_ended")),
    ...settleTasks(
      state,
      (task) => task.kind === "subagent" && task.turnId === turnId && !livesOn(state, task.childPath ?? []),
    ),
    event("turn.ended", ended),
    ...inputsDone(state, turnId),
    ...(reason === undefined ? [] : holdQueue(state, reason, turnId)),
  ];
};

/** A background task is over: so is what only it kept alive after its turn. */
export const settleTask = (state: ThreadState, taskId: string): ReadonlyArray<DomainEvent> => {
  const rest: ThreadState = { ...state, tasks: state.tasks.filter((task) => task.taskId !== taskId) };
  const stranded = (work: Work): boolean =>
    work.turnId !== undefined && work.turnId !== state.turn?.turnId && !livesOn(rest, work.agentPath);
  return [
    ...settleActivities(rest, stranded),
    ...rest.requests.filter(stranded).map(close("task_ended")),
    ...settleTasks(
      rest,
      ({ kind, turnId, childPath }) =>
        kind === "subagent" && turnId !== undefined && stranded({ turnId, agentPath: childPath ?? [] }),
    ),
  ];
};

/** How a session ended, as far as its work is concerned. */
export interface SessionOver {
  readonly turn: Pick<TurnEnded, "state" | "error">;
  /** Why requests expire and handed-over inputs are unconfirmed. */
  readonly reason: string;
}

/** A session is over: all its work is. What the runtime had and nothing shows that it read is offered again. */
export const settleSession = (state: ThreadState, over: SessionOver): ReadonlyArray<DomainEvent> => {
  const { turn } = state;
  const all = (): boolean => true;
  const unread = state.inputs.filter((input) => input.state === "handed_over");
  const waiting = state.inputs.filter((input) => awaitsTurn(state, input));
  const reason = turn === undefined && unread.length + waiting.length === 0 ? undefined : held[over.turn.state];
  return [
    ...settleTexts(state, all),
    ...settleActivities(state, all),
    ...state.requests.map(expire(over.reason)),
    ...settleTasks(state, all),
    ...(turn === undefined
      ? []
      : [event("turn.ended", { turnId: turn.turnId, ...over.turn, settledBy }), ...inputsDone(state, turn.turnId)]),
    ...waiting.map(({ inputId, turnId }) =>
      event("input.done", turnId === undefined ? { inputId } : { inputId, turnId }),
    ),
    ...unread.map(({ inputId }) => event("input.unconfirmed", { inputId, reason: over.reason })),
    ...(reason === undefined ? [] : holdQueue(state, reason, turn?.turnId)),
  ];
};
