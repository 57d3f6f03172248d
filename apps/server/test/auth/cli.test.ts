import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Deferred, Effect, Fiber } from "effect";
import { devicesFile } from "../../src/auth/auth-file.ts";
import { runCommand } from "../../src/cli/main.ts";
import { Output } from "../../src/cli/output.ts";
import { qrText } from "../../src/cli/pair.ts";
import { tokenFile } from "../../src/config/token.ts";
import { freshServer, temporaryFolders } from "../support/server.ts";

/** Runs a command in this process, as nobody at a terminal would. `begun`: what it printed first. */
const command = (args: ReadonlyArray<string>) => {
  const written = { stdout: "", stderr: "" };
  const begun = Deferred.makeUnsafe<string>();
  const output = Output.of({
    out: (text) =>
      Effect.suspend(() => {
        written.stdout += text;
        return written.stdout.includes("\n\n") || written.stdout.startsWith("{")
          ? Effect.asVoid(Deferred.succeed(begun, written.stdout))
          : Effect.void;
      }),
    err: (text) => Effect.sync(() => void (written.stderr += text)),
  });
  const ended = Effect.map(Effect.provideService(runCommand(args), Output, output), ({ code, line = "" }) => ({
    code,
    stdout: written.stdout,
    stderr: `${written.stderr}${line}`,
  }));
  return { ended, begun: Deferred.await(begun) };
};
const run = (args: ReadonlyArray<string>) => command(args).ended;

describe("`tributary pair` and `tributary devices`", () => {
  it.live("let a second machine in, show it, and put it out", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const { base } = yield* temporaryFolders;
      const here = ["--server", server.url, "--token-file", tokenFile(server.data)];
      const pairing = command(["pair", "--yes", "--json", "--scopes", "observe,operate", ...here]);
      const pairs = yield* Effect.forkChild(pairing.ended);
      const started = JSON.parse(yield* pairing.begun);
      assert.strictEqual(started.qr, qrText(started));
      assert.deepStrictEqual(JSON.parse(started.qr), { tributary: 1, url: server.url, code: started.code });
      const file = join(base, "laptop.token");
      const there = ["--server", server.url, "--token-file", file];
      const claimed = yield* run(["pair", "claim", started.code, "--name", "Second", ...there]);
      assert.strictEqual(claimed.code, 0, claimed.stderr);
      assert.strictEqual(statSync(file).mode & 0o777, 0o600);
      const token = readFileSync(file, "utf8").trim();
      const paired = yield* Fiber.join(pairs);
      assert.strictEqual(paired.code, 0, paired.stderr);
      for (const said of [claimed.stdout, claimed.stderr, paired.stdout, paired.stderr]) assert.notInclude(said, token);
      const { deviceId } = JSON.parse(paired.stdout.trim().split("\n").at(-1) ?? "");
      const { devices } = JSON.parse((yield* run(["devices", "--json", ...there])).stdout);
      assert.lengthOf(devices, 1);
      assert.deepInclude(devices[0], { deviceId, name: "Second", current: true, scopes: ["observe", "operate"] });
      const table = yield* run(["devices", "list", ...here]);
      assert.match(table.stdout, new RegExp(`${deviceId}\\s+Second\\s+active`));
      const notAllowed = yield* run(["devices", "audit", ...there]);
      assert.strictEqual(notAllowed.code, 1);
      assert.match(notAllowed.stderr, /“admin”/);
      const revoked = yield* run(["devices", "revoke", deviceId, ...here]);
      assert.strictEqual(revoked.code, 0, revoked.stderr);
      const refused = yield* run(["threads", ...there]);
      assert.strictEqual(refused.code, 1);
      assert.match(refused.stderr, /revoked/);
      const audit = yield* run(["devices", "audit", ...here]);
      assert.match(audit.stdout, /pairing\.started[^]*device\.added[^]*device\.revoked/);
    }),
  );

  it.live("show a picture and the code, and let nobody in when they are stopped", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const here = ["--server", server.url, "--token-file", tokenFile(server.data)];
      const pairing = command(["pair", "--yes", ...here]);
      const pairs = yield* Effect.forkChild(pairing.ended);
      assert.match(yield* pairing.begun, /█|▀|▄/);
      yield* Fiber.interrupt(pairs);
      const { entries } = (yield* Effect.promise(() => server.call("/audit"))).body;
      assert.strictEqual(entries[0].type, "pairing.refused");
    }),
  );

  it.live("say what to do about a damaged file of devices", () =>
    Effect.gen(function* () {
      const { base } = yield* temporaryFolders;
      writeFileSync(devicesFile(base), '{"version": 1,');
      const ended = yield* run(["devices", "--data", base]);
      assert.strictEqual(ended.code, 1);
      assert.match(ended.stderr, /devices\.json .*line 1, column 15.*move it away/);
    }),
  );

  it.live("say how to be called", () =>
    Effect.gen(function* () {
      const { data } = yield* temporaryFolders;
      const calls: ReadonlyArray<readonly [ReadonlyArray<string>, number, RegExp]> = [
        [["pair"], 2, /--yes/],
        [["pair", "--yes"], 2, /tributary serve/],
        [["pair", "--yes", "--scopes", "root"], 2, /observe, answer, operate, diagnose, admin/],
        [["pair", "claim", "AAAAA-AAAAA"], 2, /--server URL/],
        [["devices"], 0, /^$/],
        [["devices", "revoke", "nobody"], 1, /no device nobody/],
      ];
      for (const [args, code, says] of calls) {
        const ended = yield* run([...args, "--data", data]);
        assert.strictEqual(ended.code, code, ended.stderr);
        assert.match(ended.stderr, says);
      }
    }),
  );
});
