import { defineConfig } from "vitest/config";
import { sharedTestOptions } from "../../vitest.shared.ts";

/**
 * The real runtimes against the mock model: `vitest run --config tests/runtimes/vitest.config.ts`. The first run
 * installs them (install.mjs, about 20 s), hence the long hook timeout.
 */
export default defineConfig({
  test: {
    ...sharedTestOptions,
    include: ["tests/runtimes/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 300_000,
  },
});
