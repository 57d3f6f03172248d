#!/usr/bin/env node
// Adds up what a CI run noted in its reports folder. Plain JavaScript: it also runs where the install failed.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const usage = `Usage: node scripts/ci/summary.mjs FOLDER

FOLDER holds "steps" (lines "<name> <exit code>") and, for a step that is a test suite, "<name>.json" as vitest's
json reporter writes it. Prints "N passed, N failed[, N skipped]" and exits with 1 if anything failed.
`;

/** Steps that are suites: their report says how many, so a missing report is a failure. */
const suites = new Set(["test", "browser", "runtimes"]);

/**
 * The counts of one suite. A file that could not be loaded has no tests to count and is one failure; so is an exit
 * code that the report does not explain (an unhandled error, a time-out, no test at all).
 */
const countSuite = (reportFile, exitCode) => {
  if (!existsSync(reportFile)) return { passed: 0, failed: 1, skipped: 0 };
  const report = JSON.parse(readFileSync(reportFile, "utf8"));
  const unloadable = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  const failed = report.numFailedTests + unloadable.length;
  const unexplained = failed === 0 && (exitCode !== 0 || report.numPassedTests === 0);
  return {
    passed: report.numPassedTests,
    failed: failed + (unexplained ? 1 : 0),
    skipped: report.numPendingTests + report.numTodoTests,
  };
};

/** A step without a report is one check. Installing is what the others stand on and counts only when it fails. */
const countStep = (name, exitCode) => ({
  passed: exitCode === 0 && name !== "install" ? 1 : 0,
  failed: exitCode === 0 ? 0 : 1,
  skipped: 0,
});

const [folder] = process.argv.slice(2);
if (folder === undefined || folder === "--help") {
  process.stdout.write(usage);
  process.exit(folder === undefined ? 2 : 0);
}

const total = { passed: 0, failed: 0, skipped: 0 };
process.stdout.write("\n");
for (const line of readFileSync(join(folder, "steps"), "utf8").trim().split("\n")) {
  const [name, code] = line.split(" ");
  const exitCode = Number(code);
  const count = suites.has(name) ? countSuite(join(folder, `${name}.json`), exitCode) : countStep(name, exitCode);
  for (const key of Object.keys(total)) total[key] += count[key];
  process.stdout.write(`${name}: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
}
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
process.stdout.write(`${total.passed} passed, ${total.failed} failed${skipped}\n`);
process.exitCode = total.failed > 0 ? 1 : 0;
