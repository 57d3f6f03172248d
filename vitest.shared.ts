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
 * A process a file (`forks`): tests open SQLite files, spawn children and change the environment, which threads
 * would share. No CommonJS globals: modules see what Node gives them when it runs the TypeScript itself.
 */
export const sharedTestOptions: NonNullable<ViteUserConfig["test"]> = {
  environment: "node",
  pool: "forks",
  maxWorkers: 2,
  injectCjsGlobals: false,
  setupFiles: withoutJit ? [] : [fileURLToPath(new URL("test/setup/enable-jit.ts", import.meta.url))],
};
