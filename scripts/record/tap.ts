import { spawn, type ChildProcess } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import type { Line } from "./neutral.ts";

export type Message = { readonly [member: string]: unknown };

/** A runtime's process whose lines are recorded in both directions while a script talks to it. */
export class Tap {
  readonly lines: Array<Line> = [];
  readonly messages: Array<Message> = [];
  readonly #started = performance.now();
  readonly #waiting = new Set<() => void>();
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();

  /** Starts a process; another one after it goes on in the same recording. */
  spawn(command: string, args: ReadonlyArray<string>, cwd: string, env: Readonly<Record<string, string>>): void {
    this.#note("meta", { spawn: [command, ...args], cwd, env: Object.keys(env) });
    const child = spawn(command, args, {
      cwd,
      env: { PATH: process.env["PATH"] ?? "", ...env },
      stdio: "pipe",
      detached: process.platform !== "win32",
    });
    this.#child = child;
    child.stdin?.on("error", () => undefined);
    child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#note("stderr", text));
    const decoder = new StringDecoder("utf8");
    let rest = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      const parts = (rest + decoder.write(chunk)).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) this.#take(part);
    });
    this.#exited = new Promise((resolve) => {
      child.on("close", (exit, signal) => {
        this.#note("meta", { exit, signal });
        this.#wake();
        resolve();
      });
    });
  }

  send(message: Message): void {
    this.#note("out", message);
    this.#child?.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  /** The first message at or after `from` that fits, past or coming. */
  async next(what: string, fits: (message: Message) => boolean, from = 0): Promise<Message> {
    const deadline = AbortSignal.timeout(30_000);
    for (let at = from; ;) {
      for (; at < this.messages.length; at += 1) {
        const message = this.messages[at];
        if (message !== undefined && fits(message)) return message;
      }
      if (deadline.aborted) throw new Error(`${what} did not come`);
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
        deadline.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  /** Lets it see the end of its input, and waits for its exit. */
  async close(): Promise<void> {
    this.#child?.stdin?.end();
    await this.#exited;
    this.#endGroup();
  }

  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#exited;
    this.#endGroup();
  }

  /** What it started may outlive it. */
  #endGroup(): void {
    const pid = this.#child?.pid;
    if (pid === undefined || process.platform === "win32") return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // Nothing was left.
    }
  }

  #take(text: string): void {
    if (text.trim() === "") return;
    try {
      const message = JSON.parse(text) as Message;
      this.#note("in", message);
      this.messages.push(message);
    } catch {
      this.#note("in-raw", text);
    }
    this.#wake();
  }

  #note(dir: Line["dir"], msg: unknown): void {
    this.lines.push({ t: Math.round(performance.now() - this.#started), dir, msg });
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
