/**
 * Makes the command line as it ships, once for a run: tests that start processes start three times as fast with it, and
 * test what people get. `TRIBUTARY_TEST_PACKAGE` tells them where it is.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const setup = (): (() => void) => {
  mkdirSync(at(".cache"), { recursive: true });
  const folder = mkdtempSync(at(".cache/package-"));
  execFileSync(process.execPath, [at("apps/server/build.mjs"), join(folder, "dist")]);
  cpSync(at("apps/server/bin"), join(folder, "bin"), { recursive: true });
  // As an installed package has it on the path.
  chmodSync(join(folder, "bin", "tributary.mjs"), 0o755);
  symlinkSync("tributary.mjs", join(folder, "bin", "tributary"));
  process.env["TRIBUTARY_TEST_PACKAGE"] = folder;
  process.env["NODE_COMPILE_CACHE"] = join(folder, "compiled");
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
};
