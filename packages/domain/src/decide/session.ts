/** The session machine: opening → ready → exited | released | failed (section 5). */
import { event } from "@tributary/contracts";
import type { DomainEvent, Failure, InternalCommandOf } from "@tributary/contracts";
import { accept, refused, rejected } from "../answers.ts";
import { exitFailure } from "../failures.ts";
import { notLive } from "../guard.ts";
import { pick, without } from "../plain.ts";
import { inputInLine, isFree, isLive } from "../queue.ts";
import { holdQueue, settleSession } from "../settle.ts";
import type { SessionOver } from "../settle.ts";
import type { InternalDecision, ThreadDecision, ThreadState } from "../state.ts";
import { releaseSession } from "./release.ts";
import type { ClientHandlers, Given, InternalGiven, InternalHandlers } from "./types.ts";

const open = ({ state }: InternalGiven, command: InternalCommandOf<"session.open">): InternalDecision => {
  if (isLive(state)) return refused("invalid");
  if (command.generation !== (state.session?.generation ?? 0) + 1) return refused("other_generation");
  return accept(event("session.opening", without(command, "type")));
};

/** Refuses what is not about the session being opened. */
const notOpening = (state: ThreadState, generation: number) =>
  notLive(state, generation) ?? (state.session?.state === "opening" ? undefined : "invalid");

/**
 * The opening came to nothing. The input that it was for fails with it; what waits behind that input is held, so that
 * a runtime which cannot start is not started again and again.
 */
const failOpening = (state: ThreadState, over: SessionOver, error: Failure): ReadonlyArray<DomainEvent> => {
  const next = inputInLine(state);
  const rest = state.inputs.filter((input) => input !== next);
  const settled = settleSession({ ...state, inputs: rest }, over);
  const isHeld = settled.some(({ type }) => type === "queue.held");
  return [
    ...settled,
    ...(next === undefined ? [] : [event("input.failed", { inputId: next.inputId, error })]),
    ...(isHeld ? [] : holdQueue({ ...state, inputs: rest }, "failed")),
  ];
};

const fail = ({ state }: InternalGiven, { generation, error }: InternalCommandOf<"session.fail">): InternalDecision => {
  const reason = notOpening(state, generation);
  if (reason !== undefined) return refused(reason);
  const over: SessionOver = { turn: { state: "failed", error }, reason: "session_failed" };
  return accept(...failOpening(state, over, error), event("session.failed", { generation, error }));
};

/** An exit that somebody asked for interrupts; one that we did not see leaves the turn's work unknown. */
const exitOver = (state: ThreadState, command: InternalCommandOf<"session.exit">, error: Failure): SessionOver => {
  const isUnseen = command.seen === "host_restart";
  const reason = isUnseen ? "host_restart" : "session_exited";
  if (state.interrupt !== undefined) return { turn: { state: "interrupted" }, reason };
  return { turn: isUnseen ? { state: "lost" } : { state: "failed", error }, reason };
};

const exit = ({ state }: InternalGiven, command: InternalCommandOf<"session.exit">): InternalDecision => {
  const reason = notLive(state, command.generation);
  if (reason !== undefined) return refused(reason);
  const isUnseen = command.seen === "host_restart";
  const error = exitFailure(command);
  const over = exitOver(state, command, error);
  // A host that died while a session opened says nothing about the runtime: what waits was never sent, and still waits.
  const settled =
    state.session?.state === "opening" && !isUnseen ? failOpening(state, over, error) : settleSession(state, over);
  const facts = without(command, "type", "seen");
  return accept(...settled, event("session.exited", isUnseen ? { ...facts, settledBy: "system" } : facts));
};

const configure = ({ state }: InternalGiven, command: InternalCommandOf<"session.configure">): InternalDecision => {
  const { generation } = command;
  const reason = notLive(state, generation);
  if (reason !== undefined) return refused(reason);
  const facts = ["model", "effort", "serviceTier", "nativeSessionId"] as const;
  const read = pick(command, facts);
  const isSame = facts.every((name) => read[name] === undefined || read[name] === state.session?.[name]);
  return isSame && command.options === undefined
    ? accept()
    : accept(event("session.configured", without(command, "type")));
};

/** Idle care may let go of a session only while nothing runs, waits or is about to. */
const idle = ({ state }: InternalGiven, { generation }: InternalCommandOf<"session.idle">): InternalDecision => {
  const reason = notLive(state, generation);
  if (reason !== undefined) return refused(reason);
  if (state.turn !== undefined) return refused("turn_active");
  const isIdle =
    state.session?.state === "ready" && isFree(state) && state.tasks.length === 0 && state.requests.length === 0;
  return isIdle ? accept(...releaseSession(state, "idle")) : refused("invalid");
};

/** Nothing of the old context may be live when it is given up. Told in the thread, where it makes a difference. */
const forget = ({ state }: Given): ThreadDecision => {
  const { nativeSessionId } = state;
  if (isLive(state))
    return rejected("busy", "A session is open: release it first, then the next one can begin without its context");
  if (nativeSessionId === undefined) return accept();
  return accept(
    event("session.forgotten", { nativeSessionId }),
    event("notice.recorded", {
      noticeId: `n:forgotten:${state.version}`,
      level: "info",
      code: "context_forgotten",
      message: "The agent begins anew with the next input: it does not know what was said before",
      detail: `The native session ${nativeSessionId} is not resumed any more`,
    }),
  );
};

export const sessionHandlers: ClientHandlers<"session.release" | "session.forget"> = {
  "session.release": ({ state }) => accept(...releaseSession(state, "asked")),
  "session.forget": forget,
};

export const sessionInternalHandlers: InternalHandlers<Extract<keyof InternalHandlers, `session.${string}`>> = {
  "session.open": open,
  "session.opened": ({ state }, command) => {
    const reason = notOpening(state, command.generation);
    return reason === undefined ? accept(event("session.started", without(command, "type"))) : refused(reason);
  },
  "session.fail": fail,
  "session.configure": configure,
  "session.exit": exit,
  "session.idle": idle,
};
