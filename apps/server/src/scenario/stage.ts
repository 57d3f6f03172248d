/** What the lines of a scenario act on: the world of the moment, and what is kept through crashes and for the output. */
import type { ScenarioState } from "@tributary/projections";
import type { StoreError } from "@tributary/store";
import { Effect, Fiber } from "effect";
import { makeStub } from "./stub.ts";
import type { Stub } from "./stub.ts";
import { makeVirtualClock } from "./virtual-clock.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import { noSurvivings, openWorld } from "./world.ts";
import type { World } from "./world.ts";

export interface ScenarioReceipt {
  readonly commandId: string;
  readonly status: "accepted" | "rejected";
  readonly code?: string;
  readonly sequence?: number;
}

export interface Stage {
  readonly stub: Stub;
  readonly time: VirtualClock;
  /** Where relative `feed` files are looked for. */
  readonly folder: string;
  readonly receipts: Array<ScenarioReceipt>;
  readonly snapshots: Record<string, ScenarioState>;
  /** The thread that a line means which names none. */
  threadId: string;
  readonly world: () => World;
  readonly open: Effect.Effect<void, StoreError>;
  /** Memory and processes are gone; reopened and reconciled. */
  readonly crash: Effect.Effect<void, StoreError>;
  /** Memory is gone, the stub's sessions survive; nothing is reconciled. */
  readonly replay: Effect.Effect<void, StoreError>;
  /** Orderly end and start. */
  readonly restart: Effect.Effect<void, StoreError>;
  /** All that was accepted is committed and visible; the world stands still. */
  readonly drain: Effect.Effect<void>;
  /** Resolves when everything waits: for a runtime, for a person, or for time. */
  readonly settle: Effect.Effect<void>;
  /**
   * Does something that may have to wait for a deadline (of a runtime that hangs): time passes as far as that takes and no
   * further. It is left alone once `isEnough`.
   */
  readonly patiently: <E>(effect: Effect.Effect<void, E>, isEnough?: () => boolean) => Effect.Effect<void, E>;
  readonly close: Effect.Effect<void>;
}

/** Virtual time begins here, so that a run prints the same every time. */
const beginning = Date.UTC(2026, 0, 1);

/** So many turns of the event loop without a change are rest: what goes on between two of them shows in `mark`. */
const restfulTurns = 3;

const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void));
});

export const openStage = (dir: string, folder: string): Effect.Effect<Stage> =>
  Effect.sync(() => {
    const stub = makeStub();
    const time = makeVirtualClock(beginning);
    let survivings = noSurvivings();
    let current: World | undefined;

    const world = (): World => {
      if (current === undefined) throw new Error("a scenario's world is opened before its first line");
      return current;
    };

    const open = Effect.suspend(() =>
      Effect.map(openWorld({ dir, clock: time.clock, stub }, survivings), (opened) => {
        current = opened;
      }),
    );

    const settle = Effect.gen(function* () {
      let mark = "";
      for (let still = 0; still < restfulTurns;) {
        const { engine, ingestion, writer } = world();
        yield* engine.quiet;
        yield* ingestion.interpreted();
        yield* turn;
        const next = `${writer.head()} ${stub.calls.length}`;
        still = next === mark ? still + 1 : 0;
        mark = next;
      }
    });

    const patiently = Effect.fnUntraced(function* <E>(effect: Effect.Effect<void, E>, isEnough = () => false) {
      const fiber = yield* Effect.forkDetach(effect, { startImmediately: true });
      yield* settle;
      while (fiber.pollUnsafe() === undefined && !isEnough()) if (!(yield* time.skip(settle))) break;
      const exit = fiber.pollUnsafe();
      if (exit === undefined) yield* Fiber.interrupt(fiber);
      else yield* exit;
    });

    /** What a new host does not know of: sessions and where their records go. */
    const forget = Effect.sync(() => {
      stub.killAll();
      survivings = noSurvivings();
    });

    return {
      stub,
      time,
      folder,
      receipts: [],
      snapshots: {},
      threadId: "",
      world,
      open,
      settle,
      patiently,
      crash: Effect.suspend(() => world().drop).pipe(Effect.andThen(forget), Effect.andThen(open)),
      replay: Effect.suspend(() => world().drop).pipe(
        Effect.andThen(open),
        // What is journalled and not interpreted is the new host's first work.
        Effect.andThen(Effect.suspend(() => interpretOpen(world()))),
      ),
      restart: Effect.suspend(() => patiently(world().engine.shutdown)).pipe(
        Effect.andThen(Effect.suspend(() => world().end)),
        Effect.andThen(forget),
        Effect.andThen(open),
      ),
      drain: Effect.suspend(() => Effect.andThen(settle, world().ingestion.drain())).pipe(Effect.andThen(settle)),
      close: Effect.suspend(() => current?.drop ?? Effect.void),
    };
  });

const interpretOpen = ({ ingestion, writer }: World): Effect.Effect<void> =>
  Effect.forEach(writer.openThreads(), (threadId) => ingestion.interpreted(threadId), { discard: true });
