import { defineConfig } from "vitest/config";
import { sharedTestOptions } from "./vitest.shared.ts";

/** Slow tests that kill processes and fill disks: `npm run test:fault`. One file at a time, they own the machine. */
export default defineConfig({
  test: {
    ...sharedTestOptions,
    include: ["packages/*/test/**/*.fault.test.ts", "apps/*/test/**/*.fault.test.ts", "test/**/*.fault.test.ts"],
    exclude: ["**/node_modules/**"],
    fileParallelism: false,
    passWithNoTests: true,
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
