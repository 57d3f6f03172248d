import { fileURLToPath } from "node:url";
import type { ViteUserConfig } from "vitest/config";

/**
 * The suite runs as the processes do, with effect's compiled schema codecs. `TRIBUTARY_NO_JIT=1` leaves them
 * out, as happens where `new Function` is blocked: both ways must pass.
 */
const withoutJit = process.env["TRIBUTARY_NO_JIT"] === "1";

/**
 * Options of every vitest configuration here.
 *
 * Two processes (`forks`) that take one file after the other: tests open SQLite files and spawn children, which threads
 * would share. Modules are loaded once in each, which saves a quarter of the time: a test leaves nothing behind in them,
 * in the environment or in globals. No CommonJS globals: modules see what Node gives them when it runs the TypeScript itself.
 */
export const sharedTestOptions: NonNullable<ViteUserConfig["test"]> = {
  environment: "node",
  pool: "forks",
  maxWorkers: 2,
  isolate: false,
  injectCjsGlobals: false,
  setupFiles: withoutJit ? [] : [fileURLToPath(new URL("test/setup/enable-jit.ts", import.meta.url))],
};
