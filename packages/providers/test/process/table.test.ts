import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";

import { describe, expect, it } from "@effect/vitest";
import { Effect } from "effect";

import { bootId, identity, isAlive, snapshot, stillAlive } from "../../src/process/index.ts";
import { parseEnviron, parseStat } from "../../src/process/table-linux.ts";
import { parsePs, parsePsMarkers, psRowNow, psRows, psSnapshot } from "../../src/process/table-ps.ts";

describe("the process table", () => {
  it.live("shows this process as it is", () =>
    Effect.gen(function* () {
      const self = (yield* snapshot).find((row) => row.pid === process.pid);
      expect(self).toMatchObject({ pid: process.pid, ppid: process.ppid, zombie: false });
      expect(identity(process.pid)).toEqual({ pid: process.pid, startTime: self?.startTime, bootId: bootId() });
    }),
  );

  it.live("knows nothing of a process that is over", () =>
    Effect.gen(function* () {
      const child = spawn("/bin/sleep", ["600"], { stdio: "ignore" });
      const known = identity(child.pid ?? -1);
      if (known === undefined) throw new Error("the child did not start");
      expect(yield* stillAlive([known, { pid: known.pid, startTime: "1" }])).toEqual([known]);
      child.kill("SIGKILL");
      yield* Effect.promise(() => once(child, "exit"));
      expect(yield* isAlive(known)).toBe(false);
      expect(identity(known.pid)).toBeUndefined();
    }),
  );

  it("identifies a child that is over before the event loop turns", () => {
    const child = spawn("/bin/true", { stdio: "ignore" });
    expect(identity(child.pid ?? -1)).toMatchObject({ pid: child.pid });
  });
});

describe("/proc", () => {
  const fields = (state: string, threads = 1): string =>
    `${state} 1 42 43 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 ${threads} 0 987654 1 2`;

  it("reads a stat line whose command imitates one", () => {
    expect(parseStat(`42 (a) S 7 (b\n) ${fields("S")}`)).toEqual({
      pid: 42,
      ppid: 1,
      pgid: 42,
      sid: 43,
      startTime: "987654",
      zombie: false,
      command: "a) S 7 (b\n",
    });
    expect(parseStat("")).toBeUndefined();
    expect(parseStat("42 (cut) S 1")).toBeUndefined();
  });

  it("tells a zombie from a process whose first thread is over", () => {
    expect(parseStat(`42 (z) ${fields("Z")}`)?.zombie).toBe(true);
    expect(parseStat(`42 (z) ${fields("Z", 3)}`)?.zombie).toBe(false);
  });

  it("finds the marker as a variable of its own only", () => {
    const read = (...variables: ReadonlyArray<string>) => parseEnviron(Buffer.from(variables.join("\0")));
    expect(read("A=1", "TRIBUTARY_MARKER=m:1", "B=2", "")).toEqual({ state: "carried", marker: "m:1" });
    expect(read("TRIBUTARY_MARKER=m")).toEqual({ state: "carried", marker: "m" });
    expect(read("X=TRIBUTARY_MARKER=no", "NOT_TRIBUTARY_MARKER=no", "TRIBUTARY_MARKER=yes")).toEqual({
      state: "carried",
      marker: "yes",
    });
    expect(read("X=TRIBUTARY_MARKER=no")).toEqual({ state: "absent" });
    expect(read()).toEqual({ state: "absent" });
  });
});

describe("ps", () => {
  it("reads rows with start times to the second, in UTC", () => {
    const text = [
      "    1     0     1 Ss   Mon Jan  5 09:08:07 2026     /sbin/launchd",
      " 4242     1  4242 Z+   Tue Dec 31 23:59:59 2024     (node)",
      "  500  4242  4242 S    Tue Dec 31 23:59:59 2024     /Applications/Some App.app/Contents/MacOS/Some App",
      "not a row",
    ].join("\n");
    expect(parsePs(text)).toEqual([
      { pid: 1, ppid: 0, pgid: 1, startTime: "1767604087", zombie: false, command: "launchd" },
      { pid: 4242, ppid: 1, pgid: 4242, startTime: "1735689599", zombie: true, command: "(node)" },
      { pid: 500, ppid: 4242, pgid: 4242, startTime: "1735689599", zombie: false, command: "Some App" },
    ]);
  });

  it("takes the marker from the environment, not from the arguments", () => {
    const plain = ["  1 /sbin/launchd", " 20 node agent.js", " 30 env TRIBUTARY_MARKER=no sleep", " 40 other"].join(
      "\n",
    );
    const full = [
      "  1 /sbin/launchd",
      " 20 node agent.js PATH=/bin TRIBUTARY_MARKER=m HOME=/h",
      " 30 env TRIBUTARY_MARKER=no sleep PATH=/bin",
      " 40 changed meanwhile TRIBUTARY_MARKER=no",
    ].join("\n");
    expect([...parsePsMarkers(plain, full)]).toEqual([
      [20, { state: "carried", marker: "m" }],
      [30, { state: "absent" }],
    ]);
  });

  const hasPs = existsSync("/bin/ps") || existsSync("/usr/bin/ps");
  it.skipIf(!hasPs)("is understood by the ps of this machine", async () => {
    const now = psRowNow(process.pid);
    expect(now).toMatchObject({ pid: process.pid, ppid: process.ppid, zombie: false });
    expect(await psRows([process.pid, 2 ** 22])).toEqual([now]);
    expect(await psRows([2 ** 22])).toEqual([]);
    expect(psRowNow(2 ** 22)).toBeUndefined();
  });
  it.skipIf(process.platform !== "darwin")("shows the whole table on macOS", async () => {
    expect((await psSnapshot()).find((row) => row.pid === process.pid)).toMatchObject({ ppid: process.ppid });
  });
});
