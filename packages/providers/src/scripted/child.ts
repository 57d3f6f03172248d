/** Entry of the child process: the scripted runtime between stdin and stdout. */
import { Effect, Stream } from "effect";
import { isOversize } from "../process/lines.ts";
import { linesOf } from "../process/readable-lines.ts";
import { parseToRuntime } from "./protocol.ts";
import type { FromRuntime, RuntimeExit, ToRuntime } from "./protocol.ts";
import { makeRuntime } from "./runtime.ts";
import type { Controls } from "./script.ts";

const write = (text: string): Effect.Effect<void> =>
  Effect.callback((resume) => {
    // The callback comes when the pipe has taken it: a host that does not read makes the runtime wait.
    process.stdout.write(text, () => resume(Effect.void));
  });

const send = (frame: FromRuntime): Effect.Effect<void> =>
  write(`${"noise" in frame ? frame.noise : JSON.stringify(frame)}\n`);

const exit = ({ code, signal, stderr }: RuntimeExit): Effect.Effect<void> =>
  Effect.callback(() => {
    const go = (): void => {
      if (signal === undefined) process.exit(code ?? 0);
      process.kill(process.pid, signal);
    };
    if (stderr === undefined) go();
    else process.stderr.write(stderr, go);
  });

/** What the script says of how this process takes its end. */
let controls: Controls = {};

const obey = (message: ToRuntime): void => {
  if (message.method !== "open") return;
  controls = message.params.script.on ?? {};
  if (controls.terminate === "hang") process.on("SIGTERM", () => {});
};

const main = Effect.gen(function* () {
  // Writing to a host that is gone fails; whether that is the end is the script's to say.
  process.stdout.on("error", () => {});
  const runtime = yield* makeRuntime({ send, exit });
  yield* Stream.runForEach(linesOf(process.stdin), (line) => {
    if (isOversize(line)) return Effect.void;
    const message = parseToRuntime(line);
    obey(message);
    return runtime.take(message);
  });
  if (controls.eof === "hang") return yield* Effect.never;
  process.exit(0);
});

// A fiber that waits does not keep a process alive.
setInterval(() => {}, 60_000);
Effect.runFork(Effect.scoped(main));
