import { describe, expect, it } from "vitest";
import { changesStat, diffStat } from "../src/diff-stat.ts";

describe("counting a unified diff", () => {
  it("counts files and lines of a git diff, renames and binaries included", () => {
    const diff = [
      "diff --git a/x b/x",
      "index 1..2 100644",
      "--- a/x",
      "+++ b/x",
      "@@ -1,3 +1,3 @@ function",
      " same",
      "-old",
      "+new",
      " same",
      "@@ -10 +10,2 @@",
      "-gone",
      "+here",
      "+and here",
      "\\ No newline at end of file",
      "diff --git a/old b/new",
      "similarity index 100%",
      "rename from old",
      "rename to new",
      "diff --git a/p.png b/p.png",
      "Binary files differ",
      "",
    ].join("\n");
    expect(diffStat(diff)).toEqual({ files: 3, added: 3, removed: 2 });
  });

  it("does not take changed lines for headers", () => {
    const diff = ["--- a/q.sql", "+++ b/q.sql", "@@ -1,2 +1,2 @@", "--- a comment", "-x", "+++ i", "+y"].join("\n");
    expect(diffStat(diff)).toEqual({ files: 1, added: 2, removed: 2 });
  });

  it("counts plain files without git headers, and lines without hunks", () => {
    expect(diffStat("--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n--- c\n+++ d\n@@ -1 +0,0 @@\n-y")).toEqual({
      files: 2,
      added: 1,
      removed: 1,
    });
    expect(diffStat("+a\n+b\n-c")).toEqual({ files: 0, added: 2, removed: 1 });
    expect(diffStat("")).toEqual({ files: 0, added: 0, removed: 0 });
  });

  it("adds up file changes and names each path once", () => {
    expect(
      changesStat([
        { path: "a", kind: "update", diff: "+x" },
        { path: "a", kind: "update", diff: "-x" },
        { path: "b", kind: "delete" },
      ]),
    ).toEqual({ paths: ["a", "b"], added: 1, removed: 1 });
  });
});
