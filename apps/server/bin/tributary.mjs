#!/usr/bin/env node
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { keepCompiled } from "./compile-cache.mjs";
import {
  bundledNode,
  followLauncher,
  isSupported,
  relaunch,
  relaunchedVariable,
  requiredMajor,
  silenceSqliteWarning,
} from "./relaunch.mjs";

/** What ships holds the bundle and no sources; in the repository the sources run as they are. */
const start = () =>
  existsSync(new URL("../src/main.ts", import.meta.url)) ? import("../src/main.ts") : import("../dist/main.mjs");

/** `tributary`: runs on any Node ≥ 20, with the Node that this package brings where the running one is too old. */
const main = async () => {
  const relaunched = process.env[relaunchedVariable] !== undefined;
  if (isSupported(process.versions.node)) {
    if (relaunched) followLauncher();
    silenceSqliteWarning();
    keepCompiled();
    await start();
    return;
  }
  const binary = relaunched ? undefined : bundledNode();
  if (binary === undefined) {
    process.stderr.write(
      `tributary: needs Node ${requiredMajor} or newer, this is ${process.version}. ` +
        "Install a newer Node, or run npm install again with install scripts allowed for the package `node`.\n",
    );
    process.exitCode = 1;
    return;
  }
  relaunch(binary, fileURLToPath(import.meta.url), process.argv.slice(2));
};

await main();
