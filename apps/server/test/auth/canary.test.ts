import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Logger, References, Scope } from "effect";
import { tokenFile } from "../../src/config/token.ts";
import { startServer, temporaryFolders } from "../support/server.ts";
import { answered, claim, collect, decide, startPairing } from "./devices.ts";

const filesUnder = (dir: string): ReadonlyArray<string> =>
  readdirSync(dir, { recursive: true, encoding: "utf8" })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile());

describe("tokens, codes, claims' secrets and cookies (I16)", () => {
  it.live("are in no file, log, error or URL; the owner's token in its own file alone", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      const logged: Array<unknown> = [];
      const logger = Logger.make((entry) => void logged.push(entry.message, entry.cause.toString()));
      const said: Array<string> = [];
      const scope = yield* Scope.make();
      const server = yield* Scope.provide(startServer(folders), scope).pipe(
        Effect.provide(Logger.layer([logger])),
        Effect.provideService(References.MinimumLogLevel, "All"),
      );
      const secrets = yield* Effect.promise(async () => {
        const started = await startPairing(server);
        assert.notInclude(started.url, started.code);
        const claimed = answered(200, await claim(server, started.code));
        const { secret } = claimed.body;
        await decide(server, started.pairingId, "confirm");
        const collected = answered(200, await collect(server, started.pairingId, secret)).body;
        const cookies = await Promise.all(
          [server.token, collected.token].map(async (token) => {
            const set = answered(200, await server.call("/auth/cookie", { method: "POST", token }));
            return /=([^;]+)/.exec(set.headers.get("set-cookie") ?? "")?.[1] ?? "";
          }),
        );
        const secrets = [started.code, started.code.replace("-", ""), secret, collected.token, ...cookies];
        // Everything that may speak of them.
        const { deviceId } = collected;
        const headers = { cookie: `tributary=${cookies[1]}` };
        const replies = [
          await server.call("/devices"),
          await server.call(`/pairings/${started.pairingId}`),
          await claim(server, started.code),
          await collect(server, started.pairingId, secret),
          await server.call("/audit"),
          await server.call("/threads", { token: collected.token, body: { cwd: 1 } }),
          await server.call(`/nowhere`, { token: collected.token }),
          await server.call("/threads", { token: null, headers, body: {} }),
          await server.call("/projects", { token: collected.token, body: {} }),
          await server.call(`/devices/${deviceId}`, { method: "DELETE", token: collected.token }),
          await server.call("/threads", { token: collected.token }),
          await server.call("/threads", { token: null, headers }),
          await server.call("/threads", { token: null }),
          await server.call("/openapi.json"),
        ];
        said.push(...replies.map(({ body, headers }) => JSON.stringify([body, [...headers]])));
        return secrets;
      });
      yield* Scope.close(scope, Exit.void);
      assert.isTrue(secrets.every((secret) => secret.length >= 10));
      for (const path of filesUnder(folders.base)) {
        const bytes = readFileSync(path);
        for (const secret of secrets) assert.isFalse(bytes.includes(secret), path);
        if (path !== tokenFile(folders.data)) assert.isFalse(bytes.includes(server.token), path);
      }
      const words = [...said, ...logged.map((entry) => JSON.stringify(entry) ?? "")].join("\n");
      for (const secret of [...secrets, server.token]) assert.notInclude(words, secret);
    }),
  );
});
