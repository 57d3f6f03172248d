import { connect } from "node:net";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import type { TestServer } from "../support/server.ts";
import { freshServer } from "../support/server.ts";
import { pairDevice } from "./devices.ts";

/** Sends the head of a request whose body never comes; the status that is answered all the same. */
const headOnly = (server: TestServer, lines: ReadonlyArray<string>) =>
  new Promise<number>((resolve, reject) => {
    const { hostname, port, host } = new URL(server.url);
    const socket = connect(Number(port), hostname, () => {
      const all = lines.some((line) => /^host:/i.test(line)) ? lines : [...lines, `Host: ${host}`];
      socket.write(`${all.join("\r\n")}\r\n\r\n`);
    });
    let text = "";
    socket
      .setEncoding("utf8")
      .setTimeout(5000, () => reject(new Error(`nothing was answered to ${lines.join(" | ")}`)));
    socket.on("error", reject);
    socket.on("data", (piece: string) => {
      text += piece;
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      if (status === undefined) return;
      socket.destroy();
      resolve(Number(status));
    });
  });

describe("a request is refused by its head, before its body is read", () => {
  it.live("whatever is wrong with it", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const phone = yield* pairDevice(server);
      const right = `Authorization: Bearer ${server.token}`;
      const post = (path: string, ...headers: ReadonlyArray<string>) => [
        `POST ${path} HTTP/1.1`,
        "Content-Type: application/json",
        "Content-Length: 1000",
        ...headers,
      ];
      const length = (bytes: number) => `Content-Length: ${bytes}`;
      yield* Effect.promise(async () => {
        const tried: ReadonlyArray<readonly [number, ReadonlyArray<string>]> = [
          [401, post("/threads")],
          [401, post("/threads", "Authorization: Bearer wrong")],
          [401, post("/threads", "Authorization: Basic b3duZXI6eA==")],
          [401, post("/threads", "Cookie: tributary=wrong", `Origin: ${server.url}`)],
          [403, post("/projects", `Authorization: Bearer ${phone.token}`)],
          [403, post("/threads", right, "Host: evil.example")],
          [403, post("/threads", right, "Origin: https://evil.example")],
          [403, post("/threads", right, "Origin: null")],
          [403, post("/threads", right, "Sec-Fetch-Site: cross-site")],
          [403, post("/pairings/claim", "Host: evil.example")],
          [413, ["POST /threads HTTP/1.1", "Content-Type: application/json", right, length(9 * 1024 * 1024)]],
          [415, ["POST /threads HTTP/1.1", "Content-Type: text/plain", right, length(10)]],
          [415, ["POST /threads HTTP/1.1", right, length(10)]],
          [415, ["POST /threads HTTP/1.1", right, "Transfer-Encoding: chunked"]],
          [431, post("/threads", right, `X-Large: ${"x".repeat(40_000)}`)],
        ];
        for (const [status, lines] of tried)
          assert.strictEqual(await headOnly(server, lines), status, lines.join(" | ").slice(0, 200));
      });
    }),
  );
});
