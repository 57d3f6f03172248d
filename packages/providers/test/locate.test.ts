import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { locate } from "../src/locate.ts";

let folder: string;
const at = (...parts: ReadonlyArray<string>): string => join(folder, ...parts);
const program = (...parts: ReadonlyArray<string>): void => {
  mkdirSync(at(...parts.slice(0, -1)), { recursive: true });
  writeFileSync(at(...parts), "#!/bin/sh\n");
  chmodSync(at(...parts), 0o755);
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tributary-locate-"));
  program("a", "tool");
  program("b", "tool");
  mkdirSync(at("link"));
  symlinkSync(at("a", "tool"), at("link", "tool"));
  mkdirSync(at("c", "tool"), { recursive: true });
  writeFileSync(at("c", "plain"), "");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a program", () => {
  const path = (...names: ReadonlyArray<string>): string => names.map((name) => at(name)).join(delimiter);

  it("is the first on the path; others are shadowed, links to it are not others", () => {
    expect(locate("tool", path("c", "a", "link", "b"))).toEqual({ path: at("a", "tool"), shadowed: [at("b", "tool")] });
  });

  it("is nothing where there is none that can be run", () => {
    expect(locate("tool", path("c"))).toEqual({ shadowed: [] });
    expect(locate("plain", path("c"))).toEqual({ shadowed: [] });
    expect(locate("tool", "")).toEqual({ shadowed: [] });
  });

  it("is none of the folder that we were started in, whatever the path says", () => {
    const before = process.cwd();
    try {
      process.chdir(at("a"));
      expect(locate("tool", [".", "", "../b", at("b")].join(delimiter))).toEqual({
        path: at("b", "tool"),
        shadowed: [],
      });
    } finally {
      process.chdir(before);
    }
  });

  it("is taken as it is when a path is given", () => {
    expect(locate(at("b", "tool"), path("a"))).toEqual({ path: at("b", "tool"), shadowed: [] });
    expect(locate(at("none"), path("a"))).toEqual({ shadowed: [] });
  });

  it("has an extension where the platform wants one", () => {
    program("win", "tool.EXE");
    expect(locate("tool", path("win"), ".COM;.EXE").path).toBe(at("win", "tool.EXE"));
  });
});
