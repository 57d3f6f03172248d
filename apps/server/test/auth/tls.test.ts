import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { loadTls } from "../../src/auth/tls.ts";
import { pinnedFetch } from "../../src/cli/pinned-fetch.ts";
import { startServer, temporaryFolders } from "../support/server.ts";
import { runToEnd, tributary } from "../support/process.ts";

const haveOpenssl = (() => {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    console.log("tls.test.ts is skipped: there is no openssl here to make a certificate with");
    return false;
  }
})();

const makePair = (dir: string, name: string) => {
  mkdirSync(dir, { recursive: true });
  const cert = join(dir, `${name}.pem`);
  const key = join(dir, `${name}.key`);
  const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync("openssl", [...args, "-subj", `/CN=${name}.example`, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { cert, key };
};

describe.skipIf(!haveOpenssl)("with a certificate", () => {
  it.live("serves https, and tells the pin of its key to whom it pairs", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      const files = makePair(folders.base, "laptop");
      const tls = yield* loadTls(files.cert, files.key);
      const expected = execFileSync(
        "sh",
        [
          "-c",
          'openssl x509 -in "$0" -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | openssl base64',
          files.cert,
        ],
        { encoding: "utf8" },
      ).trim();
      assert.strictEqual(tls.pin, `sha256/${expected}`);
      const server = yield* startServer(folders, { listen: { tls } });
      assert.match(server.url, /^https:/);
      yield* Effect.promise(async () => {
        const call = pinnedFetch(tls.cert);
        const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
        const started = await call(`${server.url}/pairings`, { method: "POST", headers, body: "{}" });
        assert.strictEqual(started.status, 200);
        const { url, pin } = (await started.json()) as { readonly url: string; readonly pin: string };
        assert.deepStrictEqual({ url, pin }, { url: server.url, pin: tls.pin });
        const cookie = await call(`${server.url}/auth/cookie`, { method: "POST", headers });
        assert.include(cookie.headers.get("set-cookie") ?? "", "Secure");
        // Another key is refused before anything is sent.
        const other = makePair(folders.base, "other");
        const stranger = await Effect.runPromise(loadTls(other.cert, other.key));
        const failed = await pinnedFetch(stranger.cert)(`${server.url}/threads`, { headers }).catch(
          (error: unknown) => error,
        );
        assert.instanceOf(failed, Error);
        // Nothing is answered in plain text.
        const plain = await fetch(server.url.replace("https:", "http:")).catch((error: unknown) => error);
        assert.instanceOf(plain, Error);
        const unknown = await new Promise((resolve) => {
          get(server.url, resolve).on("error", resolve);
        });
        assert.instanceOf(unknown, Error);
      });
    }),
  );

  it.live("is what the command line knows its own server by", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      const { cert, key } = makePair(folders.base, "laptop");
      const options = { cwd: folders.work, data: folders.data };
      const args = ["serve", "--port", "0", "--host", "0.0.0.0", "--tls-cert", cert, "--tls-key", key, "--json"];
      const running = yield* tributary(args, options);
      const line = yield* Effect.promise(() => running.printed("\n"));
      assert.match(JSON.parse(line.split("\n")[0] ?? "").url, /^https:\/\/127\.0\.0\.1:/);
      const listed = yield* runToEnd(["devices", "--json"], options);
      assert.deepStrictEqual(JSON.parse(listed.stdout), { devices: [] });
      assert.strictEqual(listed.code, 0);
    }),
  );

  it.live("is refused where the key is another's, and without one nobody else is served", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      const one = makePair(folders.base, "one");
      const two = makePair(folders.base, "two");
      const error = yield* Effect.flip(loadTls(one.cert, two.key));
      assert.match(error.message, /does not belong/);
      assert.match((yield* Effect.flip(loadTls(one.key, one.key))).message, /no certificate/);
      assert.match((yield* Effect.flip(loadTls(join(folders.base, "none"), one.key))).message, /no certificate/);
      const options = { cwd: folders.work, data: folders.data };
      const ended = yield* runToEnd(["serve", "--port", "0", "--host", "0.0.0.0"], options);
      assert.strictEqual(ended.code, 2);
      assert.match(ended.stderr, /--tls-cert FILE --tls-key FILE.*--tunnel URL/);
      const half = yield* runToEnd(["serve", "--port", "0", "--tls-cert", one.cert], options);
      assert.strictEqual(half.code, 2);
    }),
  );
});
