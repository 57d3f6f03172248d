/** What a script does outside of itself: commands that are really run, and gates that a test holds. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createConnection } from "node:net";
import { PassThrough } from "node:stream";
import { Effect, Stream } from "effect";
import { TurnEnd } from "./turn.ts";

/** How a command ended and what it said. */
export interface Ran {
  readonly exitCode: number;
  readonly output: string;
}

/**
 * Runs a shell command in a session of its own, as agents' shells do, and tells its output as it comes. Interrupted, it
 * kills the command and what that started.
 */
export const runCommand = (
  command: string,
  cwd: string,
  say: (piece: string) => Effect.Effect<void>,
): Effect.Effect<Ran> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const child = spawn("/bin/sh", ["-c", `${command}\n`], {
        cwd,
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
      });
      // 127 is what a shell says of a command that it can't start.
      const exit = once(child, "exit").then(
        ([code]) => (typeof code === "number" ? code : 128),
        () => 127,
      );
      // Node throws away what a child said when it exits before anybody reads: somebody reads from the first moment.
      const said = [child.stdout.pipe(new PassThrough()), child.stderr.pipe(new PassThrough())] as const;
      return { child, exit, said };
    }),
    Effect.fnUntraced(function* ({ exit, said: [stdout, stderr] }) {
      const pieces: Array<string> = [];
      const read = (stream: AsyncIterable<Uint8Array>) => Stream.decodeText(Stream.fromAsyncIterable(stream, String));
      yield* Stream.runForEach(Stream.merge(read(stdout), read(stderr)), (piece) => {
        pieces.push(piece);
        return say(piece);
      }).pipe(Effect.ignore);
      return { exitCode: yield* Effect.promise(() => exit), output: pieces.join("") };
    }),
    ({ child }) =>
      Effect.sync(() => {
        if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
        process.kill(-child.pid, "SIGKILL");
      }),
  );

/** Waits until the other end of a Unix socket closes. Nobody there: the turn fails, saying so. */
export const waitAtGate = (path: string): Effect.Effect<void, TurnEnd> =>
  Effect.callback((resume) => {
    const socket = createConnection(path);
    socket.once("end", () => resume(Effect.void));
    socket.once("error", (error) => {
      const message = `Nobody holds the gate ${path}: ${error.message}`;
      const failure = { class: "validation", message, retryable: false } as const;
      resume(Effect.fail(new TurnEnd({ payload: { outcome: "failed", error: failure } })));
    });
    // What nobody reads does not end.
    socket.resume();
    return Effect.sync(() => socket.destroy());
  });
