import { once } from "node:events";
import { connect } from "node:net";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { startServer, temporaryFolders } from "../support/server.ts";
import type { TestServer } from "../support/server.ts";

/** A connection, and everything that it was sent until its end. */
const open = async (server: TestServer) => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket
    .setEncoding("utf8")
    .on("data", (piece: string) => (text += piece))
    .on("error", () => undefined);
  const ended = once(socket, "close").then(() => text);
  await once(socket, "connect");
  return { socket, ended };
};

describe("a connection", () => {
  it.live("whose request does not come is ended in time: its head, and its body", () =>
    Effect.gen(function* () {
      const limits = { headersTimeoutMs: 200, requestTimeoutMs: 600 };
      const server = yield* startServer(yield* temporaryFolders, { listen: { limits } });
      yield* Effect.promise(async () => {
        const head = await open(server);
        head.socket.write("GET /health HTTP/1.1\r\nHost: ");
        assert.match(await head.ended, /^HTTP\/1\.1 408/);
        const body = await open(server);
        const lines = [
          "POST /projects HTTP/1.1",
          `Host: ${new URL(server.url).host}`,
          `Authorization: Bearer ${server.token}`,
          "Content-Type: application/json",
          "Content-Length: 1000",
        ];
        body.socket.write(`${lines.join("\r\n")}\r\n\r\n{`);
        assert.match(await body.ended, /^HTTP\/1\.1 4\d\d/);
        assert.strictEqual((await server.call("/health")).status, 200);
      });
    }),
  );

  it.live("beyond the limit is not taken, and the others go on", () =>
    Effect.gen(function* () {
      const server = yield* startServer(yield* temporaryFolders, { listen: { limits: { maxConnections: 3 } } });
      yield* Effect.promise(async () => {
        const three = [await open(server), await open(server), await open(server)];
        const fourth = await open(server);
        assert.strictEqual(await fourth.ended, "");
        const [first] = three;
        first?.socket.write(`GET /health HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nConnection: close\r\n\r\n`);
        assert.match((await first?.ended) ?? "", /^HTTP\/1\.1 200/);
        for (const { socket } of three) socket.destroy();
        await Promise.all(three.map(({ ended }) => ended));
        assert.strictEqual((await server.call("/health")).status, 200);
      });
    }),
  );
});
