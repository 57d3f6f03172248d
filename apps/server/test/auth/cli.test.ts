import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { qrText } from "../../src/cli/pair.ts";
import { temporaryFolders } from "../support/server.ts";
import { runToEnd, serveProcess, tributary } from "../support/process.ts";

describe("`tributary pair` and `tributary devices`", () => {
  it.live("let a second machine in, show it, and put it out", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      const here = { cwd: folders.work, data: folders.data };
      const there = { cwd: folders.work, data: join(folders.base, "elsewhere") };
      const { url } = yield* serveProcess(here);
      const pairing = yield* tributary(["pair", "--yes", "--json", "--scopes", "observe,operate"], here);
      const line = (yield* Effect.promise(() => pairing.printed("\n"))).split("\n")[0] ?? "";
      const started = JSON.parse(line);
      assert.strictEqual(started.qr, qrText(started));
      assert.deepStrictEqual(JSON.parse(started.qr), { tributary: 1, url, code: started.code });
      const file = join(folders.base, "laptop.token");
      const remote = ["--server", url, "--token-file", file];
      const claimed = yield* runToEnd(["pair", "claim", started.code, "--name", "Second", ...remote], there);
      assert.strictEqual(claimed.code, 0, claimed.stderr);
      assert.strictEqual(statSync(file).mode & 0o777, 0o600);
      const token = readFileSync(file, "utf8").trim();
      const paired = yield* Effect.promise(() => pairing.ended);
      assert.strictEqual(paired.code, 0, paired.stderr);
      for (const said of [claimed.stdout, claimed.stderr, paired.stdout, paired.stderr]) assert.notInclude(said, token);
      const { deviceId } = JSON.parse(paired.stdout.trim().split("\n").at(-1) ?? "");
      const seen = yield* runToEnd(["devices", "--json", ...remote], there);
      const { devices } = JSON.parse(seen.stdout);
      assert.lengthOf(devices, 1);
      assert.deepInclude(devices[0], { deviceId, name: "Second", current: true, scopes: ["observe", "operate"] });
      const table = yield* runToEnd(["devices", "list"], here);
      assert.match(table.stdout, new RegExp(`${deviceId}\\s+Second\\s+active`));
      const notAllowed = yield* runToEnd(["devices", "audit", ...remote], there);
      assert.strictEqual(notAllowed.code, 1);
      assert.match(notAllowed.stderr, /“admin”/);
      const revoked = yield* runToEnd(["devices", "revoke", deviceId], here);
      assert.strictEqual(revoked.code, 0, revoked.stderr);
      const refused = yield* runToEnd(["threads", ...remote], there);
      assert.strictEqual(refused.code, 1);
      assert.match(refused.stderr, /revoked/);
      const audit = yield* runToEnd(["devices", "audit"], here);
      assert.match(audit.stdout, /pairing\.started[^]*device\.added[^]*device\.revoked/);
    }),
  );

  it.live("show a picture and the code, and let nobody in when they are stopped", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      const here = { cwd: folders.work, data: folders.data };
      yield* serveProcess(here);
      const pairing = yield* tributary(["pair", "--yes"], here);
      const text = yield* Effect.promise(() => pairing.printed("until "));
      assert.match(text, /█|▀|▄/);
      const code = /code\s+(\S+)/.exec(text)?.[1] ?? "";
      assert.match(code, /^[0-9A-Z]{5}-[0-9A-Z]{5}$/);
      pairing.kill("SIGINT");
      const { code: exit } = yield* Effect.promise(() => pairing.ended);
      assert.strictEqual(exit, 130);
      const audit = yield* runToEnd(["devices", "audit", "--json"], here);
      assert.strictEqual(JSON.parse(audit.stdout).entries[0].type, "pairing.refused");
    }),
  );

  it.live("say how to be called", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      const here = { cwd: folders.work, data: folders.data };
      const calls: ReadonlyArray<readonly [ReadonlyArray<string>, number, RegExp]> = [
        [["pair"], 2, /--yes/],
        [["pair", "--yes"], 2, /tributary serve/],
        [["pair", "--yes", "--scopes", "root"], 2, /observe, answer, operate, diagnose, admin/],
        [["pair", "claim", "AAAAA-AAAAA"], 2, /--server URL/],
        [["devices"], 0, /^$/],
        [["devices", "revoke", "nobody"], 1, /no device nobody/],
      ];
      for (const [args, code, says] of calls) {
        const ended = yield* runToEnd(args, here);
        assert.strictEqual(ended.code, code, ended.stderr);
        assert.match(ended.stderr, says);
      }
    }),
  );
});
