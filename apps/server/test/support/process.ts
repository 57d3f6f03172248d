/** `tributary` as a person runs it: a process, its lines, how it ended. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Effect } from "effect";

/** As it ships (`test/setup/bundle.ts`); without that, from the sources. */
const shipped = process.env["TRIBUTARY_TEST_PACKAGE"];
export const launcher =
  shipped === undefined
    ? fileURLToPath(new URL("../../bin/tributary.mjs", import.meta.url))
    : join(shipped, "bin", "tributary.mjs");

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly stdin: (text: string) => void;
  readonly ended: Promise<Ended>;
  /** Resolves with stdout so far once it holds the text; fails when the process ends before. */
  readonly printed: (text: string, where?: "stdout" | "stderr") => Promise<string>;
}

export interface ProcessOptions {
  readonly cwd: string;
  readonly data: string;
}

/** Starts it; killed outright with the scope if it still runs. */
export const tributary = (args: ReadonlyArray<string>, { cwd, data }: ProcessOptions) =>
  Effect.acquireRelease(
    Effect.sync((): Running => {
      const child = spawn(process.execPath, [launcher, ...args], {
        cwd,
        stdio: ["pipe", "pipe", "pipe"],
        env: { ...process.env, TRIBUTARY_DATA: data, NO_COLOR: "1" },
      });
      const written = { stdout: "", stderr: "" };
      const waiting = new Set<() => void>();
      for (const where of ["stdout", "stderr"] as const)
        child[where].setEncoding("utf8").on("data", (text: string) => {
          written[where] += text;
          for (const check of waiting) check();
        });
      const ended = once(child, "close").then(([code, signal]) => ({
        code: code as number | null,
        signal: signal as string | null,
        ...written,
      }));
      const printed = (text: string, where: "stdout" | "stderr" = "stdout") =>
        new Promise<string>((resolve, reject) => {
          const check = () => {
            if (written[where].includes(text)) resolve(written[where]);
          };
          waiting.add(check);
          check();
          void ended.then((end) => reject(new Error(`it ended without “${text}”: ${JSON.stringify(end)}`)));
        });
      return {
        pid: child.pid ?? 0,
        kill: (signal) => void child.kill(signal),
        stdin: (text) => void child.stdin.write(text),
        ended,
        printed,
      };
    }),
    (running) =>
      Effect.promise(async () => {
        running.kill("SIGKILL");
        await running.ended;
      }),
  );

/** Runs it to its end, with nobody at a terminal. */
export const runToEnd = (args: ReadonlyArray<string>, options: ProcessOptions) =>
  Effect.flatMap(tributary(args, options), (running) => Effect.promise(() => running.ended));

/** `tributary serve` on a free port, ready. */
export const serveProcess = Effect.fnUntraced(function* (options: ProcessOptions) {
  const running = yield* tributary(["serve", "--port", "0", "--json"], options);
  const line = (yield* Effect.promise(() => running.printed("\n"))).split("\n")[0] ?? "";
  const { url } = JSON.parse(line) as { readonly url: string };
  return { ...running, url };
});
