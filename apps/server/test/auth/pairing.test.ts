import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { tidyName } from "../../src/auth/Pairings.ts";
import { readCode } from "../../src/auth/secrets.ts";
import { client, freshServer, startServer, temporaryFolders } from "../support/server.ts";
import { claim, collect, decide, pairDevice, startPairing } from "./devices.ts";

describe("pairing", () => {
  it.live("lets a device in once it was claimed and confirmed, with the usual scopes", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* Effect.promise(async () => {
        const started = await startPairing(server);
        assert.match(started.code, /^[0-9A-Z]{5}-[0-9A-Z]{5}$/);
        assert.strictEqual(started.url, server.url);
        assert.isUndefined(started.pin);
        const left = Date.parse(started.expiresAt) - Date.now();
        assert.isTrue(left > 290_000 && left <= 300_000, `${left}`);
        const { pairingId } = started;
        const state = async () => (await server.call(`/pairings/${pairingId}`)).body;
        assert.deepInclude(await state(), { state: "waiting", scopes: ["observe", "answer", "operate"] });
        // As a person types it.
        const claimed = await claim(server, ` ${started.code.toLowerCase().replace("-", " ")} `, "My phone");
        assert.strictEqual(claimed.status, 200);
        assert.strictEqual(claimed.body.pairingId, pairingId);
        const seen = await state();
        assert.strictEqual(seen.state, "claimed");
        assert.deepInclude(seen.claimedBy, { name: "My phone", address: "127.0.0.1" });
        const { secret } = claimed.body;
        assert.deepStrictEqual((await collect(server, pairingId, secret)).body, { state: "waiting" });
        // Waits for the decision instead of asking again.
        const [collected, confirmed] = await Promise.all([
          collect(server, pairingId, secret, 20_000),
          decide(server, pairingId, "confirm"),
        ]);
        assert.strictEqual(confirmed.status, 200);
        assert.deepInclude(collected.body, {
          state: "confirmed",
          name: "My phone",
          scopes: ["observe", "answer", "operate"],
        });
        assert.match(collected.body.token, /^[\w-]{43}$/);
        assert.notStrictEqual(collected.body.token, server.token);
        // Once.
        assert.deepStrictEqual((await collect(server, pairingId, secret)).body, { state: "collected" });
        assert.deepInclude(await state(), { state: "collected", deviceId: collected.body.deviceId });
        const phone = client(server.url, collected.body.token);
        assert.strictEqual((await phone("/threads")).status, 200);
        const refused = await phone("/pairings", { body: {} });
        assert.strictEqual(refused.status, 403);
        assert.match(refused.body.detail, /“admin”/);
      });
    }),
  );

  it.live("needs the right code, once", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* Effect.promise(async () => {
        const { code } = await startPairing(server);
        const wrong = await claim(server, code.startsWith("A") ? `B${code.slice(1)}` : `A${code.slice(1)}`);
        assert.strictEqual(wrong.status, 404);
        assert.strictEqual((await claim(server, code)).status, 200);
        const replayed = await claim(server, code, "Thief");
        assert.strictEqual(replayed.status, 404);
        assert.strictEqual(replayed.body.detail, wrong.body.detail);
      });
    }),
  );

  it.live("is over when its time is, claimed or not", () =>
    Effect.gen(function* () {
      const server = yield* startServer(yield* temporaryFolders, { lifetimes: { pairing: 150 } });
      yield* Effect.promise(async () => {
        const first = await startPairing(server);
        const second = await startPairing(server);
        const { secret } = (await claim(server, second.code)).body;
        // Ends with the pairing, not with the wait.
        const waited = collect(server, second.pairingId, secret, 20_000);
        assert.deepStrictEqual((await waited).body, { state: "expired" });
        assert.strictEqual((await claim(server, first.code)).status, 404);
        assert.strictEqual((await server.call(`/pairings/${first.pairingId}`)).body.state, "expired");
        assert.strictEqual((await decide(server, second.pairingId, "confirm")).body.state, "expired");
        assert.deepStrictEqual((await collect(server, second.pairingId, secret)).body, { state: "expired" });
        assert.deepStrictEqual((await server.call("/devices")).body, { devices: [] });
      });
    }),
  );

  it.live("refused gives nothing, also after it was confirmed", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* Effect.promise(async () => {
        const { code, pairingId } = await startPairing(server);
        // Nobody is confirmed before it is known who.
        assert.strictEqual((await decide(server, pairingId, "confirm")).body.state, "waiting");
        const { secret } = (await claim(server, code)).body;
        assert.strictEqual((await collect(server, pairingId, "another secret")).status, 404);
        await decide(server, pairingId, "confirm");
        await decide(server, pairingId, "refuse");
        assert.deepStrictEqual((await collect(server, pairingId, secret)).body, { state: "refused" });
        assert.strictEqual((await decide(server, pairingId, "confirm")).body.state, "refused");
      });
    }),
  );

  it.live("can be started by the owner alone, with other scopes and a name", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const watch = yield* pairDevice(server, { scopes: ["observe", "answer"], name: "Watch" });
      yield* Effect.promise(async () => {
        assert.deepInclude((await watch.call("/devices")).body.devices[0], {
          name: "Watch",
          scopes: ["observe", "answer"],
          current: true,
          state: "active",
        });
        assert.strictEqual(
          (await watch.call("/threads", { body: { cwd: server.work, instance: "demo" } })).status,
          403,
        );
        const none = await server.call("/pairings", { body: {}, token: null });
        assert.strictEqual(none.status, 401);
        assert.strictEqual((await server.call("/pairings", { body: { scopes: ["root"] } })).status, 400);
        assert.strictEqual((await server.call("/pairings", { body: { scopes: [] } })).status, 400);
      });
    }),
  );

  it.live("tells who tries too often when to come back", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* Effect.promise(async () => {
        const { maxPairingAttemptsPerMinute: most } = (await server.call("/limits")).body;
        const statuses: Array<number> = [];
        for (let attempt = 0; attempt < most; attempt += 1)
          statuses.push((await claim(server, `AAAAA-AAAA${attempt % 10}`)).status);
        assert.isTrue(statuses.every((status) => status === 404));
        const limited = await claim(server, "AAAAA-AAAAA");
        assert.strictEqual(limited.status, 429);
        assert.isAbove(Date.parse(limited.body.retryAt), Date.now());
        assert.isBelow(Date.parse(limited.body.retryAt), Date.now() + 61_000);
        // The owner goes on.
        assert.strictEqual((await server.call("/threads")).status, 200);
      });
    }),
  );

  it.live("is bounded: so many at a time", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* Effect.promise(async () => {
        for (let count = 0; count < 8; count += 1) await startPairing(server);
        const more = await server.call("/pairings", { body: {} });
        assert.strictEqual(more.status, 429);
        assert.isString(more.body.retryAt);
      });
    }),
  );
});

describe("the name of a device", () => {
  it.each([
    ["Pixel 9", "Pixel 9"],
    ["Zoë’s 📱", "Zoë’s 📱"],
    ["a\u001b[31mb\r\nc", "a [31mb c"],
    ["\u202eenohP\u2066", "enohP"],
    [" \u0000\u200b ", "device"],
  ])("%j is kept as %j", (said, kept) => {
    assert.strictEqual(tidyName(said), kept);
  });
});

describe("a typed code", () => {
  it.each([
    ["K7QMD-2X9TA", "K7QMD2X9TA"],
    [" k7qmd 2x9ta ", "K7QMD2X9TA"],
    ["OIL", "011"],
    ["", ""],
  ])("%j is read as %j", (typed, read) => {
    assert.strictEqual(readCode(typed), read);
  });
});
