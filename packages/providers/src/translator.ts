/**
 * What every runtime's `translate.ts` is: a pure step from one native frame to records with canonical events.
 *
 * - Same frames, same events and same ids: no clock, no randomness, no I/O. A recording read twice gives the same text.
 * - One frame, one record, whatever it means to us: what means nothing has no events, what is unknown has an `unknown` one.
 * - It never throws: a malformed frame is an `unknown` event (I18).
 */
import type { RuntimeRecord } from "@tributary/contracts";

/** One native frame: `in` came from the runtime, `out` went to it. `msg` is what was parsed, or a line that was no JSON. */
export interface NativeFrame {
  readonly dir: "in" | "out";
  readonly msg: unknown;
}

/** What a translator is told about the session before its first frame. */
export interface TranslationStart {
  /** Which incarnation of the thread's session this is, from 1: makes ids unique that the runtime reuses. */
  readonly generation: number;
}

export interface Translation<State> {
  readonly state: State;
  readonly records: ReadonlyArray<RuntimeRecord>;
}

/** Takes the frames of one process in the order of the wire. */
export type TranslateFrames = (frame: NativeFrame) => ReadonlyArray<RuntimeRecord>;

/** A runtime's translator with its state inside. */
export interface Translator {
  readonly runtime: string;
  /** Whether a session that ended can be resumed: what `session.exited` says as `recoverable`. */
  readonly recoverable: boolean;
  /** Begins a session. What it returns is stateful: one for each process. */
  readonly start: (session: TranslationStart) => TranslateFrames;
}

export const makeTranslator = <State>(runtime: {
  readonly runtime: string;
  readonly recoverable: boolean;
  readonly initial: (session: TranslationStart) => State;
  readonly translate: (state: State, frame: NativeFrame) => Translation<State>;
}): Translator => ({
  runtime: runtime.runtime,
  recoverable: runtime.recoverable,
  start: (session) => {
    let state = runtime.initial(session);
    return (frame) => {
      const step = runtime.translate(state, frame);
      state = step.state;
      return step.records;
    };
  },
});
