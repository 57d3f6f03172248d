/** The parts of the suite that decide what is a fault, without a server. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SeenEvent } from "../../src/conformance/client/events.ts";
import { Fold } from "../../src/conformance/client/fold.ts";
import { SseParser } from "../../src/conformance/client/sse.ts";
import { mergeMatrix, printMatrix, readMatrix, writeMatrix } from "../../src/conformance/matrix.ts";
import { failure, type Report } from "../../src/conformance/suite.ts";

const seen = (sequence: number, type: string, payload: object): SeenEvent =>
  ({ cursor: `e:x.${sequence}`, sequence, type, payload }) as unknown as SeenEvent;
const start = { turnId: "t", agentPath: [], itemId: "i", segment: 0, generation: 1 };
const append = (sequence: number, offset: number, text: string, more: object = {}): SeenEvent =>
  seen(sequence, "message.appended", { messageId: "m", offset, text, ...more });

const folded = (...events: ReadonlyArray<SeenEvent>): Fold => {
  const fold = new Fold();
  for (const event of events) fold.apply(event);
  return fold;
};

describe("the fold", () => {
  const hello = [append(1, 0, "hel", { start }), append(2, 3, "lo")];
  const completed = (sequence: number, length: number) =>
    seen(sequence, "message.completed", { messageId: "m", length });
  const turn = [seen(1, "turn.started", { turnId: "t" }), seen(2, "turn.ended", { turnId: "t" })];

  it("joins what was said in a turn, and knows what is still open", () => {
    expect(folded(...hello).said("t")).toBe("hello");
    expect(folded(...hello).open).toEqual(["message m"]);
    expect(folded(...hello, completed(3, 5)).open).toEqual([]);
    expect(folded(...hello, seen(3, "message.retracted", { messageId: "m" })).said("t")).toBe("");
    expect(folded(...hello).said("t", ["child"])).toBe("");
  });

  it.each([
    ["a gap in a text", [...hello, append(3, 9, "!")]],
    ["a repeated piece", [...hello, append(3, 3, "lo")]],
    ["a text that begins twice", [...hello, append(3, 0, "hel", { start })]],
    ["a text without a beginning", [append(1, 0, "x")]],
    ["a wrong length", [...hello, completed(3, 4)]],
    ["a text that ends twice", [...hello, completed(3, 5), completed(4, 5)]],
    ["a sequence that does not rise", [...hello, append(2, 5, "!")]],
    ["two ends of a turn", [...turn, seen(3, "turn.ended", { turnId: "t" })]],
    ["an end without a beginning", [seen(1, "activity.ended", { activityId: "a" })]],
    [
      "a request that is answered twice",
      [
        seen(1, "request.opened", { requestId: "r" }),
        seen(2, "request.answered", { requestId: "r" }),
        seen(3, "request.expired", { requestId: "r" }),
      ],
    ],
  ])("throws at %s", (_, events) => expect(() => folded(...events)).toThrow());
});

describe("the SSE reader", () => {
  it("finds frames however the text is cut, and no frame in a comment", () => {
    const text = ': hi\n\nid: 1\nevent: event\ndata: {"a":\ndata: 1}\n\nevent:ping\r\ndata:x\r\n\r\n';
    const expected = [
      { id: "1", event: "event", data: '{"a":\n1}' },
      { id: undefined, event: "ping", data: "x" },
    ];
    expect(new SseParser().push(text)).toEqual(expected);
    for (let cut = 1; cut < text.length; cut += 1) {
      const parser = new SseParser();
      expect([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))]).toEqual(expected);
    }
  });
});

describe("verdicts", () => {
  it("a failure with another version than the pin is drift", () => {
    const source = { runtime: "x", pin: "1.0.0" };
    const error = new Error("broken");
    expect(failure(source, "1.0.0", error)).toEqual({ verdict: "fail", error });
    const drift = failure(source, "1.1.0", error);
    expect(drift.verdict).toBe("drift");
    expect(String(drift.error)).toContain("DRIFT: x 1.1.0 is not the pinned 1.0.0. Error: broken");
  });
});

describe("the matrix", () => {
  const report = (runtime: string, results: Report["results"]): Report => ({
    runtime,
    version: "1",
    pin: "1",
    isWhole: true,
    results,
  });
  const one = report("one", [
    { group: "a", name: "x", verdict: "pass" },
    { group: "a", name: "y", verdict: "skip", reason: "no y" },
  ]);
  const two = report("two", [
    { group: "a", name: "x", verdict: "fail" },
    { group: "b", name: "z", verdict: "pass" },
  ]);

  it("is read as it was printed", () => {
    const matrix = mergeMatrix(mergeMatrix(readMatrix(""), one), two);
    expect(printMatrix(readMatrix(printMatrix(matrix)))).toBe(printMatrix(matrix));
  });

  it("a run changes its own column, and leaves the text around the table alone", () => {
    const folder = mkdtempSync(join(tmpdir(), "matrix-"));
    try {
      const path = join(folder, "README.md");
      writeFileSync(path, `before\n\n${printMatrix(readMatrix(""))}\n\nafter\n`);
      writeMatrix(path, one);
      writeMatrix(path, report("two", [...one.results, { group: "b", name: "z", verdict: "drift" }]));
      const written = readFileSync(path, "utf8");
      expect(written.startsWith("before\n\n")).toBe(true);
      expect(written.endsWith("\n\nafter\n")).toBe(true);
      expect(written).toContain("| case | one 1 | two 1 |");
      expect(written).toContain("| x | ✓ | ✓ |");
      expect(written).toContain("| y | – | – |");
      expect(written).toContain("| z |  | **drift** |");
      expect(written).toContain("- one, *y*: no y");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
