/** The scripted runtime as a real child process, NDJSON over its pipes. */
import { fileURLToPath } from "node:url";
import type { OpenOptions } from "@tributary/contracts";
import { RuntimeCallError } from "@tributary/contracts";
import { Deferred, Effect, type Scope, Stream } from "effect";
import { isOversize, spawnAgent } from "../process/index.ts";
import type { SpawnError } from "../process/index.ts";
import { exitedError } from "./link.ts";
import type { Link, LinkExit } from "./link.ts";
import { parseFromRuntime } from "./protocol.ts";
import type { ReadFrame } from "./protocol.ts";

/** Its program stands beside this file in the sources, and beside the bundle in what ships. */
const childMain = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./child.ts" : "./scripted-child.mjs", import.meta.url),
);

/** Spawns one. The whole tree ends with the current scope. `options.instance` may name another program and arguments. */
export const linkChild = Effect.fnUntraced(function* (
  options: OpenOptions,
  incoming: (frame: ReadFrame) => Effect.Effect<void>,
): Effect.fn.Return<Link, SpawnError, Scope.Scope> {
  const { instance, cwd, marker } = options;
  const scope = yield* Effect.scope;
  const child = yield* spawnAgent({
    command: instance.command ?? process.execPath,
    args: instance.args ?? (instance.command === undefined ? [childMain] : []),
    cwd,
    marker,
    ...(instance.env === undefined ? {} : { env: instance.env }),
    onSpawned: ({ pid, startTime, bootId }) => options.onSpawned({ pid, startTime, bootId }),
  });
  const exit = Deferred.makeUnsafe<LinkExit>();
  const read = Stream.runForEach(child.lines, (line) =>
    incoming(isOversize(line) ? { noise: line.head } : parseFromRuntime(line)),
  );
  // In this order, so that the news of the exit follows the last words.
  const live = read.pipe(
    Effect.andThen(child.exit),
    Effect.flatMap(({ exitCode, signal, stderrTail }) =>
      Deferred.succeed(exit, {
        ...(exitCode === undefined ? {} : { code: exitCode }),
        ...(signal === undefined ? {} : { signal }),
        ...(stderrTail === "" ? {} : { stderrTail }),
      }),
    ),
  );
  yield* Effect.forkIn(live, scope);
  return {
    write: (message) =>
      Effect.mapError(child.write(JSON.stringify(message)), (closed) =>
        closed.wrote === "nothing"
          ? exitedError(message.method)
          : new RuntimeCallError({
              reason: "unconfirmed",
              failure: { class: "transport", message: closed.message, retryable: false },
            }),
      ),
    exit: Deferred.await(exit),
    signal: (signal) =>
      signal === "kill"
        ? Effect.asVoid(child.end({ grace: 0 }))
        : // TERM to all, and no KILL of its own: that is the caller's next step.
          Effect.asVoid(Effect.forkIn(child.end({ grace: "1 hour" }), scope)),
  };
});
