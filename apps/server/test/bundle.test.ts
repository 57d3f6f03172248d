/** What ships: the launcher and the bundle in a folder of their own, far from any sources and packages. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, assert, beforeAll, describe, test } from "vitest";
import { asking } from "./support/agents.ts";

const server = fileURLToPath(new URL("..", import.meta.url));
const base = realpathSync(mkdtempSync(join(tmpdir(), "tributary-bundle-")));
const program = join(base, "package", "bin", "tributary.mjs");
const work = join(base, "work");
const data = join(base, "data");

const run = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [program, ...args], {
    cwd: work,
    encoding: "utf8",
    env: { ...process.env, TRIBUTARY_DATA: data, XDG_CACHE_HOME: join(base, "cache"), NO_COLOR: "1" },
  });

beforeAll(() => {
  execFileSync(process.execPath, [join(server, "build.mjs"), join(base, "package", "dist")]);
  cpSync(join(server, "bin"), join(base, "package", "bin"), { recursive: true });
  mkdirSync(work);
  mkdirSync(data, { mode: 0o700 });
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("the bundle", () => {
  test("runs a turn of an agent in a process of its own, without sources or packages", () => {
    const instance = { id: "child", runtime: "scripted", options: { process: true, script: asking } };
    writeFileSync(join(data, "config.json"), JSON.stringify({ instances: [instance] }), { mode: 0o600 });
    // Asks for an approval, which is given, and a question, which nobody is there to answer.
    const ran = run("run", "child", "hello", "--approve", "all", "--json");
    assert.include(ran.stdout, "You said hello.", ran.stderr);
    assert.include(ran.stdout, '"exitCode":0');
  });

  test("says its version, and what it is asked for", () => {
    const said = run("--version");
    assert.match(said.stdout, /^tributary v\d/, said.stderr);
    assert.strictEqual(run("doctor").status, 0);
  });
});
