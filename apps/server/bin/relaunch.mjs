// Plain JavaScript that Node 20 understands: this file runs before anything newer is known to be there.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The first major version that has `node:sqlite` and TypeScript type stripping, both without a flag. */
export const requiredMajor = 24;

/** Set for the process that was started in our place, so that a binary that is no better ends in an error, not a loop. */
export const relaunchedVariable = "TRIBUTARY_RELAUNCHED";

/** Whether this Node version (as in `process.versions.node`) can run Tributary's sources directly. */
export const isSupported = (version) => Number.parseInt(version, 10) >= requiredMajor;

/** The path of the Node binary that the `node` package brings, or undefined where it is not installed. */
export const bundledNode = () => {
  try {
    const manifest = createRequire(import.meta.url).resolve("node/package.json");
    const { bin } = JSON.parse(readFileSync(manifest, "utf8"));
    return join(dirname(manifest), typeof bin === "string" ? bin : bin.node);
  } catch {
    return undefined;
  }
};

/**
 * Runs `script` with another Node binary in this process's place: same arguments, same terminal, its signals
 * forwarded, and its exit code or signal becomes ours.
 *
 * An IPC channel ties the two together: if this process is killed outright, the other one sees the channel close
 * (`followLauncher`) and shuts down instead of living on unseen with the data folder locked.
 */
export const relaunch = (binary, script, args) => {
  const child = spawn(binary, [...process.execArgv, script, ...args], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [relaunchedVariable]: "1" },
  });

  // A terminal sends Ctrl-C to every process of the foreground group, the child included. Forwarding it as well
  // would count as a second Ctrl-C, which means "release now".
  const atTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const forward = (signal) => child.kill(signal);
  process.on("SIGINT", atTerminal ? () => {} : forward);
  process.on("SIGTERM", forward);
  process.on("SIGHUP", forward);

  child.on("error", (error) => {
    process.stderr.write(`tributary: could not start ${binary}: ${error.message}\n`);
    process.exit(126);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
};

/** In the relaunched process: ends it in an orderly way when the process that launched it is gone. */
export const followLauncher = () => {
  delete process.env[relaunchedVariable];
  if (process.channel === undefined) return;
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref();
};

/** Keeps Node's note that SQLite is experimental off stderr; every other warning passes. */
export const silenceSqliteWarning = () => {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).startsWith("SQLite is an experimental feature")) emitWarning.call(process, warning, ...rest);
  };
};
