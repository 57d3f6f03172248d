import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe } from "vitest";
import { conformance, scriptedDriver, serverProcess } from "../../src/conformance/index.ts";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** The package as it ships, where the run made one; else the sources. */
const shipped = process.env["TRIBUTARY_TEST_PACKAGE"];
const bin =
  shipped === undefined ? path("../../../../apps/server/bin/tributary.mjs") : join(shipped, "bin", "tributary.mjs");
const child =
  shipped === undefined
    ? path("../../../providers/src/scripted/child.ts")
    : join(shipped, "dist", "scripted-child.mjs");

describe("conformance of the scripted runtime", () => {
  const compiled = process.env["NODE_COMPILE_CACHE"];
  const env = compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled };
  conformance({ startServer: serverProcess({ bin, env }), driver: scriptedDriver({ child, env }) });
});
