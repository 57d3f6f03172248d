// npm run test:runtimes -- [names…] [--fast] [vitest options…]
//
// Installs the pinned runtimes when they are missing, then drives them. `codex`, `claude`, …: only the files of that
// name. `--fast`: the part that belongs into every CI run (TRIBUTARY_FAST=1 tells the tests).

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { installRuntimes } from "./install.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const given = process.argv.slice(2);
const fast = given.includes("--fast");
const rest = given.filter((argument) => argument !== "--fast");

const { codex, claude } = await installRuntimes();
console.log(`codex ${codex.version}, claude ${claude.version}${fast ? " (fast part)" : ""}`);

const vitest = fileURLToPath(new URL("vitest.mjs", import.meta.resolve("vitest/package.json")));
const child = spawn(process.execPath, [vitest, "run", "--config", "tests/runtimes/vitest.config.ts", ...rest], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, ...(fast ? { TRIBUTARY_FAST: "1" } : {}) },
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => process.exit(code ?? 1));
