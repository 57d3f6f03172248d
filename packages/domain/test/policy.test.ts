import type { ApprovalMode, DomainPayloads } from "@tributary/contracts";
import { describe, expect, it } from "vitest";
import { isInside } from "../src/paths.ts";
import { approvalPolicy, subjectHash } from "../src/index.ts";
import { options } from "./facts.ts";

type Asked = Pick<DomainPayloads["request.opened"], "kind" | "action" | "subject" | "options">;
const policy = (approvalMode: ApprovalMode, asked: Partial<Asked>, cwd = "/p") =>
  approvalPolicy({ approvalMode, cwd }, { kind: "approval", options, ...asked });
const yes = { optionId: "yes" };

describe("approvalPolicy", () => {
  it("asks the person unless they chose otherwise", () => {
    expect(policy("ask", { action: "file_change", subject: { paths: ["a"] } })).toBeUndefined();
    expect(policy("full_access", { action: "command" })).toStrictEqual(yes);
    expect(policy("full_access", {})).toStrictEqual(yes);
  });

  it("never answers a question, nor leaves plan mode", () => {
    expect(policy("full_access", { kind: "user_input" })).toBeUndefined();
    expect(policy("full_access", { action: "plan_exit" })).toBeUndefined();
  });

  it("only ever allows once", () => {
    const wider = options.filter(({ id }) => id !== "yes");
    expect(policy("full_access", { action: "command", options: wider })).toBeUndefined();
    expect(approvalPolicy({ approvalMode: "full_access", cwd: "/p" }, { kind: "approval" })).toBeUndefined();
  });

  it.each<[string, Partial<Asked>, boolean]>([
    ["a file below", { action: "file_change", subject: { paths: ["/p/a.ts", "b/c.ts"] } }, true],
    ["changes below", { action: "file_change", subject: { changes: [{ path: "a", kind: "add" }] } }, true],
    ["a file outside", { action: "file_change", subject: { paths: ["/p/a.ts", "/q/b.ts"] } }, false],
    [
      "a move to outside",
      { action: "file_change", subject: { changes: [{ path: "a", oldPath: "../b", kind: "move" }] } },
      false,
    ],
    [
      "one change of many outside",
      { action: "file_change", subject: { paths: ["a"], changes: [{ path: "/x", kind: "add" }] } },
      false,
    ],
    ["paths relative to elsewhere", { action: "file_change", subject: { cwd: "/etc", paths: ["passwd"] } }, false],
    ["paths relative to a folder below", { action: "file_change", subject: { cwd: "sub", paths: ["../a"] } }, true],
    ["a subject that was cut", { action: "file_change", subject: { paths: ["a"], truncated: true } }, false],
    ["no path at all", { action: "file_change", subject: { paths: [] } }, false],
    ["no subject", { action: "file_change" }, false],
    ["a command", { action: "command", subject: { paths: ["a"] } }, false],
    ["reading a file", { action: "file_read", subject: { paths: ["a"] } }, false],
  ])("accept_edits: %s", (_, asked, allowed) => {
    expect(policy("accept_edits", asked)).toStrictEqual(allowed ? yes : undefined);
  });
});

describe("isInside", () => {
  it.each<[string, string, boolean]>([
    ["/p", "/p", true],
    ["/p", "/p/a", true],
    ["/p/", "/p/a/../b", true],
    ["/p", "/p/../q", false],
    ["/p", "/p/a/../../p/b", true],
    ["/p", "/pq/a", false],
    ["/p", "a/./b//c", true],
    ["/p", "../p/a", true],
    ["/p", "../../../../p/a", false],
    ["/p", "..", false],
    ["/p", "/", false],
    ["/", "/etc/passwd", true],
    ["/p", "", false],
    ["/p", "~/.ssh/config", false],
    ["/p", "file:///etc/passwd", false],
    ["/p", "/p/a\0/../../etc", false],
    ["p", "a", false],
    ["/P", "/p/a", false],
    ["/p", "a\\..\\..\\b", true],
    ["C:\\work", "src\\a.ts", true],
    ["C:\\work", "c:/WORK/a.ts", true],
    ["C:\\work", "..\\other\\a.ts", false],
    ["C:\\work", "D:\\work\\a.ts", false],
    ["C:\\work", "\\windows\\system32", false],
    ["C:\\work", "c:a.ts", false],
    ["C:\\work", "\\\\host\\share\\a", false],
  ])("%s holds %s: %s", (cwd, path, inside) => {
    expect(isInside(cwd, path)).toBe(inside);
  });
});

describe("subjectHash", () => {
  const asked = { kind: "approval", action: "command", subject: { command: "ls", cwd: "/p" }, options } as const;

  it("is 16 hex digits, the same for the same subject in any order of keys", () => {
    const hash = subjectHash(asked);
    expect(hash).toMatch(/^[0-9a-f]{16}$/);
    const reordered = { options, subject: { cwd: "/p", command: "ls" }, action: "command", kind: "approval" } as const;
    expect(subjectHash(reordered)).toBe(hash);
    expect(subjectHash(JSON.parse(JSON.stringify(asked)))).toBe(hash);
  });

  it("stays what it was: hashes are in the log", () => {
    expect(subjectHash({ kind: "user_input", url: "https://login.example/?q=é\u{1F600}" })).toMatchInlineSnapshot(
      `"5a75f3f94851a7ac"`,
    );
  });

  it("changes with anything that a person reads", () => {
    const others = [
      { ...asked, subject: { command: "ls ", cwd: "/p" } },
      { ...asked, subject: { command: "ls" } },
      { ...asked, subject: { command: "ls", cwd: "/p", input: { a: 1 } } },
      { ...asked, subject: { command: "ls", cwd: "/p", input: { a: "1" } } },
      { ...asked, subject: { command: "ls", cwd: "/p", input: { b: 1 } } },
      { ...asked, subject: { command: "ls", cwd: "/p", input: [null] } },
      { ...asked, subject: { command: "ls", cwd: "/p", input: [[], {}] } },
      { ...asked, subject: { command: "\ud800", cwd: "/p" } },
      { ...asked, action: "tool" },
      { ...asked, title: "ls" },
      { ...asked, options: options.slice(1) },
      { ...asked, options: options.toReversed() },
    ] as const;
    expect(new Set([asked, ...others].map(subjectHash)).size).toBe(others.length + 1);
  });

  it("not with what they do not", () => {
    expect(subjectHash({ ...asked, blocking: false, expiresAt: "2026-01-01T00:00:00Z" })).toBe(subjectHash(asked));
  });

  it("spreads: no collision among many near subjects", () => {
    const hashes = Array.from({ length: 20_000 }, (_, index) =>
      subjectHash({ kind: "approval", subject: { command: `rm file-${index}` } }),
    );
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(new Set(hashes.map((hash) => hash.slice(0, 8))).size).toBeGreaterThan(19_990);
    expect(new Set(hashes.map((hash) => hash.slice(8))).size).toBeGreaterThan(19_990);
  });
});
