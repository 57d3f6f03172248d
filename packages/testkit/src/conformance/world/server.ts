/** The server under test: a process of its own, or a layer that the caller passes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Context, Effect, type Layer, ManagedRuntime, Schema } from "effect";

export interface RunningServer {
  readonly url: string;
  readonly token: string;
  /** Ends it in good order. */
  readonly stop: () => Promise<void>;
  /** Its process, where it has one of its own. */
  readonly process?: {
    readonly pid: number;
    /** KILL; resolves when it is gone. */
    readonly kill: () => Promise<void>;
  };
  /** What it wrote to stdout and stderr. */
  readonly log: () => string;
}

/** Starts a server over a data folder; may be called again for the same folder when the last one is gone. */
export type StartServer = (dir: string) => Promise<RunningServer>;

const Ready = Schema.fromJsonString(Schema.Struct({ url: Schema.String, tokenFile: Schema.String }));
const decodeReady = Schema.decodeUnknownSync(Ready);

export interface ServerProgram {
  /** The path of `tributary.mjs`. */
  readonly bin: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** `tributary serve` as a child process. It is ready when it says where it listens. */
export const serverProcess =
  ({ bin, env = {} }: ServerProgram): StartServer =>
  async (dir) => {
    const child = spawn(process.execPath, [bin, "serve", "--data", dir, "--port", "0", "--json"], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = once(child, "exit");
    let log = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (log += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
    const ready = new Promise<typeof Ready.Type>((resolve, reject) => {
      child.stdout.on("data", () => {
        const line = log.split("\n").find((one) => one.startsWith("{"));
        if (line !== undefined && log.includes(`${line}\n`)) resolve(decodeReady(line));
      });
      void exited.then(([code]) =>
        reject(new Error(`The server ended with ${String(code)} before it was ready:\n${log}`)),
      );
    });
    const { url, tokenFile } = await ready;
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await exited;
    };
    return {
      url,
      token: readFileSync(tokenFile, "utf8").trim(),
      stop: () => end("SIGTERM"),
      process: { pid: child.pid ?? -1, kill: () => end("SIGKILL") },
      log: () => log,
    };
  };

/** Where a server that was built as a layer listens. */
export class ServerAddress extends Context.Service<ServerAddress, { readonly url: string; readonly token: string }>()(
  "tributary/testkit/ServerAddress",
) {}

/** A server inside this process. What needs a process to kill is not asked of it. */
export const serverLayer =
  <E>(layer: (dir: string) => Layer.Layer<ServerAddress, E>): StartServer =>
  async (dir) => {
    const runtime = ManagedRuntime.make(layer(dir));
    const { url, token } = await runtime.runPromise(Effect.service(ServerAddress));
    return { url, token, stop: () => runtime.dispose(), log: () => "" };
  };
