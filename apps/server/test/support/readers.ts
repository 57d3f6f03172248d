/** Subscribers in a process of their own (`readers.mjs`). */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("./readers.mjs", import.meta.url));

export interface ReadersOptions {
  readonly url: string;
  /** With its query. */
  readonly path: string;
  readonly token: string;
  readonly clients: number;
  /** More that open a stream and read nothing of it. */
  readonly stalled?: number;
  /** Text of the last frame. */
  readonly mark: string;
}

export interface Readers {
  /** Resolves when it was said: `synced`, `marked` (by all that read), `resumed` (the stalled ones have the mark). */
  readonly said: (what: "synced" | "marked" | "resumed") => Promise<{ readonly bytes: number }>;
  /** Lets the stalled ones read. */
  readonly resume: () => void;
  readonly close: () => Promise<void>;
}

export const startReaders = (options: ReadersOptions): Readers => {
  const { url, ...rest } = options;
  const child = spawn(process.execPath, [program, JSON.stringify({ ...rest, port: Number(new URL(url).port) })], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const heard = new Map<string, (line: { readonly bytes: number }) => void>();
  const said = new Map(
    ["synced", "marked", "resumed"].map((what) => [
      what,
      new Promise<{ readonly bytes: number }>((resolve, reject) => {
        heard.set(what, resolve);
        heard.set("lost", () => reject(new Error("the server closed a stream")));
        void ended.then(() => reject(new Error(`the readers ended before “${what}”`)));
      }),
    ]),
  );
  // Whoever waits for one of them hears of the failure.
  for (const promise of said.values()) promise.catch(() => undefined);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { what, ...more } = JSON.parse(line) as { readonly what: string; readonly bytes: number };
    heard.get(what)?.(more);
  });
  return {
    said: (what) => said.get(what) ?? Promise.reject(new Error(`nobody says “${what}”`)),
    resume: () => void child.stdin.write("resume\n"),
    close: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
};
