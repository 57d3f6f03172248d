/** What is in between, or is no Tributary at all, says something else than was asked: nothing hangs, crashes or is believed. */
import { getEventListeners } from "node:events";
import { assert, describe, it } from "vitest";
import { apply, committed, createClient, start, TributaryError, webSocketTransport, type Page } from "../src/index.ts";
import { SseParser } from "../src/sse.ts";
import { against, json, stream } from "./handler.ts";
import { running } from "./support.ts";

const page = { ...(committed(apply(start("T"), running().frames)) as Page), cursor: "e:x.1" };

const failure = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no failure",
    (error) => error,
  );
const codeOf = async (promise: Promise<unknown>): Promise<unknown> => {
  const error = await failure(promise);
  return error instanceof TributaryError ? error.code : error;
};

const text = (body: string | ReadableStream, type: string, status = 200): Response =>
  new Response(body, { status, headers: { "content-type": type } });
const never = (): Promise<Response> => new Promise(() => {});
const endless = (): ReadableStream =>
  new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) });

describe("an answer", () => {
  it.each([
    ["a page that asks to log in", () => text("<html>", "text/html"), "http_200"],
    ["nothing", () => new Response(null, { status: 204 }), "http_204"],
    ["JSON that was cut off", () => text('{"threads": [', "application/json"), "unreachable"],
    ["an empty body", () => text("", "application/json"), "unreachable"],
  ] as const)("that is %s is a failure", async (_, answer, code) => {
    const { client } = against(answer);
    assert.strictEqual(await codeOf(client.threads.list()), code);
  });

  it("that never comes, or never ends, is given up, and asked for again under the same key", async () => {
    const { client, asked } = against(never, { answerMs: 20, retry: { attempts: 1 } });
    assert.strictEqual(await codeOf(client.threads.interrupt({ params: { threadId: "T" }, payload: {} })), "silent");
    assert.lengthOf(new Set(asked.map(({ key }) => key)), 1);
    assert.lengthOf(asked, 2);
    const other = against(() => text(endless(), "application/json"), { answerMs: 20, retry: { attempts: 0 } });
    assert.strictEqual(await codeOf(other.client.threads.list()), "silent");
  });

  it("to what takes its time is waited for, and can be given up", async () => {
    const { client } = against(never, { answerMs: 1 });
    const controller = new AbortController();
    const asked = failure(client.maintenance.check({ signal: controller.signal }));
    setTimeout(() => controller.abort("enough"), 30);
    assert.strictEqual(await asked, "enough");
  });
});

describe("an id", () => {
  it.each(["", ".", "..", "\ud800"])("%j in a path is refused: it would be another path", async (inputId) => {
    const { client, asked } = against(() => json({}));
    assert.strictEqual(await codeOf(client.inputs.withdraw({ params: { threadId: "T", inputId } })), "bad_request");
    assert.lengthOf(asked, 0);
  });
});

describe("a stream", () => {
  const follow = (answer: (streams: number) => Response, signal?: AbortSignal) => {
    let streams = 0;
    const { client, asked } = against(({ path }) => (path.includes("/live") ? answer((streams += 1)) : json(page)), {
      silenceMs: 30,
      retry: { attempts: 2 },
    });
    return { thread: client.follow("T", signal === undefined ? {} : { signal }), asked };
  };
  const synced = { event: "synced", id: "e:x.1", data: { serverTime: "", sequence: 1 } };

  it.each([
    ["a page", () => text("<html>", "text/html")],
    ["a page that does not end", () => text(endless(), "text/html")],
    ["a failure that does not end", () => text(endless(), "application/json", 500)],
    ["nothing", () => new Response(null, { status: 204 })],
    ["an event that is none", () => stream([{ event: "event", data: null }])],
  ] as const)("that is %s is connected again", async (_, answer) => {
    const { thread } = follow((streams) => (streams === 1 ? answer() : stream([synced])));
    for await (const _view of thread) if (thread.connection.state === "live") break;
    thread.close();
  });

  it("that never makes sense fails in the end", async () => {
    const { thread } = follow(() => stream([{ event: "event", data: null }]));
    const read = async () => {
      for await (const _view of thread);
    };
    assert.strictEqual(await codeOf(read()), "unreadable");
  });

  it("is not begun for a signal that was aborted, and leaves nothing at one that goes on", async () => {
    const over = follow(() => stream([synced]), AbortSignal.abort());
    for await (const _view of over.thread) assert.fail("it was given up before");
    assert.lengthOf(over.asked, 0);
    const { signal } = new AbortController();
    for (let times = 0; times < 3; times += 1)
      for await (const _view of follow(() => stream([synced]), signal).thread) break;
    assert.lengthOf(getEventListeners(signal, "abort"), 0);
  });

  it("with a message that does not end does not fill the memory", () => {
    const parser = new SseParser();
    const bytes = new TextEncoder().encode(`data: ${"x".repeat(1024 * 1024)}\n`);
    assert.throws(() => {
      for (let times = 0; times < 100; times += 1) parser.push(bytes);
    }, /does not end/);
  });
});

/** A socket that opens, and then says the same whatever it is told. */
const socketSaying = (said: unknown, opens = true) =>
  class extends EventTarget {
    readonly OPEN = 1;
    readyState = 1;
    constructor() {
      super();
      if (opens) queueMicrotask(() => this.dispatchEvent(new Event("open")));
    }
    send(): void {
      if (said !== undefined) queueMicrotask(() => this.dispatchEvent(new MessageEvent("message", { data: said })));
    }
    close(): void {
      this.readyState = 3;
    }
  } as unknown as typeof WebSocket;

describe("a WebSocket", () => {
  const over = (Socket: typeof WebSocket, ticket = () => Promise.resolve(json({ ticket: "t" }))) =>
    createClient({
      transport: webSocketTransport({ url: "http://x", fetch: ticket, WebSocket: Socket, silenceMs: 50 }),
      retry: { attempts: 0 },
    });

  it.each([
    "no JSON",
    new Blob(["x"]),
    "null",
    '{"_tag":"Exit","requestId":"1"}',
    '{"_tag":"Exit","requestId":"1","exit":{"_tag":"Failure"}}',
    '{"_tag":"Exit","requestId":"1","exit":{"_tag":"Failure","cause":[null]}}',
    '{"_tag":"Chunk","requestId":"1"}',
  ])("that says %s fails what waits, and nothing else", async (said) => {
    assert.strictEqual(await codeOf(over(socketSaying(said)).threads.list()), "unreachable");
  });

  it("passes over messages of kinds that it does not know", async () => {
    const said = [
      '{"_tag":"News","requestId":"1"}',
      '{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{}}}',
    ];
    assert.deepStrictEqual(await over(socketSaying(`[${said.join(",")}]`)).threads.list(), {} as never);
  });

  it("that does not open is given up, by the client or its caller", async () => {
    assert.strictEqual(await codeOf(over(socketSaying(undefined, false)).threads.list()), "silent");
    assert.strictEqual(await codeOf(over(socketSaying(undefined), never).threads.list()), "silent");
    const signal = AbortSignal.timeout(10);
    assert.strictEqual(await failure(over(socketSaying(undefined, false)).threads.list({ signal })), signal.reason);
  });
});

describe("following all threads", () => {
  it("goes on with the others when a followed one is deleted while nobody listens", async () => {
    const shell = (threadId: string) => ({ ...page.thread, threadId });
    let isThere = true;
    const { client, asked } = against(({ path }) => {
      if (path.startsWith("/threads/")) {
        const threadId = path.split("?")[0]?.split("/")[2] ?? "";
        return json({ ...page, thread: shell(decodeURIComponent(threadId)) });
      }
      if (path.startsWith("/threads"))
        return json({ threads: [shell("a,b"), ...(isThere ? [shell("T")] : [])], cursor: "e:x.1" });
      if (!isThere && path.includes("T"))
        return json({ code: "not_found", status: 404, detail: "", userAction: "none" }, 404);
      if (!isThere) return stream([{ event: "synced", id: "e:x.2", data: { serverTime: "", sequence: 2 } }]);
      isThere = false;
      return stream([], true);
    });
    const all = client.followShells({ threads: ["a,b", "T"] });
    for await (const _view of all) if (all.connection.state === "live") break;
    const lists = asked.flatMap(({ path }) => new URLSearchParams(path.split("?")[1]).get("threads") ?? []);
    assert.deepStrictEqual(lists, ["a%2Cb,T", "a%2Cb"]);
    assert.deepStrictEqual(
      all.view?.shells.map(({ threadId }) => threadId),
      ["a,b"],
    );
  });
});
