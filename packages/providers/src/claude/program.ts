/** The program of Claude Code: which one, with which environment and arguments. */
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { type InstanceConfig, OpenError, type ProcessIdentity } from "@tributary/contracts";
import { Effect, type Scope } from "effect";
import { locate, type Located } from "../locate.ts";
import { type AgentHandle, type EnvironmentValue, spawnAgent } from "../process/index.ts";

const exe = process.platform === "win32" ? ".exe" : "";

/** Where the vendor's installers put it; the path of an app that was not started from a terminal may lack them. */
const usualPlaces = (): ReadonlyArray<string> => [
  join(homedir(), ".local", "bin", `claude${exe}`),
  join(homedir(), ".claude", "local", `claude${exe}`),
];

const ancestors = (folder: string): ReadonlyArray<string> => {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
};

/** The one that comes with the vendor's SDK, where that is installed beside us. */
const bundled = (): ReadonlyArray<string> => {
  const name = `claude-agent-sdk-${process.platform}-${process.arch}`;
  return ancestors(import.meta.dirname).flatMap((folder) =>
    [name, `${name}-musl`].map((each) => join(folder, "node_modules", "@anthropic-ai", each, `claude${exe}`)),
  );
};

/** The instance's program: configured, else on the path, else where it usually is. Looks at the file system. */
export const locateClaude = (instance: InstanceConfig): Located => {
  const searchPath = instance.env?.["PATH"] ?? process.env["PATH"] ?? "";
  const extensions = process.platform === "win32" ? (process.env["PATHEXT"] ?? ".EXE;.CMD") : undefined;
  const found = locate(instance.command ?? "claude", searchPath, extensions);
  if (found.path !== undefined || instance.command !== undefined) return found;
  for (const place of [...usualPlaces(), ...bundled()]) {
    const { path } = locate(place, "");
    if (path !== undefined) return { path, shadowed: [] };
  }
  return found;
};

export const notFound = (instance: InstanceConfig): string =>
  instance.command === undefined
    ? "claude is not on the path: install Claude Code, or set the instance's command to its full path"
    : `${instance.command} is no program: correct the instance's command`;

export const unavailable = (message: string, retryable = false): OpenError =>
  new OpenError({
    code: "runtime_unavailable",
    failure: { class: retryable ? "transport" : "validation", message, retryable },
  });

/** The instance's own home keeps its login, settings and conversations apart from others'. */
const environment = ({ env, home }: InstanceConfig): Record<string, EnvironmentValue> => ({
  // The program must not be exchanged under a session that runs.
  DISABLE_AUTOUPDATER: "1",
  // Also failures that otherwise end with words on stderr alone are told as a result (vendor schema).
  CLAUDE_CODE_STARTUP_FAILURE_RESULTS: "1",
  ...env,
  ...(home === undefined ? {} : { CLAUDE_CONFIG_DIR: home }),
});

/** Where the instance keeps its conversations. */
export const configFolder = ({ home, env }: InstanceConfig): string =>
  home ?? env?.["CLAUDE_CONFIG_DIR"] ?? process.env["CLAUDE_CONFIG_DIR"] ?? join(env?.["HOME"] ?? homedir(), ".claude");

/** Stream-json both ways. Without `--verbose` the program refuses; the rest says what is told. */
export const wireArguments: ReadonlyArray<string> = [
  "-p",
  "--input-format",
  "stream-json",
  "--output-format",
  "stream-json",
  "--verbose",
];

/** Spawns the program with the instance's environment. The tree ends with the scope. */
export const spawnClaude = Effect.fnUntraced(function* (options: {
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
    ...(home === undefined ? { inherit: ["CLAUDE_CONFIG_DIR"] } : {}),
    ...(onSpawned === undefined
      ? {}
      : { onSpawned: ({ pid, startTime, bootId }) => onSpawned({ pid, startTime, bootId }) }),
  }).pipe(Effect.mapError((error) => unavailable(error.message, error.reason === "no_resources")));
});
