import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";

const launcher = fileURLToPath(new URL("../bin/tributary.mjs", import.meta.url));
const relaunchModule = new URL("../bin/relaunch.mjs", import.meta.url).href;

const folder = mkdtempSync(join(tmpdir(), "tributary-launcher-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A process as a person sees it from outside: its lines, and how it ended once all its output is read. */
const start = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      for (const check of waiting) check();
    });
  }
  const closed = once(child, "close").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
    output,
  }));
  const printed = (text: string) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (output.includes(text)) resolve();
      };
      waiting.add(check);
      check();
    });
  return { child, closed, printed };
};

/** Starts a launcher whose "other Node" is this one and whose program is `source`. */
const startRelaunching = (name: string, source: string, args: ReadonlyArray<string> = []) => {
  const program = join(folder, `${name}.program.mjs`);
  const parent = join(folder, `${name}.parent.mjs`);
  writeFileSync(
    program,
    `import { followLauncher } from ${JSON.stringify(relaunchModule)};\nfollowLauncher();\n${source}`,
  );
  writeFileSync(
    parent,
    `import { relaunch } from ${JSON.stringify(relaunchModule)};\n` +
      `relaunch(process.execPath, ${JSON.stringify(program)}, process.argv.slice(2));\n`,
  );
  return start([parent, ...args]);
};

/** A program that says which signals reach it and waits; SIGTERM ends it with code 5. */
const waitingProgram = `
  for (const name of ["SIGINT", "SIGHUP"]) process.on(name, () => console.log("got " + name));
  process.on("SIGTERM", () => { console.log("got SIGTERM"); process.exit(5); });
  setInterval(() => {}, 1 << 30);
  console.log("ready");
`;

describe("tributary on a Node that is new enough", () => {
  test("runs the command line in this process", async () => {
    const { code, output } = await start([launcher, "--help"]).closed;
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/usage/i) });
    expect(output).not.toContain("ExperimentalWarning");
  });
});

describe("tributary on a Node that is too old", () => {
  // Both processes claim to be old: the launcher starts the bundled Node once, and that one must not start another.
  const claim = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.1.0'})";

  test("starts the bundled Node, once, and says what to do when that is too old as well", async () => {
    const { code, output } = await start(["--import", claim, launcher, "--help"]).closed;
    expect(code).toBe(1);
    expect(output.match(/needs Node 24 or newer/g)).toHaveLength(1);
    expect(output).toContain("npm install");
  });
});

describe("the relaunched process", () => {
  test("gets the arguments, and its exit code is the launcher's", async () => {
    const source = "console.log(JSON.stringify(process.argv.slice(2))); process.exitCode = 7;";
    const { code, output } = await startRelaunching("code", source, ["run", "two words", "--json"]).closed;
    expect({ code, output }).toEqual({ code: 7, output: '["run","two words","--json"]\n' });
  });

  test("that dies of a signal makes the launcher die of the same", async () => {
    const { signal } = await startRelaunching("signal", 'process.kill(process.pid, "SIGKILL");').closed;
    expect(signal).toBe("SIGKILL");
  });

  test("gets SIGINT, SIGHUP and SIGTERM, each once", async () => {
    const { child, closed, printed } = startRelaunching("forward", waitingProgram);
    await printed("ready");
    child.kill("SIGINT");
    await printed("got SIGINT");
    child.kill("SIGHUP");
    await printed("got SIGHUP");
    child.kill("SIGTERM");
    const { code, output } = await closed;
    expect({ code, output }).toEqual({ code: 5, output: "ready\ngot SIGINT\ngot SIGHUP\ngot SIGTERM\n" });
  });

  test("is told to end when the launcher is killed outright", async () => {
    const { child, closed, printed } = startRelaunching("orphan", waitingProgram);
    await printed("ready");
    child.kill("SIGKILL");
    // Both hold the output pipe: it closes only when the relaunched process is gone, too.
    const { output } = await closed;
    expect(output).toBe("ready\ngot SIGTERM\n");
  });
});
