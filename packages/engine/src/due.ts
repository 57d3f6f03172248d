/**
 * What the engine should do for a thread because time has passed: pure, like `plan.ts`. Marks say since when something
 * has been so; each rule gives an instant, and what is not due yet says when to look again.
 */
import { inputInLine, promptInFlight } from "@tributary/domain";
import type { ThreadState } from "@tributary/domain";
import type { Timings } from "./config.ts";
import { isOver } from "./plan.ts";
import type { LiveView } from "./plan.ts";

/** In which a runtime is expected to say something. */
export type QuietPhase = keyof Timings["silent"];

/** Since when (milliseconds of a clock that never jumps) a thread has been as it is. Recomputed whenever it is looked at. */
export interface Marks {
  readonly idleSince?: number;
  readonly quiet?: { readonly phase: QuietPhase; readonly since: number };
  readonly strandedSince?: number;
}

/** What time needs to know of a live session. */
export interface TimedView extends LiveView {
  readonly marks: Marks;
  /** When the runtime last said anything. */
  readonly heardAt: number;
  /** The silence (by when it began) that was told already. */
  readonly toldSilence?: number | undefined;
  /** When the last step of the interrupt was taken. */
  readonly escalatedAt: number;
  /** Which turn each input was steered into. */
  readonly steered: ReadonlyMap<string, string>;
}

export type DueAction =
  | { readonly type: "interrupt"; readonly step: "terminate" | "kill" }
  /** KILL, and still no word: the engine settles by itself. */
  | { readonly type: "settle" }
  | { readonly type: "release" }
  | { readonly type: "silent"; readonly phase: QuietPhase; readonly since: number }
  | { readonly type: "expire"; readonly requestId: string }
  | { readonly type: "lose"; readonly inputId: string };

export interface Due {
  readonly actions: ReadonlyArray<DueAction>;
  /** When to look again, if nothing happens before. */
  readonly wakeAt?: number;
}

/** Whether the session may go: nothing runs, waits, or is about to. What is held waits for a person, not for it. */
export const isIdle = (state: ThreadState): boolean =>
  state.session?.state === "ready" &&
  state.turn === undefined &&
  state.tasks.length === 0 &&
  state.requests.length === 0 &&
  state.interrupt === undefined &&
  inputInLine(state) === undefined &&
  promptInFlight(state) === undefined &&
  state.inputs.every((input) => input.state !== "handed_over");

/** The agent waits for a person, not a person for the agent. */
const isAsked = ({ requests }: ThreadState): boolean =>
  requests.some(({ state, blocking }) => state === "pending" && blocking);

/** In which phase the runtime is expected to speak; not while a person is asked. */
const quietPhase = (state: ThreadState, live: LiveView): QuietPhase | undefined => {
  if (live.phase === "intended" || live.phase === "ending" || isAsked(state)) return undefined;
  if (live.phase === "opening") return "opening";
  if (state.turn !== undefined) return "turn";
  return promptInFlight(state) === undefined ? undefined : "prompt";
};

/**
 * Steers whose turn is over and of which nothing was seen, also those whose call still hangs: what it was for is over, and
 * whoever waits behind it should not wait for the call's own deadline.
 */
const strandedSteers = (state: ThreadState, live: Pick<TimedView, "steered">) =>
  state.inputs.filter(
    ({ inputId, state: at, mode }) =>
      at === "handed_over" &&
      mode === "steer" &&
      (state.turn === undefined || live.steered.get(inputId) !== state.turn.turnId),
  );

/** Brings the marks up to date: what goes on being so keeps its beginning. */
export const mark = (state: ThreadState, live: Omit<TimedView, "marks">, before: Marks, now: number): Marks => {
  const phase = quietPhase(state, live);
  return {
    ...(isIdle(state) && !live.isCalling ? { idleSince: before.idleSince ?? now } : {}),
    ...(phase === undefined
      ? {}
      : { quiet: { phase, since: before.quiet?.phase === phase ? before.quiet.since : now } }),
    ...(strandedSteers(state, live).length === 0 ? {} : { strandedSince: before.strandedSince ?? now }),
  };
};

/**
 * What is due now, and when the next thing will be. `now` and all marks are of a clock that never jumps; `ahead` is how far
 * the clock on the wall, which runtimes' own deadlines are of, is ahead of it.
 */
export const dueActions = (state: ThreadState, live: TimedView, now: number, timings: Timings, ahead = 0): Due => {
  const actions: Array<DueAction> = [];
  let wakeAt: number | undefined;
  const isOurs = live.phase !== "intended" && live.phase !== "ending" && !isOver(state, live.generation);
  for (const { at, action } of isOurs ? deadlines(state, live, timings, ahead) : []) {
    if (at <= now) actions.push(action);
    else if (wakeAt === undefined || at < wakeAt) wakeAt = at;
  }
  return wakeAt === undefined ? { actions } : { actions, wakeAt };
};

interface Deadline {
  readonly at: number;
  readonly action: DueAction;
}

const deadlines = (state: ThreadState, live: TimedView, timings: Timings, ahead: number): ReadonlyArray<Deadline> => [
  ...escalation(state, live, timings),
  ...idleness(live, timings),
  ...silence(live, timings),
  ...state.requests.flatMap(({ requestId, state: at, expiresAt }): ReadonlyArray<Deadline> => {
    const instant = expiresAt === undefined || at !== "pending" ? Number.NaN : Date.parse(expiresAt);
    return Number.isNaN(instant) ? [] : [{ at: instant - ahead, action: { type: "expire", requestId } }];
  }),
  ...(live.marks.strandedSince === undefined
    ? []
    : strandedSteers(state, live).map(({ inputId }) => ({
        at: (live.marks.strandedSince ?? 0) + timings.strandedSteer,
        action: { type: "lose" as const, inputId },
      }))),
];

/** Each step waits its grace for the thing to be over; then the next one, harder, is taken (section 5). */
const escalation = (state: ThreadState, live: TimedView, timings: Timings): ReadonlyArray<Deadline> => {
  if (state.interrupt === undefined || live.isEscalating) return [];
  const after = (grace: number, action: DueAction) => [{ at: live.escalatedAt + grace, action }];
  switch (state.interrupt.step) {
    case "requested":
      return [];
    case "native":
      return after(timings.interruptGrace, { type: "interrupt", step: "terminate" });
    case "terminate":
      return after(timings.terminateGrace, { type: "interrupt", step: "kill" });
    case "kill":
      return after(timings.killGrace, { type: "settle" });
  }
};

const idleness = ({ marks, heardAt }: TimedView, timings: Timings): ReadonlyArray<Deadline> =>
  marks.idleSince === undefined
    ? []
    : [{ at: Math.max(marks.idleSince, heardAt) + timings.idle, action: { type: "release" } }];

const silence = ({ marks: { quiet }, heardAt, toldSilence }: TimedView, timings: Timings): ReadonlyArray<Deadline> => {
  if (quiet === undefined) return [];
  const since = Math.max(quiet.since, heardAt);
  return since === toldSilence
    ? []
    : [{ at: since + timings.silent[quiet.phase], action: { type: "silent", phase: quiet.phase, since } }];
};
