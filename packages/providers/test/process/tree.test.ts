import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { afterAll, afterEach, describe, expect, it } from "@effect/vitest";
import { Effect, Exit, Fiber, Scope, Stream } from "effect";
import { TestClock } from "effect/testing";

import {
  type AgentHandle,
  bootId,
  endTree,
  findSurvivors,
  identity,
  isAlive,
  type ProcessIdentity,
  snapshot,
} from "../../src/process/index.ts";
import { childOptions, leftovers, newMarker, nextLine, runs, spawnChild } from "./children.ts";

const folder = mkdtempSync(join(tmpdir(), "tributary-tree-"));

/** Processes that a test starts itself, to be ended whatever happens. */
const strangers: Array<ReturnType<typeof spawn>> = [];

afterEach(() => {
  for (const stranger of strangers.splice(0)) stranger.kill("SIGKILL");
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  expect(await Effect.runPromise(leftovers)).toEqual([]);
});

const startStranger = (
  environment: Record<string, string> = {},
): { readonly pid: number; readonly known: ProcessIdentity } => {
  const stranger = spawn("/bin/sleep", ["600"], { detached: true, stdio: "ignore", env: environment });
  strangers.push(stranger);
  const known = identity(stranger.pid ?? -1);
  if (known === undefined) throw new Error("the stranger did not start");
  return { pid: known.pid, known };
};

const identityOf = (pid: number): ProcessIdentity => {
  const known = identity(pid);
  if (known === undefined) throw new Error(`no process ${pid}`);
  return known;
};

const shellsOf = (handle: AgentHandle): Effect.Effect<ReadonlyArray<number>> =>
  Effect.map(nextLine(handle), (line) => JSON.parse(line) as ReadonlyArray<number>);

describe("endTree", () => {
  it.live("ends grandchildren in the group and in sessions of their own that ignore TERM (pain 23)", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("tree", {
        shells: [{}, { ownSession: true, ignoresTerm: true }, { ownSession: true, cleanEnvironment: true }],
      });
      const shells = yield* shellsOf(handle);
      const before = shells.map(identityOf);
      const report = yield* endTree(targetOf(handle), { termGrace: 300 });
      expect(report.left).toEqual([]);
      expect(pidsOf(report.found)).toEqual(expect.arrayContaining([handle.identity.pid, ...shells]));
      expect(pidsOf(report.killed)).toContain(shells[1]);
      expect(pidsOf(report.killed)).not.toContain(shells[0]);
      for (const one of [handle.identity, ...before]) expect(yield* isAlive(one)).toBe(false);
    }),
  );

  it.effect("waits the grace on Effect's clock before it kills", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("stubborn");
      yield* nextLine(handle);
      const ending = yield* Effect.forkChild(endTree(targetOf(handle), { termGrace: "1 hour" }), {
        startImmediately: true,
      });
      yield* TestClock.adjust("59 minutes");
      expect(ending.pollUnsafe()).toBeUndefined();
      expect(yield* isAlive(handle.identity)).toBe(true);
      yield* TestClock.adjust("1 minute");
      const report = yield* Fiber.join(ending);
      expect(pidsOf(report.killed)).toEqual([handle.identity.pid]);
      expect(report.left).toEqual([]);
    }),
  );

  it.live("ends a tree that answers TERM with new processes", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("tree", {
        shells: [{ respawns: true, cleanEnvironment: true }, { respawns: true }],
      });
      const shells = yield* shellsOf(handle);
      const report = yield* endTree(targetOf(handle), { termGrace: 300 });
      const shellsFound = report.found.filter((row) => row.command === "sh");
      expect(shellsFound.length).toBeGreaterThan(shells.length);
      expect(report.left).toEqual([]);
    }),
  );

  it.live("misses no process that is born while it looks", () =>
    Effect.gen(function* () {
      const program = join(folder, `leaf-${process.pid}`);
      symlinkSync("/bin/sleep", program);
      const handle = yield* spawnChild("breeder", { program, count: 500 });
      yield* nextLine(handle);
      const report = yield* endTree(targetOf(handle), { termGrace: 0 });
      const missed = (yield* snapshot).filter((row) => row.command === basename(program) && !row.zombie);
      for (const { pid } of missed) process.kill(pid, "SIGKILL");
      expect(missed).toEqual([]);
      expect(report.found.length).toBeGreaterThan(10);
    }),
  );

  it.live("ends stopped processes", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("echo");
      process.kill(handle.identity.pid, "SIGSTOP");
      expect((yield* endTree(targetOf(handle), { termGrace: 50 })).left).toEqual([]);
    }),
  );

  it.live("finds nothing of a tree that is gone, and signals nobody", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("echo");
      yield* handle.end();
      expect(yield* endTree(targetOf(handle))).toEqual({ found: [], killed: [], left: [] });
    }),
  );

  it.live("leaves a process alone whose pid is right and whose start time or boot is not", () =>
    Effect.gen(function* () {
      const stranger = startStranger();
      const later = String(Number(stranger.known.startTime) - 1);
      for (const identity of [
        { ...stranger.known, startTime: later },
        { ...stranger.known, startTime: "" },
        { ...stranger.known, bootId: `not ${bootId()}` },
      ]) {
        const target = { identity, marker: newMarker(), seen: [identity] };
        expect(yield* endTree(target, { termGrace: 0 })).toEqual({ found: [], killed: [], left: [] });
      }
      expect(yield* isAlive(stranger.known)).toBe(true);
      // The same with the right identity does end it.
      expect(pidsOf((yield* endTree({ identity: stranger.known }, { termGrace: 500 })).found)).toEqual([stranger.pid]);
      expect(yield* isAlive(stranger.known)).toBe(false);
    }),
  );

  it.live("never signals this process", () =>
    Effect.gen(function* () {
      const self = identityOf(process.pid);
      expect(yield* endTree({ identity: self, seen: [self] }, { termGrace: 0 })).toMatchObject({ found: [], left: [] });
    }),
  );
});

describe("findSurvivors", () => {
  it.live("finds an orphan of init by the marker, and only that marker's", () =>
    Effect.gen(function* () {
      const marker = newMarker();
      const stranger = startStranger({ TRIBUTARY_MARKER: `${marker}-other`, OTHER: `TRIBUTARY_MARKER=${marker}` });
      const orphan = yield* orphanOf(marker);
      expect(yield* findSurvivors({ marker })).toEqual([
        expect.objectContaining({ pid: orphan, marker: { state: "carried", marker }, command: "sh" }),
        expect.objectContaining({ command: "sleep", marker: { state: "carried", marker } }),
      ]);
      const report = yield* endTree({ marker }, { termGrace: 0 });
      expect(pidsOf(report.found)).toContain(orphan);
      expect(report.left).toEqual([]);
      expect(yield* runs(orphan)).toBe(false);
      expect(yield* isAlive(stranger.known)).toBe(true);
    }),
  );
});

describe("a supervised tree", () => {
  it.live("loses its leftovers when its process ends by itself", () =>
    Effect.gen(function* () {
      const shells = [
        { holdsStdout: true, cleanEnvironment: true },
        { ownSession: true, ignoresTerm: true },
      ];
      for (const afterwards of ["exit", "die"]) {
        const handle = yield* spawnChild("tree", { shells, afterwards }, { termGrace: 100 });
        const left = yield* shellsOf(handle);
        expect(yield* handle.exit).toMatchObject(afterwards === "exit" ? { exitCode: 3 } : { signal: "SIGKILL" });
        // A shell holds stdout open: the lines end only because that shell is ended.
        expect(yield* Stream.runCollect(handle.lines)).toEqual([]);
        yield* handle.end();
        for (const pid of left) expect(yield* runs(pid)).toBe(false);
      }
    }),
  );

  it.live("finds what it observed even after that lost parent, session and marker", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("tree", { shells: [{ ownSession: true, cleanEnvironment: true }] });
      const [shell] = yield* shellsOf(handle);
      expect(pidsOf(yield* handle.observe)).toEqual(expect.arrayContaining([handle.identity.pid, shell]));
      process.kill(handle.identity.pid, "SIGKILL");
      yield* handle.exit;
      yield* handle.end();
      expect(yield* runs(shell)).toBe(false);
    }),
  );

  it.live("is ended with its scope, sessions of its own included", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make();
      const shells = [{ ownSession: true, ignoresTerm: true }];
      const handle = yield* Scope.provide(spawnChild("tree", { shells }, { termGrace: 0 }), scope);
      const [shell] = yield* shellsOf(handle);
      yield* Scope.close(scope, Exit.void);
      expect(yield* runs(shell)).toBe(false);
    }),
  );
});

const targetOf = (handle: AgentHandle) => ({ identity: handle.identity, marker: handle.identity.marker });

const pidsOf = (rows: ReadonlyArray<{ readonly pid: number }>): ReadonlyArray<number> => rows.map((row) => row.pid);

/** A shell in a session of its own whose parent is gone; started without supervision, as a killed host leaves it. */
const orphanOf = (marker: string): Effect.Effect<number> =>
  Effect.callback((resume) => {
    const { args } = childOptions("tree", { shells: [{ ownSession: true, ignoresTerm: true }], afterwards: "exit" });
    const env = { ...process.env, TRIBUTARY_MARKER: marker };
    const parent = spawn(process.execPath, args, { detached: true, stdio: ["ignore", "pipe", "ignore"], env });
    let said = "";
    parent.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    parent.once("close", () => resume(Effect.succeed(Number((JSON.parse(said) as ReadonlyArray<number>)[0]))));
  });
