import { defineConfig } from "vitest/config";
import { sharedTestOptions } from "./vitest.shared.ts";

/** The fast suite: `npm test`. Fault tests and the real runtimes run apart, see the README. */
export default defineConfig({
  test: {
    ...sharedTestOptions,
    globalSetup: ["test/setup/bundle.ts"],
    include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/*.fault.test.ts", "tests/runtimes/**"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
