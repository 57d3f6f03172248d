import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "@effect/vitest";
import { Deferred, Effect, Exit, Fiber, Scope, Stream } from "effect";

import {
  type AgentHandle,
  type AgentOptions,
  endTree,
  isAlive,
  OversizeLine,
  type SpawnError,
  spawnAgent,
} from "../../src/process/index.ts";
import { childOptions, leftovers, newMarker, nextLine, spawnChild } from "./children.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "tributary-process-")));

const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64");

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  expect(await Effect.runPromise(leftovers)).toEqual([]);
});

describe("a supervised process", () => {
  it.live("speaks line by line and tells how it ended", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("echo");
      yield* handle.write("one");
      yield* handle.write("zwölf \u2028 😀");
      yield* handle.endInput;
      expect(yield* Stream.runCollect(handle.lines)).toEqual(["one", "zwölf \u2028 😀"]);
      expect(yield* handle.exit).toEqual({ exitCode: 0, stderrTail: "" });
    }),
  );

  it.live("is identified before anything else happens, and that incarnation only is alive", () =>
    Effect.gen(function* () {
      const stored: Array<unknown> = [];
      const marker = newMarker();
      const options = { ...childOptions("echo"), marker };
      const handle = yield* spawnAgent({
        ...options,
        onSpawned: (identity) => Effect.sync(() => stored.push(identity)),
      });
      expect(stored).toEqual([handle.identity]);
      expect(handle.identity.marker).toBe(marker);
      expect(handle.identity.startTime).toMatch(/^\d+$/);
      expect(handle.identity.bootId).not.toBe("");
      expect(yield* isAlive(handle.identity)).toBe(true);
      expect(yield* isAlive({ ...handle.identity, startTime: "1" })).toBe(false);
      expect(yield* isAlive({ ...handle.identity, bootId: "another boot" })).toBe(false);
      yield* handle.end();
      expect(yield* isAlive(handle.identity)).toBe(false);
    }),
  );

  it.live("is ended when its identity could not be stored", () =>
    Effect.gen(function* () {
      const spawned = yield* Deferred.make<{ pid: number; startTime: string; bootId: string }>();
      const failed = yield* Effect.flip(
        spawnAgent({
          ...childOptions("stubborn"),
          termGrace: 0,
          onSpawned: (identity) => Effect.andThen(Deferred.succeed(spawned, identity), Effect.fail("disk full")),
        }),
      );
      expect(failed).toBe("disk full");
      expect(yield* isAlive(yield* Deferred.await(spawned))).toBe(false);
    }),
  );

  it.live("runs in its own group, with the allowed environment and the marker, in its folder", () =>
    Effect.gen(function* () {
      process.env["TRIBUTARY_TEST_SECRET"] = "secret";
      process.env["CLAUDECODE"] = "1";
      const handle = yield* spawnChild("environment", undefined, { cwd: folder, env: { OWN: "own" } });
      const said: unknown = JSON.parse(yield* nextLine(handle));
      expect(said).toMatchObject({ cwd: folder, env: { OWN: "own", TRIBUTARY_MARKER: handle.identity.marker } });
      expect(said).not.toHaveProperty("env.TRIBUTARY_TEST_SECRET");
      expect(said).not.toHaveProperty("env.CLAUDECODE");
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          delete process.env["TRIBUTARY_TEST_SECRET"];
          delete process.env["CLAUDECODE"];
        }),
      ),
    ),
  );

  it.live("tells the signal that ended it", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("stubborn");
      yield* nextLine(handle);
      const report = yield* handle.end({ grace: 0 });
      expect(report.left).toEqual([]);
      expect(report.killed.map((row) => row.pid)).toEqual([handle.identity.pid]);
      expect(yield* handle.exit).toEqual({ signal: "SIGKILL", stderrTail: "" });
    }),
  );

  it.live("keeps the end of stderr, with a character that came in two pieces", () =>
    Effect.gen(function* () {
      const euro = Buffer.from("€");
      const stderr = [base64("x".repeat(5000)), base64(euro.subarray(0, 1)), base64(euro.subarray(1)), base64("!\n")];
      const handle = yield* spawnChild("exit", { code: 7, stderr });
      const exit = yield* handle.exit;
      expect(exit.exitCode).toBe(7);
      expect(exit.stderrTail).toBe(`${"x".repeat(4096 - 5)}€!\n`);
    }),
  );

  it.live("keeps the end of stderr valid where the cut goes through a character", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("exit", { code: 1, stderr: [base64("€".repeat(3000))] });
      // 4096 bytes hold 1365 characters of three bytes, and one byte of another.
      expect((yield* handle.exit).stderrTail).toBe("€".repeat(1365));
    }),
  );

  it.live("keeps what comes on stderr right after the exit, and does not wait for a leftover that holds it", () =>
    Effect.gen(function* () {
      const shell = { ...childOptions("none"), command: "/bin/sh", termGrace: 100 };
      const late = yield* spawnAgent({ ...shell, args: ["-c", "trap '' TERM; (sleep 0.05; echo late >&2) & exit 4"] });
      expect(yield* late.exit).toEqual({ exitCode: 4, stderrTail: "late\n" });
      const held = yield* spawnAgent({
        ...shell,
        termGrace: "1 hour",
        marker: newMarker(),
        args: ["-c", "trap '' TERM; (while :; do sleep 1; done) & exit 5"],
      });
      expect(yield* held.exit).toEqual({ exitCode: 5, stderrTail: "" });
      expect((yield* held.observe).length).toBeGreaterThan(0);
      expect((yield* endTree({ marker: held.identity.marker }, { termGrace: 0 })).left).toEqual([]);
    }),
  );

  it.live("delivers what an unread child wrote before it exited", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("bytes", [base64("first\nsec"), base64("ond\r\nunfinished")]);
      yield* handle.exit;
      expect(yield* Stream.runCollect(handle.lines)).toEqual(["first", "second", "unfinished"]);
    }),
  );

  it.live("delivers bytes as they came: split characters, separators that end no line, noise", () =>
    Effect.gen(function* () {
      const text = Buffer.from("😀\u2028a\rb\u2029\n\u0000noise\n");
      const handle = yield* spawnChild("bytes", [...Array.from(text, (byte) => base64(Uint8Array.of(byte))), "/wo="]);
      expect(yield* Stream.runCollect(handle.lines)).toEqual(["😀\u2028a\rb\u2029", "\u0000noise", "\uFFFD"]);
    }),
  );

  it.live("delivers lines of 1 MB whole", () =>
    Effect.gen(function* () {
      const bytes = 1_000_000;
      const handle = yield* spawnChild("lines", { count: 8, bytes });
      const lines = yield* Stream.runCollect(handle.lines);
      expect(lines.map((line) => [typeof line === "string" ? line.length : line, String(line).slice(0, 3)])).toEqual(
        Array.from({ length: 8 }, (_, index) => [bytes, `${index}:x`]),
      );
    }),
  );

  it.live("reports a line above the cap and delivers the others", () =>
    Effect.gen(function* () {
      const pieces = [base64("small\n"), { text: "z", times: 200_000 }, base64("\nafter\n")];
      const handle = yield* spawnChild("bytes", pieces, { maxLineBytes: 65_536 });
      expect(yield* Stream.runCollect(handle.lines)).toEqual([
        "small",
        new OversizeLine(200_000, "z".repeat(1024)),
        "after",
      ]);
    }),
  );

  it.live("waits while nobody reads, and goes on when someone does", () =>
    Effect.gen(function* () {
      const total = 50 * 1024 * 1024;
      const handle = yield* spawnChild("flood", total);
      yield* nextLine(handle);
      const written = yield* settledProgress(handle.stderrTail);
      // What was taken, Node's buffer and the pipe: far from everything.
      expect(written).toBeLessThan(4 * 1024 * 1024);
      const rest = yield* Stream.runFold(
        handle.lines,
        () => 0,
        (bytes, line) => bytes + String(line).length + 1,
      );
      // The first pull took a whole chunk and used one line of it.
      expect(rest).toBeGreaterThan(total - 512 * 1024);
      expect((yield* handle.exit).exitCode).toBe(0);
    }),
  );

  it.live("is ended although nobody reads it", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("flood", 50 * 1024 * 1024);
      yield* nextLine(handle);
      expect((yield* handle.end()).left).toEqual([]);
      expect(yield* handle.exit).toMatchObject({ signal: "SIGTERM" });
    }),
  );

  it.live("makes the writer wait when it does not read, and fails the write when it is ended", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("deaf");
      yield* nextLine(handle);
      const stuck = yield* Effect.forkChild(Effect.flip(handle.write("x".repeat(8 * 1024 * 1024))), {
        startImmediately: true,
      });
      yield* handle.end({ grace: 0 });
      expect(yield* Fiber.join(stuck)).toMatchObject({ _tag: "StdinClosed", reason: "broken", wrote: "unknown" });
      expect(yield* Effect.flip(handle.write("more"))).toMatchObject({ reason: "ended", wrote: "nothing" });
    }),
  );

  it.live("refuses to write after the end of input", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("echo");
      yield* handle.endInput;
      expect(yield* Effect.flip(handle.write("late"))).toMatchObject({ _tag: "StdinClosed", wrote: "nothing" });
    }),
  );

  it.live("may close its stdout and live on", () =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("mute");
      expect(yield* Stream.runCollect(handle.lines)).toEqual(["last words"]);
      expect(yield* isAlive(handle.identity)).toBe(true);
      yield* handle.endInput;
      expect((yield* handle.exit).exitCode).toBe(0);
    }),
  );

  it.live("ends with its scope", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make();
      const handle = yield* Scope.provide(spawnChild("stubborn", undefined, { termGrace: 0 }), scope);
      yield* nextLine(handle);
      yield* Scope.close(scope, Exit.void);
      expect(yield* isAlive(handle.identity)).toBe(false);
      expect(yield* handle.exit).toMatchObject({ signal: "SIGKILL" });
    }),
  );
});

describe("a process that does not start", () => {
  const refusal = (options: AgentOptions): Effect.Effect<SpawnError, AgentHandle> =>
    Effect.scoped(Effect.flip(spawnAgent(options)));
  const base = { args: [], cwd: folder, marker: newMarker() };

  it.live("names a missing command, folder and permission", () =>
    Effect.gen(function* () {
      const plain = join(folder, "plain");
      writeFileSync(plain, "not a program", { mode: 0o644 });
      const scripted = join(folder, "scripted");
      writeFileSync(scripted, "#!/no/such/interpreter\n", { mode: 0o755 });

      const missing = yield* refusal({ ...base, command: "no-such-agent" });
      expect(missing).toMatchObject({ _tag: "SpawnError", reason: "command_not_found" });
      expect(missing.message).toContain("no-such-agent");
      expect(yield* refusal({ ...base, command: process.execPath, cwd: join(folder, "gone") })).toMatchObject({
        reason: "cwd_missing",
      });
      expect(yield* refusal({ ...base, command: process.execPath, cwd: plain })).toMatchObject({
        reason: "cwd_missing",
      });
      expect(yield* refusal({ ...base, command: plain })).toMatchObject({ reason: "not_executable" });
      expect(yield* refusal({ ...base, command: scripted })).toMatchObject({ reason: "not_executable" });
      expect(yield* refusal({ ...base, command: join(plain, "x") })).toMatchObject({ reason: "command_not_found" });
    }),
  );

  it.live("names arguments that are too large or impossible, without telling values", () =>
    Effect.gen(function* () {
      const command = process.execPath;
      expect(yield* refusal({ ...base, command, args: ["x".repeat(8 * 1024 * 1024)] })).toMatchObject({
        reason: "too_large",
      });
      const withNul = yield* refusal({ ...base, command, env: { KEY: "secret\0value" } });
      expect(withNul.reason).toBe("invalid_argument");
      expect(JSON.stringify(withNul)).not.toContain("secret");
      expect(yield* refusal({ ...base, command, marker: "has space" })).toMatchObject({ reason: "invalid_argument" });
      expect(yield* refusal({ ...base, command: "" })).toMatchObject({ reason: "invalid_argument" });
    }),
  );
});

/** How far a flooding child says it got, once that has stopped changing. */
const settledProgress = (stderrTail: Effect.Effect<string>): Effect.Effect<number> =>
  Effect.gen(function* () {
    let last = "";
    for (let same = 0; same < 5;) {
      yield* Effect.sleep(20);
      const now = yield* stderrTail;
      same = now === last && now !== "" ? same + 1 : 0;
      last = now;
    }
    return Number(last.trimEnd().split("\n").at(-1));
  });
