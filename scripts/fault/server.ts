import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const launcher = fileURLToPath(new URL("../../apps/server/bin/tributary.mjs", import.meta.url));

export interface CallOptions {
  readonly method?: string;
  readonly body?: unknown;
  /** The `Idempotency-Key`: the commandId. */
  readonly key?: string;
}

export interface Answered {
  /** 0: the connection broke, so whether it was done is unknown. */
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export type Call = (path: string, options?: CallOptions) => Promise<Answered>;

/** `tributary serve` as a process over a data folder. */
export interface Server {
  readonly pid: number;
  readonly readyMs: number;
  readonly call: Call;
  /** `kill -9`; resolves when the process is gone. */
  readonly kill: () => Promise<void>;
  /** In good order. Its exit code. */
  readonly stop: () => Promise<number | null>;
  /** What it said on stderr. */
  readonly complaints: () => string;
}

/** Whatever way this script ends, its servers end with it. */
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly firstLine: Promise<string | undefined>;
  readonly complaints: () => string;
}

type Environment = Readonly<Record<string, string>>;

const start = (args: ReadonlyArray<string>, cwd: string, env: Environment = {}): Started => {
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  running.add(child);
  let stderr = "";
  let stdout = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = `${stderr}${text}`.slice(-20_000);
  });
  const ended = once(child, "close").then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  const firstLine = new Promise<string | undefined>((resolve) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      const [line, rest] = stdout.split("\n");
      if (rest !== undefined) resolve(line);
    });
    void ended.then(() => resolve(undefined));
  });
  return { child, ended, firstLine, complaints: () => stderr };
};

const serveArgs = (data: string): ReadonlyArray<string> => ["serve", "--port", "0", "--json", "--data", data];

/** Starts one and waits until it is ready. Throws with what it said when it ends instead. */
export const startServer = async (data: string, cwd: string, env: Environment = {}): Promise<Server> => {
  const begun = performance.now();
  const { child, ended, firstLine, complaints } = start(serveArgs(data), cwd, env);
  const line = await firstLine;
  if (line === undefined) throw new Error(`The server did not start (${String(await ended)}): ${complaints()}`);
  const { url } = JSON.parse(line) as { readonly url: string };
  return {
    pid: child.pid ?? 0,
    readyMs: performance.now() - begun,
    call: caller(url, readFileSync(join(data, "token"), "utf8").trim(), () =>
      running.has(child) && child.exitCode === null && child.signalCode === null ? undefined : complaints(),
    ),
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
    complaints,
  };
};

/** Starts one that is killed after so many milliseconds, ready or not. */
export const startAndKill = async (data: string, cwd: string, milliseconds: number): Promise<void> => {
  const { child, ended } = start(serveArgs(data), cwd);
  await pause(milliseconds);
  child.kill("SIGKILL");
  await ended;
};

/** Runs a command of `tributary` to its end. */
export const runToEnd = async (
  args: ReadonlyArray<string>,
  cwd: string,
): Promise<{ readonly code: number | null; readonly stderr: string }> => {
  const { ended, complaints } = start(args, cwd);
  return { code: await ended, stderr: complaints() };
};

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** How often a question is put again whose connection broke while the server lives: an idle one may close just then. */
const mostAttempts = 3;

/** `last`: what the server said last, once it is gone. */
const caller = (url: string, token: string, last: () => string | undefined): Call => {
  const call = async (path: string, { method, body, key }: CallOptions = {}, attempt = 1): Promise<Answered> => {
    try {
      const response = await fetch(`${url}${path}`, {
        method: method ?? (body === undefined ? "GET" : "POST"),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(key === undefined ? {} : { "idempotency-key": key }),
        },
      });
      return { status: response.status, body: parsed(await response.text()) };
    } catch (cause) {
      const why = cause instanceof Error ? `${cause.message} (${String(cause.cause)})` : String(cause);
      const said = last();
      // Only what changes nothing is asked again.
      if (said === undefined && body === undefined && method === undefined && attempt < mostAttempts) {
        await pause(100);
        return call(path, {}, attempt + 1);
      }
      return { status: 0, body: said === undefined ? why : `${why}; the server is gone: ${said.slice(-2_000)}` };
    }
  };
  return call;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** A read that must succeed. */
export const get = async (call: Call, path: string): Promise<Answered["body"]> => {
  const { status, body } = await call(path);
  if (status !== 200) throw new Error(`GET ${path} answers ${status}: ${JSON.stringify(body)}`);
  return body;
};

/** A write that must succeed. */
export const post = async (call: Call, path: string, body: unknown, key?: string): Promise<Answered["body"]> => {
  const answered = await call(path, { body, ...(key === undefined ? {} : { key }) });
  if (answered.status !== 200)
    throw new Error(`POST ${path} answers ${answered.status}: ${JSON.stringify(answered.body)}`);
  return answered.body;
};
