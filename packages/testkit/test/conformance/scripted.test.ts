import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe } from "vitest";
import { conformance, scriptedDriver, serverProcess } from "../../src/conformance/index.ts";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

describe("conformance of the scripted runtime", () => {
  // A compiled copy halves what the start of a process costs.
  const compiled = mkdtempSync(join(tmpdir(), "conformance-compiled-"));
  const env = { NODE_COMPILE_CACHE: compiled };
  afterAll(() => rmSync(compiled, { recursive: true, force: true }));

  conformance({
    startServer: serverProcess({ bin: path("../../../../apps/server/bin/tributary.mjs"), env }),
    driver: scriptedDriver({ child: path("../../../providers/src/scripted/child.ts"), env }),
  });
});
