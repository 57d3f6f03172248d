/** The example page of `packages/client` in a real browser, against a real server that is restarted in the middle. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, assert, beforeAll, describe, onTestFinished, test } from "vitest";
import { findChromium, openPage } from "./chromium.ts";

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const chromium = findChromium();
if (chromium === undefined)
  console.warn(
    "Skipped: no Chromium. Install one (Debian: apt-get install chromium), or name it in TRIBUTARY_CHROMIUM.",
  );

const base = realpathSync(mkdtempSync(join(tmpdir(), "tributary-browser-")));
const [data, work, pictures] = [join(base, "data"), join(base, "work"), at(".cache/browser")];
const running = new Set<ChildProcess>();

/** Starts a program and gives its first line. */
const start = async (...args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  const ended = once(child, "close");
  const heard = once(createInterface({ input: child.stdout }), "line");
  const silent = ended.then((): never => {
    throw new Error(`${args.join(" ")} ended and said nothing`);
  });
  const [line] = (await Promise.race([heard, silent])) as [string];
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
    running.delete(child);
  };
  return { line, stop };
};

const serve = async (port: number) => {
  const args = ["serve", "--port", String(port), "--json", "--data", data];
  const { line, stop } = await start(at("apps/server/bin/tributary.mjs"), ...args);
  return { url: (JSON.parse(line) as { readonly url: string }).url, stop };
};

beforeAll(() => {
  mkdirSync(data, { mode: 0o700 });
  mkdirSync(work);
  mkdirSync(pictures, { recursive: true });
  if (chromium !== undefined) execFileSync(process.execPath, [at("packages/client/scripts/build.ts")]);
});
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(base, { recursive: true, force: true });
});

describe.skipIf(chromium === undefined)("a plain page with the client", () => {
  test("lists threads, streams a turn, answers what it is asked, and outlives its server", async () => {
    const example = await start(at("packages/client/example/serve.mjs"), "0");
    const config = { settings: { allowedOrigins: [new URL(example.line).origin] } };
    writeFileSync(join(data, "config.json"), JSON.stringify(config), { mode: 0o600 });
    let server = await serve(0);
    const { url } = server;
    const token = readFileSync(join(data, "token"), "utf8").trim();
    const call = async (path: string, body?: object) => {
      const response = await fetch(`${url}${path}`, {
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      });
      assert.isTrue(response.ok, path);
      // oxlint-disable-next-line typescript/no-explicit-any
      return (await response.json()) as any;
    };
    await call("/projects", { root: work });
    await call("/threads", { threadId: "T", cwd: work, instance: "demo", title: "A thread from elsewhere" });

    const page = await openPage(chromium ?? "", `${example.line}#server=${encodeURIComponent(url)}&token=${token}`);
    onTestFinished(page.close);
    const { until, evaluate, screenshot } = page;
    const say = (text: string) =>
      evaluate(`(() => { const field = document.getElementById("message"); field.value = ${JSON.stringify(text)};
        document.getElementById("composer").requestSubmit(); return true; })()`);
    const text = (selector: string) => `document.querySelector(${JSON.stringify(selector)})?.innerText`;

    await until(`${text("[data-thread-id=T]")}?.includes("A thread from elsewhere")`, "the list has the thread");
    await evaluate(`document.querySelector("[data-thread-id=T] button").click()`);
    await until(`document.querySelector("#thread[data-thread-id=T]")`);

    // While it streams, the server goes away and comes back under the same address.
    await say("first words");
    await until(`${text("[data-role=assistant]")}?.includes("Hello!")`, "text streams");
    assert.strictEqual(await evaluate("document.querySelector('[data-role=user]').innerText"), "first words");
    await screenshot(join(pictures, "1-streaming.png"));
    await server.stop();
    await until(`document.getElementById("connection").dataset.state !== "live"`, "it says that the server is gone");
    await screenshot(join(pictures, "2-server-gone.png"));
    server = await serve(Number(new URL(url).port));
    await until(`document.getElementById("connection").dataset.state === "live"`, "it is connected again");
    await until(`document.getElementById("thread").dataset.status === "idle"`, "the turn that was cut is over");

    await say("second words");
    await until(`document.querySelector("[data-kind=request][data-state=pending] [data-effect=allow]")`, "an approval");
    await screenshot(join(pictures, "3-approval.png"));
    await evaluate(`document.querySelector("[data-kind=request][data-state=pending] [data-effect=allow]").click()`);
    await until(`document.querySelector("[data-kind=request][data-state=pending] form")`, "a question");
    await evaluate(`document.querySelector("[data-state=pending] form input").click()`);
    await screenshot(join(pictures, "4-question.png"));
    await evaluate(`document.querySelector("[data-state=pending] form").requestSubmit()`);
    await until(`document.getElementById("thread").dataset.status === "idle"`, "the turn is done");
    await screenshot(join(pictures, "5-done.png"));

    // What the page shows is what the server says.
    const { rows, turns } = await call("/threads/T");
    const shown = await evaluate<ReadonlyArray<ReadonlyArray<string>>>(
      `[...document.querySelectorAll("#timeline > [data-row-id]")].map((row) => [row.dataset.kind, row.dataset.rowId])`,
    );
    assert.deepStrictEqual(
      shown,
      rows.map(({ kind, rowId }: { readonly kind: string; readonly rowId: string }) => [kind, rowId]),
    );
    const messages = await evaluate<ReadonlyArray<string>>(
      `[...document.querySelectorAll("#timeline > [data-kind=message]")].map((row) => row.textContent)`,
    );
    assert.deepStrictEqual(
      messages,
      rows.flatMap((row: { readonly kind: string; readonly text: string }) =>
        row.kind === "message" ? [row.text] : [],
      ),
    );
    assert.deepStrictEqual(
      turns.map(({ state }: { readonly state: string }) => state),
      ["interrupted", "completed"],
    );
    assert.deepStrictEqual(page.errors, []);
    assert.deepStrictEqual(
      page.requests.filter((asked) => asked.includes(token)),
      [],
      "the token is in no URL (the fragment is not sent)",
    );
    await server.stop();
    await example.stop();
  });
});
