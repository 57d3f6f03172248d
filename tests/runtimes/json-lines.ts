import { spawn, type ChildProcess } from "node:child_process";

export type Message = { readonly [key: string]: unknown };

/** A child process that speaks one JSON object a line on stdin and stdout. */
export class JsonLines {
  readonly messages: Array<Message> = [];
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #waiting = new Set<() => void>();
  #stderr = "";
  #rest = "";

  constructor(path: string, args: ReadonlyArray<string>, cwd: string, env: Readonly<Record<string, string>>) {
    this.#child = spawn(path, args, {
      cwd,
      env: { PATH: process.env["PATH"] ?? "", ...env },
      stdio: "pipe",
      detached: process.platform !== "win32",
    });
    this.#exited = new Promise((resolve) => {
      this.#child.on("exit", () => resolve());
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-4000);
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#read(text));
    this.#child.stdin?.on("error", () => undefined);
    void this.#exited.then(() => this.#wake());
  }

  send(message: Message): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  /** The first message at or after `from` that fits, past or coming. Fails when the process ends before. */
  async next(what: string, fits: (message: Message) => boolean, from = 0): Promise<Message> {
    for (let at = from; ;) {
      for (; at < this.messages.length; at += 1) {
        const message = this.messages[at];
        if (message !== undefined && fits(message)) return message;
      }
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        throw new Error(`The process ended before ${what}. stderr: ${this.#stderr}`);
      }
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  /** Ends the process and everything in its group. */
  async end(): Promise<void> {
    const { pid } = this.#child;
    if (pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null) {
      if (process.platform === "win32") this.#child.kill("SIGKILL");
      else process.kill(-pid, "SIGKILL");
    }
    await this.#exited;
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("{")) this.messages.push(JSON.parse(line) as Message);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
