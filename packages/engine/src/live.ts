/** Live sessions: the handles behind what the states of threads say. */
import type { ProcessIdentity, RuntimeSession } from "@tributary/contracts";
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect";
import type { Marks, TimedView } from "./due.ts";
import type { SessionSettings } from "./plan.ts";

/** Something on its way to the runtime that the next thing waits for; freed by its end, its deadline or evidence. */
export interface Calling {
  readonly inputId?: string;
}

/** One live session, from the decision to open it until its process is gone. */
export class Live implements TimedView {
  readonly threadId: string;
  readonly generation: number;
  readonly marker: string;
  /** What the adapter and all calls live in. */
  readonly scope: Scope.Closeable;
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  phase: LivePhase = "intended";
  session: RuntimeSession | undefined;
  settings: SessionSettings;
  readonly answered = new Set<string>();
  readonly steered = new Map<string, string>();
  readonly withdrawn = new Set<string>();
  calling: Calling | undefined;
  isEscalating = false;
  escalatedAt = 0;
  marks: Marks = {};
  heardAt: number;
  /** The same for people: milliseconds since the epoch. */
  heardAtWall: number;
  toldSilence: number | undefined;
  /** Newest process of the session; undefined for one without. */
  process: ProcessIdentity | undefined;
  /** Whether the intent to spawn was stored, so that its end must be. */
  isIntended = false;
  /** The process is gone, or nothing more can be done. */
  readonly gone = Deferred.makeUnsafe<void>();

  constructor(options: {
    readonly threadId: string;
    readonly generation: number;
    readonly marker: string;
    readonly settings: SessionSettings;
    /** Of the clock that never jumps, and of the one on the wall. */
    readonly now: number;
    readonly wall: number;
  }) {
    this.threadId = options.threadId;
    this.generation = options.generation;
    this.marker = options.marker;
    this.settings = options.settings;
    this.openedAt = options.wall;
    this.heardAt = options.now;
    this.heardAtWall = options.wall;
    this.scope = Scope.makeUnsafe();
  }

  get isCalling(): boolean {
    return this.calling !== undefined;
  }

  get canConfigure(): boolean {
    return this.session?.configure !== undefined;
  }
}

export type LivePhase = TimedView["phase"];

/**
 * The live sessions of this host. Apart from the engine, so that whoever replaces the engine (a test of a crash that the
 * runtimes survive) can hand them on. When its layer closes, all sessions end without
 * ceremony, and are waited for no longer than 5 s.
 */
export class Sessions extends Context.Service<Sessions, { readonly byThread: Map<string, Live> }>()(
  "tributary/engine/Sessions",
) {
  static readonly layer: Layer.Layer<Sessions> = Layer.effect(
    Sessions,
    Effect.acquireRelease(
      Effect.sync(() => ({ byThread: new Map<string, Live>() })),
      ({ byThread }) =>
        Effect.forEach(
          byThread.values(),
          ({ scope }) =>
            Effect.flatMap(Effect.forkDetach(Scope.close(scope, Exit.void)), (closing) =>
              Effect.timeoutOption(Fiber.await(closing), "5 seconds"),
            ),
          { concurrency: "unbounded", discard: true },
        ),
    ),
  );
}
