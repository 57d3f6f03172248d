import { assert, describe, it } from "@effect/vitest";
import { AccessScope, Api, Authorization, RequiredScope } from "@tributary/contracts/api";
import { Context, Effect } from "effect";
import { bodyRule } from "../../src/http/bodies.ts";
import { freshServer, startServer, temporaryFolders } from "../support/server.ts";
import { pairDevice } from "./devices.ts";
import { sendHead as send } from "./heads.ts";

interface Route {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly scope: AccessScope;
  readonly needsToken: boolean;
}

const groups: ReadonlyArray<{
  readonly identifier: string;
  readonly endpoints: Readonly<
    Record<
      string,
      {
        readonly identifier: string;
        readonly method: string;
        readonly path: string;
        readonly annotations: Context.Context<never>;
        readonly middlewares: ReadonlySet<unknown>;
      }
    >
  >;
}> = Object.values(Api.groups);

/** Every route of the contract. */
const routes: ReadonlyArray<Route> = groups.flatMap((group) =>
  Object.values(group.endpoints).map(({ identifier, method, path, annotations, middlewares }) => ({
    name: `${group.identifier}.${identifier}`,
    method,
    path: path.replaceAll(/:[a-zA-Z]+/g, "x"),
    scope: Context.get(annotations, RequiredScope),
    needsToken: middlewares.has(Authorization),
  })),
);

/** The routes that anybody may call who comes to the door. A new one belongs here only with a reason. */
const open = ["system.health", "system.version", "claims.claim", "claims.collect", "rpc.connect"];

const upgrade = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
];

/** Its head, with the announcement of a body where it may have one. */
const headOf = ({ name, method, path }: Route, ...headers: ReadonlyArray<string>): ReadonlyArray<string> => [
  `${method} ${path} HTTP/1.1`,
  ...(name === "rpc.connect" ? upgrade : []),
  ...(method === "GET" || headers.some((line) => /^content-length/i.test(line))
    ? []
    : [`Content-Type: ${typeOf(method, path)}`, "Content-Length: 1000"]),
  ...headers,
];

const typeOf = (method: string, path: string): string => {
  const { types } = bodyRule(method, path);
  return types === "any" ? "application/x" : (types[0] ?? "");
};

const sendHead = async (...sent: Parameters<typeof send>) => {
  const { status, code } = await send(...sent);
  return { status, code };
};

const allScopes = AccessScope.literals;

describe("every route of the contract refuses by the head of a request, before its body is read (I17)", () => {
  it("asks for a token, except for those that are listed", () => {
    assert.sameMembers(
      routes.filter(({ needsToken }) => !needsToken).map(({ name }) => name),
      open,
    );
  });

  it.live("a foreign Host, Origin or site, and the Origin null", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const token = `Authorization: Bearer ${server.token}`;
      yield* Effect.promise(async () => {
        for (const route of routes)
          for (const line of [
            "Host: evil.example",
            `Host: evil.example:${new URL(server.url).port}`,
            "Origin: https://evil.example",
            "Origin: null",
            "Sec-Fetch-Site: cross-site",
          ]) {
            const answer = await sendHead(server, headOf(route, token, line));
            assert.deepStrictEqual(answer, { status: 403, code: "forbidden" }, `${route.name} ${line}`);
          }
      });
    }),
  );

  it.live("no token, a wrong one, a revoked one, and a wrong cookie", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const revoked = yield* pairDevice(server);
      yield* Effect.promise(async () => {
        await server.call(`/devices/${revoked.deviceId}`, { method: "DELETE" });
        for (const route of routes.filter(({ needsToken }) => needsToken)) {
          assert.deepStrictEqual(
            await sendHead(server, headOf(route)),
            { status: 401, code: "unauthorized" },
            `${route.name} without a token`,
          );
          for (const line of [
            "Authorization: Bearer wrong",
            `Authorization: Bearer ${revoked.token}`,
            "Authorization: Basic b3duZXI6eA==",
          ]) {
            const { status } = await sendHead(server, headOf(route, line));
            // Too many wrong ones are told as such.
            assert.include([401, 429], status, `${route.name} ${line}`);
          }
          const { status } = await sendHead(server, headOf(route, "Cookie: tributary=wrong", `Origin: ${server.url}`));
          assert.include([401, 429], status, `${route.name} with a wrong cookie`);
        }
      });
    }),
  );

  it.live("an expired token", () =>
    Effect.gen(function* () {
      const server = yield* startServer(yield* temporaryFolders, { lifetimes: { device: 0 } });
      const expired = yield* pairDevice(server);
      yield* Effect.promise(async () => {
        for (const route of routes.filter(({ needsToken }) => needsToken)) {
          const { status } = await sendHead(server, headOf(route, `Authorization: Bearer ${expired.token}`));
          assert.include([401, 429], status, route.name);
        }
      });
    }),
  );

  it.live("a token that lacks the route's scope, whatever else it has", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      for (const scope of allScopes) {
        const device = yield* pairDevice(server, { scopes: allScopes.filter((other) => other !== scope) });
        const token = `Authorization: Bearer ${device.token}`;
        yield* Effect.promise(async () => {
          for (const route of routes.filter((each) => each.needsToken && each.scope === scope))
            assert.deepStrictEqual(
              await sendHead(server, headOf(route, token)),
              { status: 403, code: "forbidden" },
              route.name,
            );
        });
      }
    }),
  );

  it.live("a body that is too large or of the wrong type", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const token = `Authorization: Bearer ${server.token}`;
      yield* Effect.promise(async () => {
        for (const route of routes.filter(({ method }) => method !== "GET")) {
          const { method, path } = route;
          const { maxBytes } = bodyRule(method, path);
          const type = `Content-Type: ${typeOf(method, path)}`;
          assert.deepStrictEqual(
            await sendHead(server, headOf(route, token, type, `Content-Length: ${maxBytes + 1}`)),
            { status: 413, code: "payload_too_large" },
            route.name,
          );
          for (const wrong of ["Content-Type: multipart/form-data; boundary=x", "Content-Type: x", "X-None: 1"])
            assert.deepStrictEqual(
              await sendHead(server, headOf(route, token, wrong, "Content-Length: 10")),
              { status: 415, code: "unsupported_media_type" },
              `${route.name} ${wrong}`,
            );
        }
        const large = `X-Large: ${"x".repeat(40_000)}`;
        assert.strictEqual((await sendHead(server, ["GET /threads HTTP/1.1", token, large])).status, 431);
      });
    }),
  );
});

describe("a stranger", () => {
  it.live("may say little where a body is read without a token, however the path is written (I11)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const said = (path: string, headers: Readonly<Record<string, string>>) =>
        Effect.promise(async () => {
          const body = JSON.stringify({ code: "x".repeat(20_000), secret: "x", name: "x" });
          const sent = { "content-type": "application/json", ...headers };
          const answer = await fetch(server.url + path, { method: "POST", body, headers: sent });
          return { status: answer.status, text: await answer.text() };
        });
      for (const path of ["/pairings/claim", "/pairings/cl%61im", "/PAIRINGS/claim", "/pairings/x/token"])
        for (const headers of [{}, { authorization: "Bearer wrong" }]) {
          const { status, text } = yield* said(path, headers);
          assert.strictEqual(status, 413, path);
          assert.include(text, "16384 bytes");
        }
      const { status } = yield* said("/pairings/claim", { authorization: `Bearer ${server.token}` });
      assert.strictEqual(status, 400);
    }),
  );
});

describe("the WebSocket", () => {
  it.live("needs a ticket that holds", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const tried = (path: string) =>
        Effect.promise(() => sendHead(server, [`GET ${path} HTTP/1.1`, ...upgrade, "Content-Length: 0"]));
      for (const path of ["/rpc", "/rpc?ticket=wrong"]) assert.strictEqual((yield* tried(path)).status, 401, path);
    }),
  );
});
