/** Starting `codex app-server` for an instance: which program, which environment, and the greeting. */
import { mkdir } from "node:fs/promises";
import { OpenError, type InstanceConfig, type ProcessIdentity } from "@tributary/contracts";
import { Effect, type Scope, Semaphore } from "effect";
import { locate, type Located } from "../locate.ts";
import type { NativeObject } from "../native.ts";
import { type AgentHandle, type EnvironmentValue, spawnAgent } from "../process/index.ts";

/** How Codex knows us; it becomes part of its user agent. */
export const greeting: NativeObject = {
  clientInfo: { name: "tributary", title: "Tributary", version: "0.1.0" },
  // Plan mode, questions and the list of background terminals are experimental in 0.171.
  capabilities: { experimentalApi: true, requestAttestation: false },
};

/** First starts of a home write databases, also on slow disks. */
export const GREETING_DEADLINE = "30 seconds";

/** The instance's program: configured, else `codex` on the path that its processes get. Looks at the file system. */
export const locateCodex = (instance: InstanceConfig): Located =>
  locate(
    instance.command ?? "codex",
    instance.env?.["PATH"] ?? process.env["PATH"] ?? "",
    process.platform === "win32" ? (process.env["PATHEXT"] ?? ".EXE;.CMD") : undefined,
  );

export const notFound = (instance: InstanceConfig): string =>
  instance.command === undefined
    ? "codex is not on the path: install it (npm install -g @openai/codex), or set the instance's command to its full path"
    : `${instance.command} is no program: correct the instance's command`;

/** The instance's own home keeps its login, settings and conversations apart from others'. */
const environment = (instance: InstanceConfig): Record<string, EnvironmentValue> => ({
  RUST_LOG: "error",
  ...instance.env,
  ...(instance.home === undefined ? {} : { CODEX_HOME: instance.home }),
});

export const unavailable = (message: string, retryable = false): OpenError =>
  new OpenError({
    code: "runtime_unavailable",
    failure: { class: retryable ? "transport" : "validation", message, retryable },
  });

/** Spawns the program with the instance's environment. The tree ends with the scope. */
export const spawnCodex = Effect.fnUntraced(function* (options: {
  readonly instance: InstanceConfig;
  readonly path: string;
  readonly args: ReadonlyArray<string>;
  readonly cwd: string;
  readonly marker: string;
  readonly onSpawned?: (identity: ProcessIdentity) => Effect.Effect<void>;
}): Effect.fn.Return<AgentHandle, OpenError, Scope.Scope> {
  const { instance, path, args, cwd, marker, onSpawned } = options;
  const { home } = instance;
  if (home !== undefined) {
    yield* Effect.tryPromise({
      try: () => mkdir(home, { recursive: true, mode: 0o700 }),
      catch: (cause) =>
        unavailable(
          `the home folder ${home} can't be made (${cause instanceof Error ? cause.message : "unknown"}): choose another one`,
        ),
    });
  }
  return yield* spawnAgent({
    command: path,
    args: [...(instance.args ?? []), ...args],
    cwd,
    marker,
    env: environment(instance),
    // Without a home of its own, an instance is the person's: it uses the one that their terminal uses.
    ...(home === undefined ? { inherit: ["CODEX_HOME"] } : {}),
    ...(onSpawned === undefined
      ? {}
      : { onSpawned: ({ pid, startTime, bootId }) => onSpawned({ pid, startTime, bootId }) }),
  }).pipe(Effect.mapError((error) => unavailable(error.message, error.reason === "no_resources")));
});

/** Homes whose first start this host has seen, and those that are at it. */
const warm = new Set<string>();
const warming = new Map<string, Semaphore.Semaphore>();

/**
 * The first start of a home prepares its databases, and several at once have been seen to race for them: in this host
 * one goes first, the others wait for its greeting.
 */
export const oneAtFirst = <A, E, R>(instance: InstanceConfig, greet: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const home = instance.home ?? "";
    if (warm.has(home)) return greet;
    const turn = warming.get(home) ?? Semaphore.makeUnsafe(1);
    warming.set(home, turn);
    const first = Effect.tap(greet, () =>
      Effect.sync(() => {
        warm.add(home);
        warming.delete(home);
      }),
    );
    return turn.withPermit(Effect.suspend(() => (warm.has(home) ? greet : first)));
  });
