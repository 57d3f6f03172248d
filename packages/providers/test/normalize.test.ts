import { describe, expect, it } from "vitest";
import { normalize, normalizeRecords, UnknownTranslator } from "../src/normalize.ts";
import { RecordingError } from "../src/recording.ts";
import { translatorNames } from "../src/registry.ts";

const line = (dir: string, msg: unknown): string => JSON.stringify({ t: 0, dir, msg });
const warning = line("in", { method: "warning", params: { threadId: null, message: "careful" } });
const exit = line("meta", { exit: 0, signal: null });

describe("a recording", () => {
  it("is read as a text or line by line, blank lines and notes apart", () => {
    const lines = [line("meta", { spawn: ["codex"] }), "", line("stderr", "noise"), `  ${warning}  `, exit];
    const events = normalize("codex", lines);
    expect(events.map(({ type }) => type)).toEqual(["notice", "session.exited"]);
    expect(normalize("codex", `${lines.join("\n")}\n`)).toEqual(events);
    expect(normalize("codex", lines.join("\r\n"))).toEqual(events);
  });

  it("keeps U+2028 inside a line", () => {
    const odd = '{"t":0,"dir":"in","msg":{"method":"warning","params":{"message":"a\u2028b"}}}';
    expect(normalize("codex", odd)).toMatchObject([{ payload: { message: "a\u2028b" } }]);
  });

  it("counts its processes as generations, whether or not their spawn was noted", () => {
    const spawn = line("meta", { spawn: ["codex"] });
    const generations = (...lines: ReadonlyArray<string>) =>
      [...normalizeRecords("codex", lines)].map(({ generation }) => generation);
    expect(generations(spawn, warning, exit, spawn, warning, exit)).toEqual([1, 1, 2, 2]);
    expect(generations(warning, exit, warning)).toEqual([1, 1, 2]);
    expect(generations(spawn, spawn, warning)).toEqual([1]);
    expect(generations(warning, spawn, warning)).toEqual([1, 2]);
  });

  it("says how a process ended", () => {
    const how = (msg: unknown) => normalize("codex", [warning, line("meta", msg)]).at(-1)?.payload;
    expect(how({ exit: 0, signal: null })).toEqual({ kind: "graceful", exitCode: 0, recoverable: true });
    expect(how({ exit: 3, signal: null })).toEqual({ kind: "crash", exitCode: 3, recoverable: true });
    expect(how({ exit: null, signal: "SIGKILL" })).toEqual({ kind: "killed", signal: "SIGKILL", recoverable: true });
  });

  it("shows lines of output that were no JSON", () => {
    expect(normalize("codex", [line("in-raw", "Segmentation fault")])).toMatchObject([
      { type: "unknown", payload: { kind: "noise" } },
    ]);
  });
});

describe("what is wrong", () => {
  it("names the translators there are", () => {
    const unknown = (() => {
      try {
        return normalize("toString", warning);
      } catch (error) {
        return error;
      }
    })();
    expect(unknown).toBeInstanceOf(UnknownTranslator);
    expect(unknown).toMatchObject({ runtime: "toString", known: translatorNames });
    expect(String((unknown as Error).message)).toContain("codex");
  });

  it.each([
    ["not json", /line 2 .*not JSON/],
    ["[]", /line 2 .*missing/],
    ['{"dir":"in"}', /line 2 .*missing/],
    ['{"msg":{}}', /line 2 .*missing/],
  ])("names the line %s", (bad, message) => {
    expect(() => normalize("codex", [warning, bad])).toThrowError(RecordingError);
    expect(() => normalize("codex", [warning, bad])).toThrowError(message);
  });
});
