/** Requests of which the head alone is sent: what is answered to them was decided before any body. */
import { connect } from "node:net";
import type { TestServer } from "../support/server.ts";

/** The answer to a head whose body never comes: its status, and the problem's code if one was told. */
export interface Refused {
  readonly status: number;
  readonly code: string | undefined;
  readonly text: string;
}

/** `Host` is the server's unless a line says otherwise. */
export const sendHead = (server: Pick<TestServer, "url">, lines: ReadonlyArray<string>) =>
  new Promise<Refused>((resolve, reject) => {
    const { hostname, port, host } = new URL(server.url);
    const socket = connect(Number(port), hostname, () => {
      const all = lines.some((line) => /^host:/i.test(line)) ? lines : [...lines, `Host: ${host}`];
      socket.write(`${all.join("\r\n")}\r\n\r\n`);
    });
    let text = "";
    const end = () => {
      socket.destroy();
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
      resolve({ status, code: /"code":"(\w+)"/.exec(text)?.[1], text });
    };
    socket
      .setEncoding("utf8")
      .setTimeout(5000, () => {
        socket.destroy();
        reject(new Error(`nothing was answered to ${lines.join(" | ").slice(0, 300)}`));
      })
      .on("error", reject)
      .on("close", end)
      .on("data", (piece: string) => {
        text += piece;
        const [head = "", body] = text.split("\r\n\r\n");
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.POSITIVE_INFINITY);
        if (body !== undefined && (Buffer.byteLength(body) >= length || /^transfer-encoding/im.test(head))) end();
      });
  });
