import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Layer, Scope } from "effect";
import { AuthFile, AuthFileError, devicesFile } from "../../src/auth/auth-file.ts";
import { networkOf } from "../../src/auth/Attempts.ts";
import { client, freshServer, startServer, temporaryFolders } from "../support/server.ts";
import { is, openSse } from "../support/sse.ts";
import { answered, pairDevice } from "./devices.ts";

describe("the tokens of devices", () => {
  it.live("end with their revocation, and open streams within a second (I17)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const phone = yield* pairDevice(server);
      const other = yield* pairDevice(server);
      yield* Effect.promise(async () => {
        answered(200, await server.call("/threads", { body: { threadId: "T", cwd: server.work, instance: "demo" } }));
        const paths = ["/threads/T/live", "/live", "/live?threads=T", "/sessions/T/live"];
        const streams = await Promise.all(paths.map((path) => openSse(`${server.url}${path}`, phone)));
        const untouched = await openSse(`${server.url}/threads/T/live`, other);
        for (const stream of [...streams, untouched]) await stream.take(is("synced"));
        const started = performance.now();
        const revoked = answered(200, await server.call(`/devices/${phone.deviceId}`, { method: "DELETE" })).body;
        assert.strictEqual(revoked.state, "revoked");
        for (const stream of streams) assert.isUndefined(await stream.next());
        assert.isBelow(performance.now() - started, 1000);
        const refused = await phone.call("/threads");
        assert.strictEqual(refused.status, 401);
        assert.match(refused.body.detail, /revoked/);
        // Nobody else notices.
        await server.call("/threads/T", { method: "PATCH", body: { title: "on" } });
        await untouched.take((frame) => is("event")(frame) && frame.data.payload.title === "on");
        untouched.close();
      });
    }),
  );

  it.live("end also the connection of a client that does not read (I17)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const phone = yield* pairDevice(server);
      yield* Effect.promise(async () => {
        answered(200, await server.call("/threads", { body: { threadId: "T", cwd: server.work, instance: "demo" } }));
        // More than sockets hold for a reader who does not read.
        const title = "x".repeat(2 * 1024 * 1024);
        for (let count = 0; count < 10; count += 1)
          answered(200, await server.call("/threads/T", { method: "PATCH", body: { title: `${title}${count}` } }));
        const { hostname, port, host } = new URL(server.url);
        const socket = connect(Number(port), hostname);
        let text = "";
        await new Promise<void>((resolve) => {
          socket.setEncoding("latin1").once("data", (piece: string) => {
            socket.pause();
            text += piece;
            resolve();
          });
          socket.write(`GET /threads/T/live HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${phone.token}\r\n\r\n`);
        });
        assert.match(text, /^HTTP\/1\.1 200/);
        answered(200, await server.call(`/devices/${phone.deviceId}`, { method: "DELETE" }));
        // The second that it has.
        await delay(1000);
        const closed = once(socket, "close");
        socket.on("data", (piece: string) => (text += piece)).on("error", () => undefined);
        socket.resume();
        await closed;
        // It was cut: neither the rest nor the end of the answer was sent.
        assert.isBelow(text.length, 10 * title.length);
        assert.notMatch(text, /\r\n0\r\n\r\n$/);
      });
    }),
  );

  it.live("expire, with their streams, and say so", () =>
    Effect.gen(function* () {
      const server = yield* startServer(yield* temporaryFolders, { lifetimes: { device: 700 } });
      const phone = yield* pairDevice(server);
      yield* Effect.promise(async () => {
        const stream = await openSse(`${server.url}/live`, phone);
        await stream.take(is("synced"));
        assert.isUndefined(await stream.next());
        const refused = await phone.call("/threads");
        assert.strictEqual(refused.status, 401);
        assert.match(refused.body.detail, /expired/);
        assert.strictEqual((await server.call("/devices")).body.devices[0].state, "expired");
      });
    }),
  );

  it.live("are hashed at rest, in a file for their owner alone", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const phone = yield* pairDevice(server);
      const file = devicesFile(server.data);
      const text = readFileSync(file, "utf8");
      assert.include(text, phone.deviceId);
      assert.notInclude(text, phone.token);
      assert.strictEqual(statSync(file).mode & 0o777, 0o600);
    }),
  );

  it.live("and their revocations survive a restart", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      const scope = yield* Scope.make();
      const before = yield* Scope.provide(startServer(folders), scope);
      const kept = yield* pairDevice(before);
      const gone = yield* pairDevice(before);
      yield* Effect.promise(() => before.call(`/devices/${gone.deviceId}`, { method: "DELETE" }));
      yield* Scope.close(scope, Exit.void);
      const after = yield* startServer(folders);
      yield* Effect.promise(async () => {
        assert.strictEqual((await client(after.url, kept.token)("/threads")).status, 200);
        const refused = await client(after.url, gone.token)("/threads");
        assert.strictEqual(refused.status, 401);
        assert.match(refused.body.detail, /revoked/);
        const { devices } = (await after.call("/devices")).body;
        assert.deepStrictEqual(
          devices.map(({ state }: { readonly state: string }) => state),
          ["active", "revoked"],
        );
        assert.isString(devices[0].lastSeenAt);
      });
    }),
  );

  it.live("of one server mean nothing to another", () =>
    Effect.gen(function* () {
      const one = yield* freshServer;
      const two = yield* freshServer;
      const phone = yield* pairDevice(one);
      yield* Effect.promise(async () => {
        for (const token of [phone.token, one.token]) {
          const refused = await client(two.url, token)("/threads");
          assert.strictEqual(refused.status, 401);
          assert.match(refused.body.detail, /not valid/);
        }
      });
    }),
  );

  it.live("may be given up by their device, and taken from others by the owner alone", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const phone = yield* pairDevice(server);
      const tablet = yield* pairDevice(server);
      yield* Effect.promise(async () => {
        // A device sees itself.
        assert.deepStrictEqual(
          (await phone.call("/devices")).body.devices.map(({ deviceId }: { readonly deviceId: string }) => deviceId),
          [phone.deviceId],
        );
        const refused = await phone.call(`/devices/${tablet.deviceId}`, { method: "DELETE" });
        assert.strictEqual(refused.status, 403);
        assert.match(refused.body.detail, /“admin”/);
        assert.strictEqual((await phone.call(`/devices/${phone.deviceId}`, { method: "DELETE" })).status, 200);
        assert.strictEqual((await phone.call("/devices")).status, 401);
        assert.strictEqual((await tablet.call("/devices")).status, 200);
        assert.strictEqual((await server.call("/devices/nobody", { method: "DELETE" })).status, 404);
      });
    }),
  );

  it.live("that are right pass, however many wrong ones came from the same address", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const phone = yield* pairDevice(server);
      yield* Effect.promise(async () => {
        const { maxWrongTokensPerMinute: most } = (await server.call("/limits")).body;
        let last = await server.call("/threads", { token: "wrong" });
        for (let attempt = 0; attempt < most; attempt += 1) last = await server.call("/threads", { token: "wrong" });
        assert.strictEqual(last.status, 429);
        assert.isString(last.body.retryAt);
        assert.strictEqual((await phone.call("/threads")).status, 200);
        assert.strictEqual((await server.call("/threads")).status, 200);
      });
    }),
  );
});

describe("the devices file", () => {
  const opened = (dir: string) => Effect.scoped(Layer.build(AuthFile.layer(dir)));

  it.live.each([
    "{",
    '{"version": 2, "devices": [], "cookies": []}',
    '{"version": 1, "devices": [{"id": 1}], "cookies": []}',
  ])("that can't be read is a refusal that says what to do: %s", (text) =>
    Effect.gen(function* () {
      const { base } = yield* temporaryFolders;
      writeFileSync(devicesFile(base), text);
      const error = yield* Effect.flip(opened(base));
      assert.instanceOf(error, AuthFileError);
      assert.include(error.message, devicesFile(base));
      assert.match(error.message, /move it away/);
    }),
  );
});

describe("the network of an address", () => {
  it.each([
    ["127.0.0.1", "127.0.0.1"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
    ["::1", "0:0:0:0::/64"],
    ["local", "local"],
  ])("%s counts as %s", (address, network) => {
    assert.strictEqual(networkOf(address), network);
  });
});
