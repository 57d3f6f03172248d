/**
 * What the engine should do for a thread, as a pure function of its committed state and of what is known of its live
 * session. The intent is the state, so the same question may be asked at any time and as often as one likes: what is on
 * its way already is part of `LiveView` and not asked for again.
 *
 *                  no handle                                handle
 *   queued input ──────────► open ─────────► ready ──► configure ► prompt
 *                                              │        steer, answer, withdraw
 *                                              ├──► interrupt: native ► terminate ► kill ► settle   (escalate.ts)
 *   session over (released, deleted, exited) ──┴──► close
 */
import type { ApprovalMode, ConfigureOptions, InteractionMode } from "@tributary/contracts";
import { inputInLine, isLive, promptInFlight } from "@tributary/domain";
import type { ThreadState } from "@tributary/domain";

/** The settings of a thread that a runtime session carries. */
export interface SessionSettings {
  readonly model?: string;
  readonly effort?: string;
  readonly approvalMode: ApprovalMode;
  readonly interactionMode: InteractionMode;
}

/** What the engine knows of a live session, beside the thread's state. */
export interface LiveView {
  readonly generation: number;
  /**
   * `intended` until that is committed; `opening` until the runtime's word; `ending` from the first step to end it until
   * its process is gone.
   */
  readonly phase: "intended" | "opening" | "open" | "ending";
  /** An input or a setting is on its way, and nothing shows yet that it arrived. */
  readonly isCalling: boolean;
  /** A step of an interrupt is being taken. */
  readonly isEscalating: boolean;
  /** Requests whose answer was given to the runtime: each gets one (I7). */
  readonly answered: ReadonlySet<string>;
  /** Inputs that the runtime was asked back for, once each. */
  readonly withdrawn: ReadonlySet<string>;
  /** What the session was opened with, or configured to since. */
  readonly settings: SessionSettings;
  readonly canConfigure: boolean;
}

export type Action =
  | { readonly type: "open"; readonly generation: number }
  | { readonly type: "configure"; readonly change: ConfigureOptions; readonly settings: SessionSettings }
  | { readonly type: "prompt"; readonly inputId: string }
  | { readonly type: "steer"; readonly inputId: string; readonly turnId: string }
  | { readonly type: "answer"; readonly requestId: string }
  | { readonly type: "withdraw"; readonly inputId: string }
  | { readonly type: "interrupt"; readonly step: "native" }
  | { readonly type: "close" }
  /** The state says that there is a session, and there is none: it is over. */
  | { readonly type: "lost" };

/** Everything that should begin now, in this order. */
export const nextActions = (state: ThreadState, live: LiveView | undefined): ReadonlyArray<Action> => {
  if (live === undefined) return withoutHandle(state);
  if (live.phase === "intended" || live.phase === "ending") return [];
  if (isOver(state, live.generation)) return [{ type: "close" }];
  // Between the runtime's word and its commit, and while the opening waits for it, nothing is possible but to stop it: a
  // runtime that hangs while it opens may have begun a turn (I9).
  if (live.phase === "opening" || state.session?.state !== "ready") return interrupts(state, live);
  return [...interrupts(state, live), ...answers(state, live), ...takesBack(state, live), ...handOver(state, live)];
};

/** Whether the thread has no use for the session of this generation any more. */
export const isOver = (state: ThreadState, generation: number): boolean =>
  state.deleted || state.session?.generation !== generation || !isLive(state);

const withoutHandle = (state: ThreadState): ReadonlyArray<Action> => {
  if (state.deleted) return [];
  // A person wants to stop what nobody can reach any more: it ends here (I9).
  if (isLive(state)) return state.interrupt === undefined ? [] : [{ type: "lost" }];
  return inputInLine(state) === undefined ? [] : [{ type: "open", generation: nextGeneration(state) }];
};

/** The number of the session that would be opened next. */
export const nextGeneration = (state: ThreadState): number => (state.session?.generation ?? 0) + 1;

const interrupts = (state: ThreadState, live: LiveView): ReadonlyArray<Action> =>
  state.interrupt?.step === "requested" && !live.isEscalating ? [{ type: "interrupt", step: "native" }] : [];

const answers = (state: ThreadState, live: LiveView): ReadonlyArray<Action> =>
  state.requests
    .filter(({ state: at, requestId }) => at === "answering" && !live.answered.has(requestId))
    .map(({ requestId }) => ({ type: "answer", requestId }));

/** Beside whatever else is on its way: an input is taken back before it is read, or not at all. */
const takesBack = (state: ThreadState, live: LiveView): ReadonlyArray<Action> =>
  state.inputs
    .filter(({ inputId, isWithdrawing }) => isWithdrawing === true && !live.withdrawn.has(inputId))
    .map(({ inputId }) => ({ type: "withdraw", inputId }));

/** One at a time, and nothing while somebody is stopping. */
const handOver = (state: ThreadState, live: LiveView): ReadonlyArray<Action> => {
  if (live.isCalling || state.interrupt !== undefined) return [];
  if (state.turn !== undefined) {
    const steer = state.inputs.find((input) => input.state === "queued" && input.mode === "steer");
    return steer === undefined || state.session?.capabilities?.steer !== true
      ? []
      : [{ type: "steer", inputId: steer.inputId, turnId: state.turn.turnId }];
  }
  const next = promptInFlight(state) === undefined ? inputInLine(state) : undefined;
  if (next === undefined) return [];
  const change = live.canConfigure ? settingsChange(state, live.settings) : undefined;
  return change === undefined
    ? [{ type: "prompt", inputId: next.inputId }]
    : [{ type: "configure", change, settings: settingsOf(state) }];
};

/** The settings that a session of this thread should have. */
export const settingsOf = ({ model, effort, approvalMode, interactionMode }: ThreadState): SessionSettings => ({
  ...(model === undefined ? {} : { model }),
  ...(effort === undefined ? {} : { effort }),
  approvalMode,
  interactionMode,
});

/** What differs between the thread and its session. What the thread leaves to the runtime stays as the session has it. */
export const settingsChange = (state: ThreadState, now: SessionSettings): ConfigureOptions | undefined => {
  const wanted = settingsOf(state);
  const change = {
    ...(wanted.model === undefined || wanted.model === now.model ? {} : { model: wanted.model }),
    ...(wanted.effort === undefined || wanted.effort === now.effort ? {} : { effort: wanted.effort }),
    ...(wanted.approvalMode === now.approvalMode ? {} : { approvalMode: wanted.approvalMode }),
    ...(wanted.interactionMode === now.interactionMode ? {} : { interactionMode: wanted.interactionMode }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
};
