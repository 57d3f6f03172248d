/**
 * Interprets canonical events: guard, then the handler of the type, then the books (I5). Each type has one small handler;
 * the table is exhaustive by type.
 */
import type { RefusalReason, RuntimeEvent, RuntimeEventOf, RuntimeEventType } from "@tributary/contracts";
import { countRefused } from "../accounts.ts";
import { guard } from "../guard/guard.ts";
import { contentDelta } from "../handlers/deltas.ts";
import { itemCompleted, itemStarted, itemUpdated } from "../handlers/items.ts";
import { noticeRecorded, retryScheduled, runtimeError } from "../handlers/notices.ts";
import {
  contextCompacted,
  inputState,
  journalOnly,
  modelRerouted,
  unknownMessage,
  usageUpdated,
} from "../handlers/reports.ts";
import { requestOpened, requestResolved } from "../handlers/requests.ts";
import { contentRetracted } from "../handlers/retractions.ts";
import { sessionConfigured, sessionExited, sessionStarted, sessionState, sessionTitle } from "../handlers/sessions.ts";
import { taskCompleted, taskStarted, taskUpdated } from "../handlers/tasks.ts";
import { planCompleted, planDelta, turnCompleted, turnDiff, turnPlan, turnStarted } from "../handlers/turns.ts";
import { folded, refused } from "./interpretation.ts";
import type { Handler, Interpretation, Outcome } from "./interpretation.ts";
import { undecodableMark } from "./undecodable.ts";
import type { Verdict } from "../guard/verdict.ts";

const handlers: { readonly [T in RuntimeEventType]: Handler<T> } = {
  "session.started": sessionStarted,
  "session.configured": sessionConfigured,
  "session.state": sessionState,
  "session.exited": sessionExited,
  "session.title": sessionTitle,
  "turn.started": turnStarted,
  "turn.completed": turnCompleted,
  "turn.plan": turnPlan,
  "turn.diff": turnDiff,
  "proposed_plan.delta": planDelta,
  "proposed_plan.completed": planCompleted,
  "item.started": itemStarted,
  "item.updated": itemUpdated,
  "item.completed": itemCompleted,
  "content.delta": contentDelta,
  "content.retracted": contentRetracted,
  "input.state": inputState,
  "request.opened": requestOpened,
  "request.resolved": requestResolved,
  "task.started": taskStarted,
  "task.updated": taskUpdated,
  "task.completed": taskCompleted,
  "usage.updated": usageUpdated,
  "context.compacted": contextCompacted,
  "retry.scheduled": retryScheduled,
  "model.rerouted": modelRerouted,
  "account.limits": journalOnly,
  "mcp.status": journalOnly,
  "commands.available": journalOnly,
  notice: noticeRecorded,
  "runtime.error": runtimeError,
  unknown: unknownMessage,
};

/** A record as the journal has it. */
export interface Interpretable {
  readonly generation: number;
  readonly seq: number;
  readonly events: ReadonlyArray<RuntimeEvent>;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Turns to a record. A clock that went back since it came must not keep what is held for longer. */
const turnTo = (it: Interpretation, { seq, at }: Interpretable): void => {
  it.seq = seq;
  it.arrived = Math.min(at - (it.ahead ?? 0), it.now);
};

const ask = (it: Interpretation, event: RuntimeEvent): Verdict =>
  guard(event, { generation: it.memory.generation, state: it.state(), look: it.look });

const act = <T extends RuntimeEventType>(it: Interpretation, event: RuntimeEventOf<T>, ruling: Verdict): Outcome => {
  const handler = handlers[event.type];
  switch (ruling.verdict) {
    case "apply":
      return handler.apply(it, event);
    case "late":
      return handler.late?.(it, event) ?? refused("turn_over");
    case "fold":
      return folded;
    case "refuse":
      handler.leftovers?.(it, event);
      return refused(ruling.reason);
  }
};

const enterBooks = (it: Interpretation, type: string, outcome: Outcome): void => {
  const { accounts } = it.memory;
  switch (outcome.outcome) {
    case "applied":
      accounts.applied += 1;
      break;
    case "folded":
      accounts.folded += 1;
      break;
    case "held":
      break;
    case "refused":
      countRefused(accounts, outcome.reason);
      it.note(it.seq, type, outcome.reason);
  }
};

const interpretEvent = (it: Interpretation, event: RuntimeEvent): void => {
  const mark = undecodableMark(event);
  if (mark !== undefined) enterBooks(it, mark.type, refused("undecodable"));
  else enterBooks(it, event.type, act(it, event, ask(it, event)));
};

/** Interprets a record of the current generation, from event `from` on. */
export const interpretRecord = (it: Interpretation, record: Interpretable, from = 0): void => {
  turnTo(it, record);
  for (let index = from; index < record.events.length; index += 1) {
    const event = record.events[index];
    if (event === undefined) continue;
    it.index = index;
    interpretEvent(it, event);
  }
  it.memory.seq = record.seq;
};

const isQuiet = <T extends RuntimeEventType>(
  it: Interpretation,
  event: RuntimeEventOf<T>,
  ruling: Verdict,
): boolean => {
  if (ruling.verdict === "fold") return true;
  return ruling.verdict === "apply" && handlers[event.type].quiet?.(it, event) === true;
};

/**
 * Interprets events of a record as long as nothing of them enters the log. Returns the index of the first that needs a
 * transaction, or the number of events when none does. `it.decide` is never called.
 */
export const interpretQuietly = (it: Interpretation, record: Interpretable): number => {
  turnTo(it, record);
  const { events } = record;
  for (let index = 0; index < events.length; index += 1) {
    const event = events[index];
    if (event === undefined) continue;
    if (undecodableMark(event) !== undefined) return index;
    it.index = index;
    const ruling = ask(it, event);
    if (!isQuiet(it, event, ruling)) return index;
    enterBooks(it, event.type, act(it, event, ruling));
  }
  it.memory.seq = record.seq;
  return events.length;
};

/** Refuses a record as a whole: of another generation, or one that cannot be interpreted. */
export const refuseRecord = (
  it: Interpretation,
  record: Interpretable,
  reason: RefusalReason,
  note: (type: string) => void,
): void => {
  for (const event of record.events) {
    countRefused(it.memory.accounts, reason);
    note(undecodableMark(event)?.type ?? event.type);
  }
};
