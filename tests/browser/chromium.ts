/** A headless Chromium over its DevTools protocol: a page, scripts in it, pictures of it. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The program, from `TRIBUTARY_CHROMIUM` or the path; undefined: there is none. */
export const findChromium = (): string | undefined => {
  const named = process.env["TRIBUTARY_CHROMIUM"];
  if (named !== undefined) return existsSync(named) ? named : undefined;
  for (const name of names) {
    try {
      return execFileSync("/bin/sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    } catch {
      // The next one.
    }
  }
  return undefined;
};

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly result?: any;
  readonly error?: { readonly message: string };
}

type Send = (method: string, params?: object) => Promise<NonNullable<Message["result"]>>;

const connect = async (url: string, heard: (message: Message) => void) => {
  const socket = new WebSocket(url);
  await once(socket, "open");
  const waiting = new Map<number, (message: Message) => void>();
  let last = 0;
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id === undefined) heard(message);
    else waiting.get(message.id)?.(message);
  });
  const send = async (method: string, params: object, sessionId?: string) => {
    last += 1;
    const id = last;
    const answered = new Promise<Message>((resolve) => {
      waiting.set(id, resolve);
    });
    socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    const { result, error } = await answered;
    waiting.delete(id);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  return { send, close: () => socket.close() };
};

/** Where it listens is the first line that says so on stderr. */
const listening = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = "";
    child.stderr?.setEncoding("utf8").on("data", (more: string) => {
      text += more;
      const found = /DevTools listening on (ws:\S+)/.exec(text);
      if (found?.[1] !== undefined) resolve(found[1]);
    });
    child.once("exit", (code) => reject(new Error(`Chromium ended with ${String(code)}: ${text.slice(-2_000)}`)));
  });

export interface Page {
  /** Runs an expression, awaits what it gives, and returns that as JSON. */
  readonly evaluate: <A>(expression: string) => Promise<A>;
  /** Resolves with the value once it is truthy; looks whenever the page paints. */
  readonly until: <A>(expression: string, what?: string) => Promise<A>;
  readonly screenshot: (file: string) => Promise<void>;
  /** What the page asked for, in order. */
  readonly requests: ReadonlyArray<string>;
  /** What it complained of on its console. */
  readonly errors: ReadonlyArray<string>;
}

/** Milliseconds until `until` gives up. */
const patience = 30_000;

/** Opens a page in a browser of its own. */
export const openPage = async (
  program: string,
  url: string,
): Promise<Page & { readonly close: () => Promise<void> }> => {
  const profile = mkdtempSync(join(tmpdir(), "tributary-chromium-"));
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const child = spawn(
    program,
    [
      "--headless=new",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      "--window-size=1100,900",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      ...sandbox,
      "about:blank",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = once(child, "close");
  const requests: Array<string> = [];
  const errors: Array<string> = [];
  const browser = await connect(await listening(child), ({ method, params }) => {
    if (method === "Network.requestWillBeSent")
      requests.push((params?.["request"] as { url: string } | undefined)?.url ?? "");
    if (method === "Runtime.exceptionThrown") errors.push(JSON.stringify(params));
  });
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  const send: Send = (method, params = {}) => browser.send(method, params, sessionId);
  for (const domain of ["Page", "Runtime", "Network"]) await send(`${domain}.enable`);
  await send("Page.navigate", { url });

  const evaluate = async <A>(expression: string): Promise<A> => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return result.value as A;
  };
  const until = async <A>(expression: string, what = expression): Promise<A> => {
    const value = await evaluate<A | null>(`new Promise((resolve) => {
      const end = Date.now() + ${patience};
      const look = () => {
        const value = (() => { try { return ${expression}; } catch { return undefined; } })();
        if (value) resolve(value);
        else if (Date.now() > end) resolve(null);
        else setTimeout(look, 20);
      };
      look();
    })`);
    if (value === null)
      throw new Error(`The page never came to: ${what}\n${await evaluate<string>("document.body.innerText")}`);
    return value;
  };
  const screenshot = async (file: string): Promise<void> => {
    const { data } = await send("Page.captureScreenshot", { format: "png" });
    writeFileSync(file, Buffer.from(data, "base64"));
  };
  const close = async (): Promise<void> => {
    await browser.send("Browser.close", {}).catch(() => undefined);
    browser.close();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return { evaluate, until, screenshot, requests, errors, close };
};
