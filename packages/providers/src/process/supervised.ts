/**
 * One runtime's process, from spawn to the end of the last thing it left behind.
 *
 * Built on node:child_process rather than on `effect/process`, whose handle does not give what supervision needs: its
 * scope signals a process group by number without looking whether the number was reused, and TERMs the group the moment
 * the leader fails, before the rest of the tree can be seen; an exit by signal is an error whose signal stands only in an
 * English text; stdin is a sink, so a single line has neither backpressure nor an outcome; and the pid arrives only after
 * the event loop has turned, when the start time of a short-lived process can no longer be read.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

import { Deferred, type Duration, Effect, Fiber, Schema, type Scope, type Stream } from "effect";

import { childEnvironment, type EnvironmentValue } from "./environment.ts";
import type { Line } from "./lines.ts";
import { linesOf } from "./readable-lines.ts";
import { invalidAttempt, type SpawnError, spawnError } from "./spawn-error.ts";
import { type LineInput, lineInput } from "./stdin.ts";
import { bootId, identity } from "./table.ts";
import { ProcessIdentity, type ProcessRow, type ProcessTableError } from "./table-row.ts";
import { TextTail } from "./tail.ts";
import { type EndReport, endTree, findSurvivors } from "./tree.ts";

/** What to store about a spawned process, so that a later host can find what is left of it. */
export const AgentIdentity = Schema.Struct({ ...ProcessIdentity.fields, marker: Schema.String });
export type AgentIdentity = typeof AgentIdentity.Type;

/** How the process ended. One of `exitCode` and `signal` is there. */
export interface AgentExit {
  readonly exitCode?: number;
  /** The signal's name, such as `SIGKILL`. */
  readonly signal?: string;
  /** What it said last on stderr: at most 4 KiB of valid UTF-8. */
  readonly stderrTail: string;
}

export interface AgentOptions<E = never, R = never> {
  /** A path, or a name that is looked up in the child's PATH. No shell reads it. */
  readonly command: string;
  readonly args: ReadonlyArray<string>;
  /** The working folder; it must exist. */
  readonly cwd: string;
  /** What the instance sets; `undefined` takes an inherited variable away. */
  readonly env?: Readonly<Record<string, EnvironmentValue>>;
  /** Names of host variables to pass on beyond the allowlist of `environment.ts`. */
  readonly inherit?: ReadonlyArray<string>;
  /** Unique to this spawn, and stored before it: 1 to 128 of letters, digits and `.:-_`. */
  readonly marker: string;
  /** Longest line of stdout in bytes that is kept; default 64 MiB. */
  readonly maxLineBytes?: number;
  /**
   * How long leftovers and a closing scope's tree have between TERM and KILL; default 2 s. The scope waits on Effect's
   * clock: under a TestClock, give 0 to a process that ignores TERM.
   */
  readonly termGrace?: Duration.Input;
  /** Runs once, before the caller gets the handle: the place to store the identity. If it fails, the tree is ended. */
  readonly onSpawned?: (identity: AgentIdentity) => Effect.Effect<void, E, R>;
}

/** What an end came to; `problem` is there when the table could not be read and only the process itself was killed. */
export interface AgentEnd extends EndReport {
  readonly problem?: ProcessTableError;
}

export interface AgentHandle extends LineInput {
  readonly identity: AgentIdentity;
  /**
   * The lines of stdout, as fast as they are taken: unread output makes the child wait. For one consumer. Ends when
   * every writer is gone: the process, and whatever it left behind.
   */
  readonly lines: Stream.Stream<Line>;
  /** Resolves once the process itself has ended, whether or not anyone reads `lines`. */
  readonly exit: Effect.Effect<AgentExit>;
  /** What it said last on stderr so far: at most 4 KiB of valid UTF-8. */
  readonly stderrTail: Effect.Effect<string>;
  /**
   * The live processes of the tree. What was seen is remembered: it is found again at the end even if it lost its
   * parent and its environment meanwhile.
   */
  readonly observe: Effect.Effect<ReadonlyArray<ProcessRow>, ProcessTableError>;
  /** Ends the whole tree and waits for the exit. Never waits for a reader of `lines`. May be called again. */
  readonly end: (options?: { readonly grace?: Duration.Input }) => Effect.Effect<AgentEnd>;
}

/**
 * Starts a runtime in its own session and process group, with pipes for stdin, stdout and stderr. When its process ends,
 * what it left behind is ended too; so is the whole tree when the scope closes.
 */
export const spawnAgent = Effect.fn("process.spawnAgent")(function* <E = never, R = never>(
  options: AgentOptions<E, R>,
): Effect.fn.Return<AgentHandle, SpawnError | E, R | Scope.Scope> {
  const supervised = yield* Effect.acquireRelease(start(options), (it) => it.release);
  if (options.onSpawned !== undefined) {
    yield* Effect.onError(options.onSpawned(supervised.handle.identity), () => supervised.handle.end());
  }
  return supervised.handle;
});

/** A child with all three pipes and a pid. */
interface StartedChild {
  readonly child: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly identity: AgentIdentity;
}

interface Supervised {
  readonly handle: AgentHandle;
  readonly release: Effect.Effect<void>;
}

/**
 * Spawns and takes charge in one turn of the event loop: a later one may find the child reaped and its output discarded.
 */
const start = (options: AgentOptions<unknown, unknown>): Effect.Effect<Supervised, SpawnError> =>
  Effect.callback((resume) => {
    const { command, args, cwd, marker } = options;
    const env = childEnvironment({
      host: process.env,
      platform: process.platform,
      inherit: options.inherit ?? [],
      own: options.env ?? {},
      marker,
    });
    const attempt = { command, args, cwd, env, marker };
    const invalid = invalidAttempt(attempt);
    if (invalid !== undefined) {
      resume(Effect.fail(invalid));
      return;
    }
    try {
      const child = spawn(command, args, {
        cwd,
        env,
        detached: true,
        windowsHide: true,
        stdio: ["pipe", "pipe", "pipe"],
      });
      const { pid } = child;
      if (pid === undefined) {
        child.once("error", (cause) => resume(Effect.fail(spawnError(attempt, cause))));
        return;
      }
      // Later errors are failed signals and the like: the exit tells what matters.
      child.on("error", () => {});
      const known = identity(pid) ?? { pid, startTime: "", bootId: bootId() };
      const { stdin, stdout, stderr } = child;
      const started = { child, stdin, stdout, stderr, identity: { ...known, marker } };
      resume(Effect.succeed(supervise(started, options)));
    } catch (cause) {
      resume(Effect.fail(spawnError(attempt, cause)));
    }
  });

const supervise = (started: StartedChild, options: AgentOptions<unknown, unknown>): Supervised => {
  const { child, stdin, stdout, stderr } = started;
  const { marker, ...root } = started.identity;
  const tail = new TextTail();
  const exited = Deferred.makeUnsafe<AgentExit>();
  const seen: Array<ProcessIdentity> = [];

  const lines = linesOf(stdout, options);
  stderr.on("data", (chunk: Uint8Array) => tail.push(chunk));
  stderr.on("error", () => {});

  const end = (target: { readonly justExited: boolean }, grace?: Duration.Input): Effect.Effect<AgentEnd> =>
    endTree(
      { identity: root, marker, seen, justExited: target.justExited },
      { termGrace: grace ?? options.termGrace },
    ).pipe(Effect.catch((problem) => killAlone(child, problem)));

  // Leftovers are ended as soon as the process is gone, while its group can still be told from a stranger's. The fiber is
  // not the caller's: it runs to its bounded end whatever happens to the scope.
  let cleanup: Fiber.Fiber<AgentEnd> | undefined;
  child.once("exit", (exitCode, signal) => {
    cleanup = Effect.runFork(end({ justExited: true }));
    afterLastWords(stderr, () => {
      const how = exitCode !== null ? { exitCode } : signal !== null ? { signal } : {};
      Deferred.doneUnsafe(exited, Effect.succeed({ ...how, stderrTail: tail.text() }));
    });
  });
  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null;

  const endAll = Effect.fnUntraced(function* (grace?: Duration.Input) {
    const report = yield* end({ justExited: false }, grace);
    if (!report.left.some((row) => row.pid === root.pid)) yield* Deferred.await(exited);
    if (cleanup !== undefined) yield* Fiber.await(cleanup);
    return report;
  });

  const handle: AgentHandle = {
    ...lineInput(stdin, hasExited),
    identity: started.identity,
    lines,
    exit: Deferred.await(exited),
    stderrTail: Effect.sync(() => tail.text()),
    observe: Effect.tap(
      Effect.suspend(() => findSurvivors({ identity: root, marker, seen })),
      (rows) =>
        Effect.sync(() => {
          for (const row of rows) {
            if (seen.some((one) => one.pid === row.pid && one.startTime === row.startTime)) continue;
            seen.push({ pid: row.pid, startTime: row.startTime, bootId: root.bootId });
          }
        }),
    ),
    end: (endOptions) => endAll(endOptions?.grace),
  };
  const release = Effect.map(endAll(), () => {
    // If something could not be ended, neither its pipes nor its exit shall keep the host alive.
    for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
    child.unref();
  });
  return { handle, release };
};

/** How long stderr may stay open after the exit before its tail is taken as it is: a leftover may hold the pipe. */
const LAST_WORDS_MILLIS = 200;

const afterLastWords = (stderr: Readable, run: () => void): void => {
  if (stderr.closed || stderr.readableEnded) {
    run();
    return;
  }
  let isDone = false;
  const once = (): void => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    run();
  };
  const timer = setTimeout(once, LAST_WORDS_MILLIS);
  stderr.once("close", once);
};

/** Without a process table only the child is certain, and only as long as it was not reaped. */
const killAlone = (child: ChildProcess, problem: ProcessTableError): Effect.Effect<AgentEnd> =>
  Effect.sync(() => {
    child.kill("SIGKILL");
    return { found: [], killed: [], left: [], problem };
  });
