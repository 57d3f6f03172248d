import { defineConfig } from "vitest/config";
import { sharedTestOptions } from "../../vitest.shared.ts";

/** A real browser: `npm run test:browser`. Needs Chromium on the path, or named by `TRIBUTARY_CHROMIUM`. */
export default defineConfig({
  test: {
    ...sharedTestOptions,
    include: ["tests/browser/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
