import { describe, expect, it } from "@effect/vitest";
import { Redacted } from "effect";

import { childEnvironment } from "../../src/process/environment.ts";

const build = (
  host: Record<string, string>,
  more: Partial<Parameters<typeof childEnvironment>[0]> = {},
): Record<string, string> => childEnvironment({ host, platform: "linux", marker: "m1", ...more });

describe("childEnvironment", () => {
  it("passes on what programs need, and nothing else", () => {
    const passed = {
      PATH: "/bin",
      HOME: "/home/u",
      USER: "u",
      LOGNAME: "u",
      SHELL: "/bin/sh",
      LANG: "C",
      LC_ALL: "C",
      TERM: "dumb",
      TMPDIR: "/t",
      TZ: "UTC",
      XDG_CONFIG_HOME: "/c",
      HTTPS_PROXY: "http://p",
      no_proxy: "localhost",
      NODE_EXTRA_CA_CERTS: "/ca.pem",
      SSL_CERT_FILE: "/ca.pem",
    };
    const secret = { ANTHROPIC_API_KEY: "k", AWS_SECRET_ACCESS_KEY: "k", DATABASE_URL: "u", PATHS: "x", path: "x" };
    expect(build({ ...passed, ...secret })).toEqual({ ...passed, TRIBUTARY_MARKER: "m1" });
  });

  it("never inherits the marks of another agent, not even by name", () => {
    const host = {
      CLAUDECODE: "1",
      CLAUDE_CODE_ENTRYPOINT: "cli",
      TRIBUTARY_MARKER: "outer",
      NODE_OPTIONS: "--inspect",
    };
    expect(build(host, { inherit: Object.keys(host) })).toEqual({ TRIBUTARY_MARKER: "m1" });
  });

  it("inherits more by name", () => {
    expect(build({ SSH_AUTH_SOCK: "/s", OTHER: "o" }, { inherit: ["SSH_AUTH_SOCK"] })).toEqual({
      SSH_AUTH_SOCK: "/s",
      TRIBUTARY_MARKER: "m1",
    });
  });

  it("lets the instance set, replace and take away, but not the marker", () => {
    const own = {
      ANTHROPIC_API_KEY: Redacted.make("own key"),
      CLAUDECODE: "0",
      HOME: "/other",
      HTTP_PROXY: undefined,
      TRIBUTARY_MARKER: "forged",
    };
    expect(build({ HOME: "/home/u", HTTP_PROXY: "http://p" }, { own })).toEqual({
      ANTHROPIC_API_KEY: "own key",
      CLAUDECODE: "0",
      HOME: "/other",
      TRIBUTARY_MARKER: "m1",
    });
  });

  it("ignores case where the system does", () => {
    const host = { Path: "C:\\bin", SYSTEMROOT: "C:\\Windows", Secret: "s" };
    expect(build(host, { platform: "win32", own: { PATH: "D:\\bin" } })).toEqual({
      PATH: "D:\\bin",
      SYSTEMROOT: "C:\\Windows",
      TRIBUTARY_MARKER: "m1",
    });
    expect(build(host, { platform: "linux" })).toEqual({ TRIBUTARY_MARKER: "m1" });
  });
});
