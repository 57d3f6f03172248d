import { readFileSync } from "node:fs";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { devicesFile } from "../../src/auth/auth-file.ts";
import type { TestServer } from "../support/server.ts";
import { freshServer, startServer, temporaryFolders } from "../support/server.ts";
import { answered, pairDevice } from "./devices.ts";
import { sendHead } from "./heads.ts";

/** Trades a token for a cookie: the header as it was set, and the value. */
const trade = async (call: TestServer["call"]) => {
  const header = answered(200, await call("/auth/cookie", { method: "POST" })).headers.get("set-cookie") ?? "";
  return { header, value: /^tributary=([^;]+)/.exec(header)?.[1] ?? "" };
};

const withCookie = (server: TestServer, value: string) => {
  const cookie = `tributary=${value}`;
  return (path: string, headers: Readonly<Record<string, string>> = {}, body?: unknown) =>
    server.call(path, { token: null, headers: { cookie, ...headers }, ...(body === undefined ? {} : { body }) });
};

describe("the browser's cookie", () => {
  it.live("is traded for the token, is no token, and opens what the token opens", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* Effect.promise(async () => {
        const { header, value } = await trade(server.call);
        for (const part of ["HttpOnly", "SameSite=Strict", "Path=/"]) assert.include(header, part);
        assert.notInclude(header, "Secure");
        assert.notInclude(header, server.token);
        assert.notStrictEqual(value, server.token);
        assert.notInclude(readFileSync(devicesFile(server.data), "utf8"), value);
        assert.strictEqual((await withCookie(server, value)("/threads")).status, 200);
        assert.strictEqual((await server.call("/threads", { token: value })).status, 401);
        assert.strictEqual((await withCookie(server, "made-up")("/threads")).status, 401);
        assert.strictEqual((await withCookie(server, server.token)("/threads")).status, 401);
      });
    }),
  );

  it.live("changes something only from a page of ours", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* Effect.promise(async () => {
        const allowed = "https://app.example";
        answered(200, await server.call("/settings", { method: "PATCH", body: { allowedOrigins: [allowed] } }));
        const { value } = await trade(server.call);
        const call = withCookie(server, value);
        const tried = async (headers: Readonly<Record<string, string>>) =>
          (await call("/projects", headers, { root: server.work, projectId: "P" })).status;
        assert.strictEqual(await tried({}), 403);
        assert.strictEqual(await tried({ "sec-fetch-site": "none" }), 403);
        assert.strictEqual(await tried({ origin: "null" }), 403);
        assert.strictEqual(await tried({ origin: "https://evil.example" }), 403);
        assert.strictEqual(await tried({ "sec-fetch-site": "cross-site" }), 403);
        // Decided, and refused for another reason: the project is there already.
        assert.strictEqual(await tried({ "sec-fetch-site": "same-origin" }), 409);
        assert.strictEqual(await tried({ origin: server.url }), 409);
        assert.strictEqual(await tried({ origin: allowed, "sec-fetch-site": "cross-site" }), 409);
        const read = await call("/threads", { origin: allowed });
        assert.strictEqual(read.headers.get("access-control-allow-credentials"), "true");
      });
    }),
  );

  it.live("ends with its device", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const phone = yield* pairDevice(server);
      yield* Effect.promise(async () => {
        const { value } = await trade(phone.call);
        const call = withCookie(server, value);
        assert.strictEqual((await call("/threads")).status, 200);
        // With the scopes of its token.
        assert.strictEqual((await call("/pairings", { origin: server.url }, {})).status, 403);
        answered(200, await server.call(`/devices/${phone.deviceId}`, { method: "DELETE" }));
        assert.strictEqual((await call("/threads")).status, 401);
      });
    }),
  );

  it.live("can be given up, and does not prolong itself", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* Effect.promise(async () => {
        const { value } = await trade(server.call);
        const headers = { cookie: `tributary=${value}`, origin: server.url };
        const again = await server.call("/auth/cookie", { method: "POST", token: null, headers });
        assert.strictEqual(again.status, 400);
        const cleared = await server.call("/auth/cookie", { method: "DELETE", token: null, headers });
        assert.deepStrictEqual(cleared.body, { cleared: true });
        assert.match(cleared.headers.get("set-cookie") ?? "", /^tributary=;.*Max-Age=0/);
        assert.strictEqual((await withCookie(server, value)("/threads")).status, 401);
      });
    }),
  );

  it.live("travels encrypted alone, where a tunnel ends TLS", () =>
    Effect.gen(function* () {
      const server = yield* startServer(yield* temporaryFolders, { listen: { tunnel: "https://name.example" } });
      yield* Effect.promise(async () => {
        assert.strictEqual((await server.call("/pairings", { body: {} })).body.url, "https://name.example");
        const head = `POST /auth/cookie HTTP/1.1\r\nAuthorization: Bearer ${server.token}\r\nContent-Length: 0`;
        const through = await sendHead(server, [head, "Host: name.example", "Origin: https://name.example"]);
        assert.match(through.text, /^HTTP\/1\.1 200/);
        assert.match(through.text, /set-cookie: tributary=[^\r]*; Secure/i);
        const local = await trade(server.call);
        assert.notInclude(local.header, "Secure");
      });
    }),
  );
});
