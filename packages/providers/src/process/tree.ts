/**
 * Ending everything that one spawned runtime left on this machine: TERM to the whole tree, a grace, then KILL, until the
 * table shows none. Rules of membership: `members.ts`.
 *
 * Two guarantees: a pid is signalled only right after its start time was found unchanged (there is no pidfd in Node, so
 * microseconds remain), and this process is never signalled. One limit: a process that left the session, lost its
 * parent *and* runs without the marker can't be told from a stranger, unless it was seen (`seen`) before.
 */
import { type Duration, Effect } from "effect";

import { treeMembers } from "./members.ts";
import { bootId, snapshot, stillAlive } from "./table.ts";
import { type ProcessIdentity, processKey, type ProcessRow, type ProcessTableError } from "./table-row.ts";

/** What to look for; any of it may be missing. */
export interface TreeTarget {
  /** The process that was spawned. Of another boot, it is ignored: nothing outlives a reboot. */
  readonly identity?: ProcessIdentity | undefined;
  /** The value of `TRIBUTARY_MARKER` in the environment that it was given. */
  readonly marker?: string | undefined;
  /** Processes that were seen in the tree earlier. */
  readonly seen?: ReadonlyArray<ProcessIdentity> | undefined;
  /** The caller saw `identity` exit a moment ago: nobody else can hold the number of its group yet. */
  readonly justExited?: boolean | undefined;
}

/** What ending a tree came to. */
export interface EndReport {
  /** Every live process of the tree that was seen, in the order of discovery. */
  readonly found: ReadonlyArray<ProcessRow>;
  /** Those that TERM did not end in time. */
  readonly killed: ReadonlyArray<ProcessRow>;
  /** Those that still run: another user's, or stuck in the kernel. */
  readonly left: ReadonlyArray<ProcessRow>;
}

export interface EndOptions {
  /** How long TERM may take before KILL follows; measured on Effect's clock. Default 2 s. */
  readonly termGrace?: Duration.Input | undefined;
  /** How long KILL may take before the rest is reported as left; measured on Effect's clock. Default 5 s. */
  readonly killDeadline?: Duration.Input | undefined;
}

/** The live processes of a tree, now. Zombies are not among them. */
export const findSurvivors = (target: TreeTarget): Effect.Effect<ReadonlyArray<ProcessRow>, ProcessTableError> =>
  new Hunt(target).look;

/** Ends every process of the tree. Succeeds also when something is left: the report says what. */
export const endTree = Effect.fn("process.endTree")(function* (
  target: TreeTarget,
  options?: EndOptions,
): Effect.fn.Return<EndReport, ProcessTableError> {
  const hunt = new Hunt(target);
  let left = yield* hunt.look;
  const killed: Array<ProcessRow> = [];
  if (left.length > 0) {
    yield* within(hunt.terminate, options?.termGrace ?? "2 seconds");
    left = yield* hunt.look;
  }
  if (left.length > 0) {
    killed.push(...left);
    yield* within(hunt.kill, options?.killDeadline ?? "5 seconds");
    left = yield* hunt.look;
  }
  return { found: hunt.found, killed, left };
});

/** A tree that still grows after so many looks is killed as it is, and looked at again. */
const MAX_STOP_ROUNDS = 50;

/** One pursuit: remembers who was found, because a process that loses its parent loses its place in the tree. */
class Hunt {
  readonly #marker: string | undefined;
  readonly #known: Array<Pick<ProcessIdentity, "pid" | "startTime">>;
  readonly #recentLeaders = new Set<number>();
  readonly #found = new Map<string, ProcessRow>();
  /** Those that we may not signal: waiting for them would be in vain. */
  readonly #refused = new Set<string>();

  constructor(target: TreeTarget) {
    const identities = [...(target.identity === undefined ? [] : [target.identity]), ...(target.seen ?? [])];
    this.#marker = target.marker;
    this.#known = identities.filter((one) => one.bootId === bootId());
    if (target.justExited === true && target.identity !== undefined) this.#recentLeaders.add(target.identity.pid);
  }

  get found(): ReadonlyArray<ProcessRow> {
    return [...this.#found.values()];
  }

  /** The live members now. */
  readonly look: Effect.Effect<ReadonlyArray<ProcessRow>, ProcessTableError> = Effect.suspend(() =>
    Effect.map(snapshot, (rows) => {
      const members = treeMembers(
        rows,
        { marker: this.#marker, known: this.#known, recentLeaders: this.#recentLeaders },
        process.pid,
      );
      const living = members.filter((row) => !row.zombie);
      for (const row of members) if (row.pid === row.pgid || row.pid === row.sid) this.#recentLeaders.add(row.pid);
      for (const row of living) {
        if (this.#found.has(processKey(row))) continue;
        this.#found.set(processKey(row), row);
        this.#known.push(row);
      }
      return living;
    }),
  );

  /** TERM to everyone, those born meanwhile included, until none is left. The caller bounds it. */
  readonly terminate: Effect.Effect<void, ProcessTableError> = Effect.suspend(() =>
    this.#untilNoneIsLeft((members, asked) =>
      this.#signal(
        members.filter((row) => !asked.has(processKey(row))),
        "SIGTERM",
      ),
    ),
  );

  /**
   * KILL to everyone until none is left. The tree is stopped first, and looked at until nothing new turns up: what is
   * stopped can't fork, and a child that is born between a look and a KILL would lose its parent, and we its trace.
   * The caller bounds it; a tree is never left stopped.
   */
  readonly kill: Effect.Effect<void, ProcessTableError> = Effect.suspend(() =>
    this.#untilNoneIsLeft(() =>
      Effect.gen({ self: this }, function* () {
        const stopped = new Set<string>();
        for (let round = 0; round < MAX_STOP_ROUNDS; round += 1) {
          const moving = (yield* this.look).filter((row) => !stopped.has(processKey(row)));
          if (moving.length === 0) break;
          yield* this.#signal(moving, "SIGSTOP");
          for (const row of moving) stopped.add(processKey(row));
        }
        yield* this.#signal(yield* this.look, "SIGKILL");
      }).pipe(Effect.uninterruptible),
    ),
  );

  #untilNoneIsLeft(
    act: (members: ReadonlyArray<ProcessRow>, acted: ReadonlySet<string>) => Effect.Effect<void, ProcessTableError>,
  ): Effect.Effect<void, ProcessTableError> {
    return Effect.gen({ self: this }, function* () {
      const acted = new Set<string>();
      for (;;) {
        const members = this.#reachable(yield* this.look);
        if (members.length === 0) return;
        yield* act(members, acted);
        for (const row of members) acted.add(processKey(row));
        yield* this.#untilDead(members);
      }
    });
  }

  #reachable(rows: ReadonlyArray<ProcessRow>): ReadonlyArray<ProcessRow> {
    return rows.filter((row) => !this.#refused.has(processKey(row)));
  }

  /** Checks again in real time, whatever Effect's clock says: processes do not run on a test's clock. */
  #untilDead(rows: ReadonlyArray<ProcessRow>): Effect.Effect<void, ProcessTableError> {
    return Effect.gen({ self: this }, function* () {
      let waiting = this.#reachable(rows);
      for (let pauseMillis = 2; ; pauseMillis = Math.min(pauseMillis * 2, 100)) {
        waiting = yield* stillAlive(waiting);
        if (waiting.length === 0) return;
        yield* realPause(pauseMillis);
      }
    });
  }

  #signal(rows: ReadonlyArray<ProcessRow>, signal: NodeJS.Signals): Effect.Effect<void, ProcessTableError> {
    return Effect.map(stillAlive(rows), (alive) => {
      for (const row of alive) {
        if (row.pid === process.pid) continue;
        try {
          process.kill(row.pid, signal);
        } catch (error) {
          const ended = error instanceof Error && "code" in error && error.code === "ESRCH";
          if (!ended) this.#refused.add(processKey(row));
        }
      }
    });
  }
}

const within = (
  effect: Effect.Effect<void, ProcessTableError>,
  duration: Duration.Input,
): Effect.Effect<void, ProcessTableError> => Effect.timeoutOrElse(effect, { duration, orElse: () => Effect.void });

const realPause = (millis: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis);
    return Effect.sync(() => clearTimeout(timer));
  });
