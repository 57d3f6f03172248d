import { expect, test } from "vitest";
import { codexTrimming } from "../../scripts/record/codex-host.ts";
import { neutral, toText, type Line } from "../../scripts/record/neutral.ts";

const line = (dir: Line["dir"], msg: unknown): Line => ({ t: 1, dir, msg });

test("a recording is anybody's: paths go, the longest first, escaped ones too", () => {
  const lines = [line("out", { cwd: "/tmp/x/project", note: 'in "/tmp/x"', path: "C:\\work\\a" })];
  const replacements = [
    ["/tmp/x", "/home/dev"],
    ["/tmp/x/project", "/home/dev/project"],
    ["C:\\work", "C:\\dev"],
  ] as const;
  expect(neutral(lines, replacements, codexTrimming)).toEqual([
    line("out", { cwd: "/home/dev/project", note: 'in "/home/dev"', path: "C:\\dev\\a" }),
  ]);
});

test("a recording is small: no stderr, no repetitions, no vendor texts, of a thread what matters", () => {
  const dull = { method: "thread/readState/changed", params: { threadId: "t" } };
  const thread = { id: "t", cwd: "/p", gitInfo: null, path: "/long" };
  const kept = neutral(
    [
      line("stderr", "noise"),
      line("in", dull),
      line("in", dull),
      line("in", { result: { thread, developer_instructions: "x".repeat(100) } }),
      line("meta", { exit: 0, signal: null }),
    ],
    [],
    codexTrimming,
  );
  expect(kept.map(({ msg }) => msg)).toEqual([
    dull,
    { result: { thread: { id: "t", cwd: "/p" }, developer_instructions: `${"x".repeat(40)}…` } },
    { exit: 0, signal: null },
  ]);
  expect(toText(kept).trim().split("\n")).toHaveLength(3);
});
