import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { identityOf } from "@tributary/store";
import { Effect } from "effect";
import { loadTls } from "../../src/auth/tls.ts";
import { runCommand } from "../../src/cli/main.ts";
import { Output } from "../../src/cli/output.ts";
import { pinnedFetch } from "../../src/cli/pinned-fetch.ts";
import { writeServerFile } from "../../src/server-file.ts";
import { startServer, temporaryFolders } from "../support/server.ts";

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
      const tls = yield* loadTls(cert, key);
      const { url, data } = yield* startServer(folders, { listen: { tls } });
      const identity = identityOf(process.pid) ?? { pid: process.pid, startTime: "", bootId: "" };
      writeServerFile(data, { ...identity, url, since: "2026-01-01T00:00:00.000Z", certificate: tls.cert });
      let text = "";
      const output = { out: (more: string) => Effect.sync(() => void (text += more)), err: () => Effect.void };
      const listed = yield* Effect.provideService(runCommand(["devices", "--json", "--data", data]), Output, output);
      assert.deepStrictEqual(listed, { code: 0 });
      assert.deepStrictEqual(JSON.parse(text), { devices: [] });
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
      const serve = ["serve", "--port", "0", "--data", folders.data];
      const open = yield* runCommand([...serve, "--host", "0.0.0.0"]);
      assert.strictEqual(open.code, 2);
      assert.match(open.line ?? "", /--tls-cert FILE --tls-key FILE.*--tunnel URL/);
      assert.strictEqual((yield* runCommand([...serve, "--tls-cert", one.cert])).code, 2);
      assert.strictEqual((yield* runCommand([...serve, "--tls-cert", one.cert, "--tls-key", two.key])).code, 1);
    }),
  );
});
