/** What an operator, or a test, may set about the engine. All durations are milliseconds of Effect's clock. */
import { Context, Effect } from "effect";

/** How long each call to a runtime may take. Past it the outcome is unknown, never assumed. */
export interface CallDeadlines {
  /** Past it the opening has failed, and its process is ended. */
  readonly open: number;
  readonly prompt: number;
  readonly steer: number;
  readonly answer: number;
  readonly configure: number;
  /** An orderly close; then TERM. */
  readonly close: number;
}

export interface Timings {
  readonly calls: CallDeadlines;
  /** After a native interrupt: how long until TERM. */
  readonly interruptGrace: number;
  /** After TERM: how long until KILL. */
  readonly terminateGrace: number;
  /** After KILL: how long until the engine settles without the runtime's word. */
  readonly killGrace: number;
  /** A session without work is released after this long. */
  readonly idle: number;
  /** How long a runtime may say nothing in each phase before it is told in the thread. */
  readonly silent: { readonly opening: number; readonly prompt: number; readonly turn: number };
  /** How long after its turn is over a steered input may stay without any sign of it. */
  readonly strandedSteer: number;
  /** How long held text may take to be flushed before the engine settles without it. */
  readonly flush: number;
  /** How long an orderly shutdown may take; then everything is killed. */
  readonly shutdown: number;
}

export interface EngineConfig {
  readonly timings: Timings;
  /** Unique to one spawn: 1 to 128 of letters, digits and `.:-_`. Resolved before the intent is stored. */
  readonly marker: (threadId: string, generation: number) => Effect.Effect<string>;
}

export const defaultTimings: Timings = {
  calls: { open: 60_000, prompt: 30_000, steer: 15_000, answer: 15_000, configure: 15_000, close: 5_000 },
  interruptGrace: 5_000,
  terminateGrace: 2_000,
  killGrace: 1_000,
  idle: 15 * 60_000,
  silent: { opening: 30_000, prompt: 60_000, turn: 120_000 },
  strandedSteer: 5_000,
  flush: 1_000,
  shutdown: 10_000,
};

/** Settings of the engine, with defaults; provide another value to change them. */
export const EngineSettings = Context.Reference<EngineConfig>("tributary/engine/EngineSettings", {
  defaultValue: () => ({
    timings: defaultTimings,
    marker: () => Effect.sync(() => globalThis.crypto.randomUUID()),
  }),
});
