import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Report, serverProcess, type StartServer, writeMatrix } from "@tributary/testkit/conformance";
import { afterAll } from "vitest";

const local = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** `TRIBUTARY_FAST=1`: the part that belongs into every CI run. */
export const isFast = process.env["TRIBUTARY_FAST"] === "1";

/** Where the pinned programs are. */
export const programs = async (): Promise<Readonly<Record<"codex" | "claude", { readonly path: string }>>> => {
  const { stdout } = await promisify(execFile)(process.execPath, [local("install.mjs")]);
  return JSON.parse(stdout) as Record<"codex" | "claude", { readonly path: string }>;
};

/** Starts real servers. A compiled copy of their code, gone with the test, halves what each start costs. */
export const realServer = (): StartServer => {
  const compiled = mkdtempSync(join(tmpdir(), "conformance-compiled-"));
  afterAll(() => rmSync(compiled, { recursive: true, force: true }));
  return serverProcess({ bin: local("../../apps/server/bin/tributary.mjs"), env: { NODE_COMPILE_CACHE: compiled } });
};

/** With `TRIBUTARY_WRITE_MATRIX=1` a whole run writes its column into docs/runtimes/README.md. */
export const onReport = (report: Report): void => {
  const failed = report.results.filter(({ verdict }) => verdict === "fail" || verdict === "drift");
  const left = report.results.filter(({ verdict }) => verdict === "skip");
  console.log(
    [
      `${report.runtime} ${report.version}: ${report.results.length - failed.length - left.length} passed, ${failed.length} failed, ${left.length} left out`,
      ...left.map(({ name, reason }) => `  left out: ${name}: ${reason}`),
    ].join("\n"),
  );
  if (process.env["TRIBUTARY_WRITE_MATRIX"] === "1" && report.isWhole)
    writeMatrix(local("../../docs/runtimes/README.md"), report);
};
