/**
 * One lane a thread: a fiber that asks the plan what to do, starts it, and sleeps until something commits or a deadline
 * comes. It waits for nothing that it starts, so an interrupt is never behind a prompt that hangs; and no lane waits for
 * another, so one thread's stuck runtime is its own affair (I15).
 */
import { inputInLine } from "@tributary/domain";
import type { ThreadState } from "@tributary/domain";
import { Cause, Clock, Effect, Latch } from "effect";
import { dueActions, mark } from "./due.ts";
import type { DueAction } from "./due.ts";
import { Live } from "./live.ts";
import { nextActions, settingsOf } from "./plan.ts";
import type { Action } from "./plan.ts";
import { giveAnswer } from "./reactors/answer.ts";
import { configure } from "./reactors/configure.ts";
import { endSession } from "./reactors/end.ts";
import { handOver, lose } from "./reactors/hand-over.ts";
import { escalate, settleKilled } from "./reactors/interrupt.ts";
import { openSession } from "./reactors/open.ts";
import { expire, failFruitless, releaseIdle, settleLost, tellSilence } from "./reactors/upkeep.ts";
import { takeBack } from "./reactors/withdraw.ts";
import { steadyMillis } from "./time.ts";
import type { Tools } from "./tools.ts";

/** So many sessions in a row that went before they took an input are one too many. */
const maxFruitless = 3;

class Lane {
  readonly latch = Latch.makeUnsafe(false);
  isParked = false;
  /** What this lane started and has not ended, by key. */
  readonly running = new Set<string>();
  /** What was started for this version of the thread: what came to nothing is not repeated while nothing has changed. */
  readonly tried = new Set<string>();
  version = 0;
}

/** Starts an effect in the background of the engine. */
export type Fork = (effect: Effect.Effect<void>) => void;

export class Lanes {
  readonly #tools: Tools;
  readonly #fork: Fork;
  readonly #lanes = new Map<string, Lane>();
  #isStopped = false;

  constructor(tools: Tools, fork: Fork) {
    this.#tools = tools;
    this.#fork = fork;
  }

  /** Something may be to do for this thread. Synchronous and cheap: called after every commit. */
  wake(threadId: string): void {
    if (this.#isStopped) return;
    const lane = this.#lanes.get(threadId);
    if (lane !== undefined) {
      if (lane.isParked) {
        lane.isParked = false;
        this.#tools.activity.enter();
      }
      lane.latch.openUnsafe();
      return;
    }
    const state = this.#tools.writer.state(threadId);
    if (state === undefined || !this.#isNeeded(state)) return;
    const started = new Lane();
    this.#lanes.set(threadId, started);
    this.#tools.activity.enter();
    this.#fork(
      Effect.ensuring(
        logged(`The lane of thread ${threadId} failed; the next change starts another`, this.#run(threadId, started)),
        Effect.sync(() => {
          if (this.#lanes.get(threadId) === started) this.#lanes.delete(threadId);
          if (!started.isParked) this.#tools.activity.leave();
        }),
      ),
    );
  }

  /** Nothing new is started any more. */
  stop(): void {
    this.#isStopped = true;
    for (const lane of this.#lanes.values()) lane.latch.openUnsafe();
  }

  #isNeeded(state: ThreadState): boolean {
    const { sessions, wanted } = this.#tools;
    const { threadId } = state;
    return sessions.has(threadId) || wanted.has(threadId) || nextActions(state, undefined).length > 0;
  }

  #run(threadId: string, lane: Lane): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      while (!this.#isStopped) {
        lane.latch.closeUnsafe();
        const state = this.#tools.writer.state(threadId);
        if (state === undefined) return;
        const wakeAt = this.#look(lane, state, yield* steadyMillis, yield* Clock.currentTimeMillis);
        const live = this.#tools.sessions.get(threadId);
        if (live === undefined && lane.running.size === 0 && !this.#isNeeded(state)) {
          // In the same turn as the look: a commit after it finds no lane and starts one.
          this.#lanes.delete(threadId);
          this.#tools.fruitless.delete(threadId);
          return;
        }
        yield* this.#park(lane, wakeAt);
      }
    });
  }

  #park(lane: Lane, wakeAt: number | undefined): Effect.Effect<void> {
    const { activity } = this.#tools;
    return Effect.gen(function* () {
      if (!lane.latch.isOpen()) {
        lane.isParked = true;
        activity.leave();
      }
      const now = yield* steadyMillis;
      yield* wakeAt === undefined
        ? lane.latch.await
        : // Whole milliseconds, and at least one: a sleep that ends a fraction too early would begin again without end.
          Effect.raceFirst(lane.latch.await, Effect.sleep(Math.max(1, Math.ceil(wakeAt - now))));
      if (!lane.isParked) return;
      lane.isParked = false;
      activity.enter();
    });
  }

  /** Starts what is to be started, and says when to look again. */
  #look(lane: Lane, state: ThreadState, now: number, wall: number): number | undefined {
    const { sessions, timings, wanted } = this.#tools;
    const { threadId } = state;
    const live = sessions.get(threadId);
    if (lane.version !== state.version) lane.tried.clear();
    lane.version = state.version;
    const actions = nextActions(state, live);
    if (live === undefined) {
      for (const action of actions) this.#start(lane, state, undefined, action, now, wall);
      if (wanted.has(threadId) && actions.length === 0 && !state.deleted)
        this.#start(
          lane,
          state,
          undefined,
          { type: "open", generation: (state.session?.generation ?? 0) + 1 },
          now,
          wall,
        );
      return undefined;
    }
    forget(live, state);
    live.marks = mark(state, live, live.marks, now);
    for (const action of nextActions(state, live)) this.#start(lane, state, live, action, now, wall);
    const due = dueActions(state, live, now, timings, wall - now);
    for (const action of due.actions) this.#start(lane, state, live, action, now, wall);
    return due.wakeAt;
  }

  #start(
    lane: Lane,
    state: ThreadState,
    live: Live | undefined,
    action: Action | DueAction,
    now: number,
    wall: number,
  ): void {
    const key = keyOf(action);
    if (lane.running.has(key) || lane.tried.has(key)) return;
    const effect =
      live === undefined ? this.#withoutHandle(state, action, now, wall) : this.#withHandle(state, live, action);
    if (effect === undefined) return;
    lane.running.add(key);
    lane.tried.add(key);
    this.#fork(
      Effect.ensuring(
        this.#tools.activity.during(logged(`${key} of thread ${state.threadId} failed`, effect)),
        Effect.sync(() => {
          lane.running.delete(key);
          this.wake(state.threadId);
        }),
      ),
    );
  }

  #withoutHandle(
    state: ThreadState,
    action: Action | DueAction,
    now: number,
    wall: number,
  ): Effect.Effect<void> | undefined {
    const tools = this.#tools;
    const { threadId } = state;
    if (action.type === "lost") return settleLost(tools, state);
    if (action.type !== "open") return undefined;
    const before = tools.fruitless.get(threadId) ?? 0;
    if (before >= maxFruitless && inputInLine(state) !== undefined) return failFruitless(tools, threadId);
    tools.fruitless.set(threadId, before + 1);
    return Effect.flatMap(tools.marker(threadId, action.generation), (marker) => {
      const settings = settingsOf(state);
      const live = new Live({ threadId, generation: action.generation, marker, settings, now, wall });
      tools.sessions.set(threadId, live);
      return openSession(tools, live);
    });
  }

  #withHandle(state: ThreadState, live: Live, action: Action | DueAction): Effect.Effect<void> | undefined {
    const tools = this.#tools;
    switch (action.type) {
      case "open":
      case "lost":
        return undefined;
      case "close":
        return endSession(tools, live);
      case "configure":
        return calling(live, {}, configure(tools, live, action));
      case "prompt":
      case "steer":
        return calling(live, { inputId: action.inputId }, handOver(tools, live, action));
      case "withdraw":
        live.withdrawn.add(action.inputId);
        return takeBack(tools, live, action.inputId);
      case "answer":
        live.answered.add(action.requestId);
        return giveAnswer(tools, live, action.requestId);
      case "interrupt":
        live.isEscalating = true;
        return escalate(tools, live, action.step);
      case "settle":
        return settleKilled(tools, live);
      case "release":
        return releaseIdle(tools, live);
      case "silent":
        live.toldSilence = action.since;
        return tellSilence(tools, live, action);
      case "expire":
        return expire(tools, state, action.requestId);
      case "lose":
        return lose(tools, live, action.inputId, "turn_over");
    }
  }
}

/** A fault of ours ends in the log, not in silence. */
const logged = (what: string, effect: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchCauseIf(
    effect,
    (cause) => !Cause.hasInterruptsOnly(cause),
    (cause) => Effect.logError(what, cause),
  );

const keyOf = (action: Action | DueAction): string => {
  switch (action.type) {
    case "prompt":
    case "steer":
    case "lose":
    case "withdraw":
      return `${action.type} ${action.inputId}`;
    case "answer":
    case "expire":
      return `${action.type} ${action.requestId}`;
    case "interrupt":
      return `interrupt ${action.step}`;
    case "silent":
      return `silent ${action.phase}`;
    default:
      return action.type;
  }
};

/** Marks the session as busy with it until it has ended, or until `forget` finds that it does not matter any more. */
const calling = (live: Live, call: NonNullable<Live["calling"]>, effect: Effect.Effect<void>): Effect.Effect<void> => {
  live.calling = call;
  return Effect.ensuring(
    effect,
    Effect.sync(() => {
      if (live.calling === call) live.calling = undefined;
    }),
  );
};

/** Lets go of what the state has settled, so that a session's memory follows what is open. */
const forget = (live: Live, state: ThreadState): void => {
  const inputs = new Map(state.inputs.map(({ inputId, state: at }) => [inputId, at]));
  for (const inputId of live.steered.keys()) if (inputs.get(inputId) !== "handed_over") live.steered.delete(inputId);
  for (const inputId of live.withdrawn)
    if (!state.inputs.some((input) => input.inputId === inputId && input.isWithdrawing)) live.withdrawn.delete(inputId);
  for (const requestId of live.answered)
    if (!state.requests.some((request) => request.requestId === requestId)) live.answered.delete(requestId);
  // A call whose input is known to have begun, or failed, holds up nothing, even if the runtime never answers it.
  const inputId = live.calling?.inputId;
  const at = inputId === undefined ? "queued" : inputs.get(inputId);
  if (at !== "queued" && at !== "handed_over") live.calling = undefined;
};
