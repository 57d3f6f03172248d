import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startReaders, type TestServer } from "@tributary/server/test-support";
import { Effect } from "effect";
import { median, scaled, type BenchContext, type Figure } from "../harness.ts";
import { expectOk, served } from "./served.ts";

const actor = { kind: "system", id: "bench" } as const;
const threadId = "T";
const message = "Forty characters of something to be told";
const perStep = 200;

/** Writes notices into the thread, some hundred a transaction, and names its end. */
const burst = async ({ writer, call }: TestServer, from: number, events: number, mark: string): Promise<void> => {
  for (let done = 0; done < events; done += perStep) {
    await Effect.runPromise(
      writer.step(threadId, (tx) => {
        for (let n = 0; n < Math.min(perStep, events - done); n += 1) {
          const noticeId = `n${from + done + n}`;
          tx.decide({ type: "notice.record", noticeId, level: "info", code: "bench", message }, { actor });
        }
      }),
    );
  }
  await expectOk(call(`/threads/${threadId}`, { method: "PATCH", body: { title: mark } }));
};

const mark = (n: number): string => `the end of part ${n}.`;

interface Delivery {
  readonly seconds: number;
  /** All that came, headers and chunk sizes included. */
  readonly bytes: number;
}

const seconds = (since: number): number => (performance.now() - since) / 1_000;

/** Clients that come when everything is in the log. */
const backlog = async (url: string, token: string, path: string, clients: number): Promise<Delivery> => {
  const readers = startReaders({ url, token, path, clients, mark: "event: synced" });
  const began = performance.now();
  const { bytes } = await readers.said("synced");
  const took = seconds(began);
  await readers.close();
  return { seconds: took, bytes };
};

/** What a process of readers takes before the first byte comes. */
const startOfReaders = async (server: TestServer, clients: number): Promise<number> => {
  const head = await expectOk(server.call(`/threads/${threadId}`));
  const path = `/threads/${threadId}/live?after=${head.cursor}`;
  return (await backlog(server.url, server.token, path, clients)).seconds;
};

/** Bare `node:http` that writes the given bytes in pieces to whoever asks, as fast as each takes them. */
const bare = async <A>(piece: Buffer, pieces: number, end: Buffer, use: (url: string) => Promise<A>): Promise<A> => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    let sent = 0;
    const write = (): void => {
      while (sent < pieces) {
        sent += 1;
        if (!response.write(piece)) {
          response.once("drain", write);
          return;
        }
      }
      response.write(end);
    };
    write();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

const pieceBytes = 256 * 1024;

/** The same bytes from a server that has them ready, after what its readers take to start. */
const limitOf = async (clients: number, bytes: number): Promise<number> => {
  const each = Math.round(bytes / clients);
  const pieces = Math.max(1, Math.round(each / pieceBytes));
  const piece = Buffer.alloc(Math.ceil(each / pieces), "x");
  const end = Buffer.from("event: synced\n\n");
  const nothing = await bare(piece, 0, end, async (url) => (await backlog(url, "none", "/", clients)).seconds);
  const all = await bare(piece, pieces, end, async (url) => (await backlog(url, "none", "/", clients)).seconds);
  return Math.max(all - nothing, 1e-3);
};

const figure = (what: string, atLeast: number, frames: number, took: ReadonlyArray<number>, limit: number): Figure => {
  const rates = took.map((each) => frames / each);
  return {
    what,
    value: median(rates),
    unit: "frames/s",
    spread: [Math.min(...rates), Math.max(...rates)],
    budget: { atLeast },
    baseline: { name: "bare node:http, the same bytes", value: frames / limit, ratio: limit / median(took) },
  };
};

/** Server-sent events: a backlog to one client, and a burst to a hundred that had caught up. */
export const streams = ({ scale, rounds, report }: BenchContext, folder: string): Promise<void> =>
  served(folder, "normal", async (server) => {
    const { url, token, call } = server;
    await expectOk(call("/threads", { body: { threadId, cwd: server.work, instance: "demo" } }));
    const events = scaled(200_000, scale, 2_000);
    await burst(server, 0, events, mark(0));

    const whole = `/threads/${threadId}/live`;
    const idle = await startOfReaders(server, 1);
    const one: Array<number> = [];
    let bytes = 0;
    for (let round = 0; round <= rounds; round += 1) {
      const delivery = await backlog(url, token, whole, 1);
      bytes = delivery.bytes;
      if (round > 0) one.push(Math.max(delivery.seconds - idle, 1e-3));
    }
    report(figure("SSE, a backlog to 1 client", 150_000, events, one, await limitOf(1, bytes)));

    const clients = 100;
    const more = scaled(20_000, scale, 400);
    const many: Array<number> = [];
    let written = events;
    for (let round = 0; round <= rounds; round += 1) {
      const { cursor } = await expectOk(call(`/threads/${threadId}`));
      const text = mark(round + 1);
      const readers = startReaders({ url, token, path: `${whole}?after=${cursor}`, clients, mark: text });
      await readers.said("synced");
      const began = performance.now();
      await burst(server, written, more, text);
      ({ bytes } = await readers.said("marked"));
      if (round > 0) many.push(seconds(began));
      written += more;
      await readers.close();
    }
    const what = `SSE, ${clients} caught-up clients in all, while the events are written`;
    report(figure(what, 1_000_000, more * clients, many, await limitOf(clients, bytes)));
  });
