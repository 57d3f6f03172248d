import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  claudeDriver,
  codexDriver,
  conformance,
  type DriverSource,
  serverProcess,
} from "@tributary/testkit/conformance";
import { describe } from "vitest";

const local = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const { stdout } = await promisify(execFile)(process.execPath, [local("install.mjs")]);
const { codex, claude } = JSON.parse(stdout) as Readonly<Record<"codex" | "claude", { readonly path: string }>>;
const drivers: ReadonlyArray<DriverSource> = [
  codexDriver({ command: codex.path }),
  claudeDriver({ command: claude.path }),
];

for (const driver of drivers) {
  describe(driver.runtime, () => {
    conformance({
      startServer: serverProcess({
        bin: local("../../apps/server/bin/tributary.mjs"),
      }),
      driver,
      isFast: process.env["TRIBUTARY_FAST"] === "1",
    });
  });
}
