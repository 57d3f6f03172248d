import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const summary = fileURLToPath(new URL("../../scripts/ci/summary.mjs", import.meta.url));

interface SuiteCounts {
  readonly passed: number;
  readonly failed?: number;
  readonly skipped?: number;
  readonly unloadable?: number;
}

/** A report as vitest's json reporter writes it, reduced to what is counted. */
const reportOf = ({ passed, failed = 0, skipped = 0, unloadable = 0 }: SuiteCounts) => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: skipped,
  numTodoTests: 0,
  testResults: Array.from({ length: unloadable }, () => ({ status: "failed", assertionResults: [] })),
});

/** Sums up a run given as its steps with their exit codes and its suites' reports; returns exit code and last line. */
const sumUp = (steps: Readonly<Record<string, number>>, reports: Readonly<Record<string, SuiteCounts>>) => {
  const folder = mkdtempSync(join(tmpdir(), "tributary-summary-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const lines = Object.entries(steps).map(([name, code]) => `${name} ${code}\n`);
  writeFileSync(join(folder, "steps"), lines.join(""));
  for (const [name, counts] of Object.entries(reports)) {
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(reportOf(counts)));
  }
  const { status, stdout } = spawnSync(process.execPath, [summary, folder], { encoding: "utf8" });
  return { status, last: stdout.trimEnd().split("\n").at(-1) };
};

test("passes of all suites and checks add up", () => {
  const steps = { install: 0, test: 0, lint: 0, format: 0, types: 0, runtimes: 0 };
  expect(sumUp(steps, { test: { passed: 10, skipped: 2 }, runtimes: { passed: 5 } })).toEqual({
    status: 0,
    last: "18 passed, 0 failed, 2 skipped",
  });
});

test("failing tests and checks add up and fail the run", () => {
  expect(sumUp({ install: 0, test: 1, lint: 1, format: 0, types: 2 }, { test: { passed: 10, failed: 3 } })).toEqual({
    status: 1,
    last: "11 passed, 5 failed",
  });
});

test("a test file that can't be loaded is a failure", () => {
  expect(sumUp({ test: 1 }, { test: { passed: 10, unloadable: 2 } })).toEqual({
    status: 1,
    last: "10 passed, 2 failed",
  });
});

test("an exit code that the report does not explain is a failure", () => {
  expect(sumUp({ test: 1 }, { test: { passed: 10 } })).toEqual({ status: 1, last: "10 passed, 1 failed" });
});

test("a suite that wrote no report, or ran nothing, is a failure", () => {
  expect(sumUp({ test: 124 }, {})).toEqual({ status: 1, last: "0 passed, 1 failed" });
  expect(sumUp({ test: 0 }, {})).toEqual({ status: 1, last: "0 passed, 1 failed" });
  expect(sumUp({ test: 0 }, { test: { passed: 0 } })).toEqual({ status: 1, last: "0 passed, 1 failed" });
});

test("a failed install is a failure, and nothing else is counted", () => {
  expect(sumUp({ install: 1 }, {})).toEqual({ status: 1, last: "0 passed, 1 failed" });
});
