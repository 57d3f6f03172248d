/** Following threads over connections that break, servers that go away, and readers that take their time. */
import { createServer } from "node:net";
import { readFileSync, rmSync } from "node:fs";
import { assert, describe, it } from "@effect/vitest";
import {
  createClient,
  httpTransport,
  TributaryError,
  webSocketTransport,
  type Client,
  type HttpOptions,
  type ThreadView,
  type Transport,
} from "@tributary/client";
import { Effect, Exit, Scope } from "effect";
import { tokenFile } from "../../src/config/token.ts";
import { addInstance, asking } from "../support/agents.ts";
import { serveProcess } from "../support/process.ts";
import { freshServer, startServer, temporaryFolders } from "../support/server.ts";
import type { TestServer } from "../support/server.ts";
import { busy, equals, isIdle, random, until, wholePage } from "./busy.ts";

const threadId = "T";
const retry = { baseMs: 5, maxMs: 50 };

/** Calls whichever server is there now. */
const towards = (current: () => Pick<TestServer, "url">) => (request: Request) => {
  const { pathname, search } = new URL(request.url);
  return fetch(new Request(`${current().url}${pathname}${search}`, request));
};

/** Streams that break after some bytes, inside a frame or a character as it falls. */
const breaking = (next: () => number, wide: number, breaks: { count: number }) => async (request: Request) => {
  const response = await fetch(request);
  if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream") || response.body === null)
    return response;
  let left = Math.floor(next() * wide);
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.byteLength;
      if (left > 0) return;
      breaks.count += 1;
      controller.error(new TypeError("terminated"));
    },
  });
  return new Response(response.body.pipeThrough(cut), response);
};

/** WebSockets that close after some messages. */
const breakingSocket = (next: () => number, wide: number, breaks: { count: number }) =>
  class extends WebSocket {
    constructor(url: string | URL) {
      super(url);
      let left = 2 + Math.floor(next() * wide);
      this.addEventListener("message", () => {
        left -= 1;
        if (left !== 0) return;
        breaks.count += 1;
        this.close();
      });
    }
  };

const begin = async (client: Client, server: TestServer, instance: string): Promise<void> => {
  await client.threads.create({ payload: { threadId, cwd: server.work, instance } });
};

/** A port that nobody listens on. */
const closedPort = () =>
  Effect.promise(
    () =>
      new Promise<number>((resolve) => {
        const probe = createServer().listen(0, "127.0.0.1", () => {
          const address = probe.address();
          probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
        });
      }),
  );

type Breaking = (options: HttpOptions, next: () => number, breaks: { count: number }) => Transport;

const kinds: ReadonlyArray<readonly [string, Breaking]> = [
  [
    "server-sent events",
    (options, next, breaks) => httpTransport({ ...options, fetch: breaking(next, 40_000, breaks) }),
  ],
  [
    "a WebSocket",
    (options, next, breaks) => webSocketTransport({ ...options, WebSocket: breakingSocket(next, 5, breaks) }),
  ],
];

describe.each(kinds)("over %s", (_, make) => {
  it.live("a running thread whose connection breaks all the time ends as the server's page (pains 18 and 19)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "busy", busy(12, 3));
      yield* Effect.promise(async () => {
        const seed = 7;
        const breaks = { count: 0 };
        const steady = createClient({ url: server.url, token: server.token });
        await begin(steady, server, "busy");
        const transport = make({ url: server.url, token: server.token }, random(seed), breaks);
        const client = createClient({ transport, retry });
        const thread = client.follow(threadId);
        await steady.inputs.submit({ params: { threadId }, payload: { text: "go" } });
        const seen = new Map<string, string>();
        const view = await until(thread, (now) => {
          for (const row of now.rows)
            if (row.kind === "message" && row.text.length > (seen.get(row.rowId)?.length ?? 0))
              seen.set(row.rowId, row.text);
          return isIdle(now);
        });
        const page = await wholePage(steady, threadId);
        equals(view, page, `seed ${seed}`);
        // Whatever was shown of a text meanwhile was its beginning.
        for (const row of page.rows)
          if (row.kind === "message") assert.isTrue(row.text.startsWith(seen.get(row.rowId) ?? ""), row.rowId);
        assert.isAtLeast(breaks.count, 1);
        client.close();
      });
    }),
  );

  it.live("an approval and a question are seen, answered from two devices, and told to both", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "asking", asking);
      yield* Effect.promise(async () => {
        const options = { url: server.url, token: server.token };
        const other = createClient({ ...options, retry });
        const client = createClient({ transport: make(options, () => 0.999, { count: 0 }), retry });
        await begin(other, server, "asking");
        const [mine, theirs] = [client.follow(threadId), other.follow(threadId)];
        const watching = until(theirs, isIdle);
        const shown = until(mine, (view) => view.thread !== undefined);
        await shown;
        await mine.submit({ text: "hello", inputId: "i" });
        const asked = await until(mine, (view) => view.requests.length > 0);
        await mine.answer(asked.requests[0]?.requestId ?? "", { optionId: "allow" });
        const question = await until(theirs, (view) => view.requests[0]?.request.kind === "user_input");
        await theirs.answer(question.requests[0]?.requestId ?? "", { answers: { tone: "Short" } });
        const end = await until(mine, isIdle);
        assert.deepStrictEqual(
          end.rows.flatMap((row) => (row.kind === "request" ? row.state : [])),
          ["answered", "answered"],
        );
        assert.strictEqual(end.rows.filter((row) => row.kind === "message" && row.role === "user").length, 1);
        assert.lengthOf(end.inputs, 0);
        equals(end, await wholePage(other, threadId));
        equals(await watching, await wholePage(other, threadId));
        client.close();
      });
    }),
  );
});

describe("a server that goes away", () => {
  it.live("and comes back is gone on with from the cursor; one with another store gives a new snapshot (I3)", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      const scopes = { first: yield* Scope.make(), second: yield* Scope.make() };
      let current: TestServer = yield* Scope.provide(startServer(folders), scopes.first);
      const title = (text: string) =>
        Effect.promise(() => current.call(`/threads/${threadId}`, { method: "PATCH", body: { title: text } }));
      const create = ({ call, work }: TestServer, text: string) =>
        Effect.promise(async () => {
          await call("/projects", { body: { root: work } });
          await call("/threads", { body: { threadId, cwd: work, instance: "demo", title: text } });
        });
      yield* create(current, "one");
      const client = createClient({
        url: "http://tributary.test",
        token: async () => current.token,
        fetch: towards(() => current),
        retry,
      });
      const snapshots: Array<string> = [];
      const thread = client.follow(threadId);
      const states: Array<string> = [];
      const reading = (async () => {
        for await (const view of thread) {
          states.push(thread.connection.state);
          snapshots.push(view.thread?.title ?? "");
        }
      })();
      const titled = (text: string) => Effect.promise(() => until(thread, (view) => view.thread?.title === text));
      const live = Effect.promise(() => until(thread, () => thread.connection.state === "live"));
      yield* live;

      // The same store again, at another port.
      yield* Scope.close(scopes.first, Exit.void);
      current = yield* Scope.provide(startServer(folders), scopes.second);
      yield* title("two");
      yield* titled("two");
      assert.include(states, "waiting");
      const before = thread.view?.cursor;

      // The store is wiped: the cursor is of no log any more.
      yield* Scope.close(scopes.second, Exit.void);
      rmSync(folders.data, { recursive: true });
      const another = yield* startServer(folders);
      yield* create(another, "another");
      current = another;
      const view = yield* titled("another");
      assert.isBelow(view.sequence, 10);
      assert.notStrictEqual(view.cursor?.split(".")[0], before?.split(".")[0]);
      thread.close();
      yield* Effect.promise(() => reading);
    }),
  );

  it.live("without a word, in the middle of a sentence, leaves what it said and an ended turn (I8, I10)", () =>
    Effect.gen(function* () {
      const { data, work } = yield* temporaryFolders;
      const options = { data, cwd: work };
      const first = yield* serveProcess(options);
      let url = first.url;
      const token = readFileSync(tokenFile(data), "utf8").trim();
      const client = createClient({
        url: "http://tributary.test",
        token,
        fetch: towards(() => ({ url })),
        retry,
      });
      const thread = client.follow(threadId);
      const shown = yield* Effect.promise(async () => {
        await client.projects.create({ payload: { root: work } });
        await client.instances.create({
          payload: { id: "busy", runtime: "scripted", options: { script: busy(1, 40) } },
        });
        await client.threads.create({ payload: { threadId, cwd: work, instance: "busy" } });
        await client.inputs.submit({ params: { threadId }, payload: { text: "go" } });
        const streaming = (view: ThreadView) =>
          view.rows.findLast((row) => row.kind === "message" && row.streaming && row.text.includes("Part slow"));
        const row = streaming(await until(thread, (view) => streaming(view) !== undefined));
        first.kill("SIGKILL");
        await first.ended;
        return row?.kind === "message" ? row : assert.fail("nothing was streaming");
      });
      url = (yield* serveProcess(options)).url;
      yield* Effect.promise(async () => {
        const view = await until(thread, ({ turns }) => (turns.at(-1)?.state ?? "running") !== "running");
        assert.strictEqual(view.turns.at(-1)?.state, "lost");
        const page = await wholePage(client, threadId);
        equals(view, page);
        const row = page.rows.find(({ rowId }) => rowId === shown.rowId);
        // Live text is shown only once its records are durable: what was seen is there.
        assert.isTrue(row?.kind === "message" && row.text.startsWith(shown.text), JSON.stringify([row, shown]));
      });
    }),
  );

  it.live("for good is told, call by call, and waited for by who follows", () =>
    Effect.gen(function* () {
      const port = yield* closedPort();
      yield* Effect.promise(async () => {
        const client = createClient({ url: `http://127.0.0.1:${port}`, token: "t", retry: { ...retry, attempts: 1 } });
        let caught: unknown;
        await client.threads.list().catch((error: unknown) => {
          caught = error;
        });
        assert.instanceOf(caught, TributaryError);
        assert.deepInclude(caught, { code: "unreachable", userAction: "retry" });
        client.close();
      });
    }),
  );
});

describe("a call whose answer is lost", () => {
  it.live("is repeated under its key and acts once (I2, pain 20)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "busy", busy(0, 0));
      yield* Effect.promise(async () => {
        let lost = 0;
        const client = createClient({
          url: server.url,
          token: server.token,
          retry,
          // The server has done it; the answer does not arrive.
          fetch: async (request) => {
            const response = await fetch(request);
            if (request.method !== "POST" || lost % 3 === 2) {
              lost += request.method === "POST" ? 1 : 0;
              return response;
            }
            lost += 1;
            throw new TypeError("fetch failed");
          },
        });
        await begin(client, server, "busy");
        const thread = client.follow(threadId);
        await until(thread, (view) => view.thread !== undefined);
        const { inputId } = await thread.submit({ text: "once" });
        const view = await until(thread, isIdle);
        assert.isAbove(lost, 4);
        assert.deepStrictEqual(
          view.rows.flatMap((row) => (row.kind === "message" && row.role === "user" ? row.rowId : [])),
          [inputId],
        );
        equals(view, await wholePage(client, threadId));
      });
    }),
  );
});

describe("a client that does not read for a while", () => {
  it.live.each(["server-sent events", "a WebSocket"])("over %s gets everything when it goes on (I11)", (kind) =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "busy", busy(40, 0));
      yield* Effect.promise(async () => {
        const options = { url: server.url, token: server.token, silenceMs: 300 };
        const steady = createClient({ url: server.url, token: server.token });
        await begin(steady, server, "busy");
        const inner = kind === "a WebSocket" ? webSocketTransport(options) : httpTransport(options);
        let stalled = 0;
        const transport: Transport = {
          ...inner,
          async *stream(call) {
            for await (const frames of inner.stream(call)) {
              yield frames;
              if (stalled > 0) continue;
              stalled += 1;
              // Longer than the silence after which a server counts as dead, and than the whole turn takes.
              await until(steady.follow(threadId), isIdle);
              await new Promise((resolve) => {
                setTimeout(resolve, 400);
              });
            }
          },
        };
        const client = createClient({ transport, retry });
        const thread = client.follow(threadId);
        await steady.inputs.submit({ params: { threadId }, payload: { text: "go" } });
        const view = await until(thread, isIdle);
        assert.strictEqual(stalled, 1);
        equals(view, await wholePage(steady, threadId));
        client.close();
      });
    }),
  );
});

describe("all threads on one connection", () => {
  it.live("are a list that follows, with some threads whole", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "busy", busy(2, 2));
      yield* Effect.promise(async () => {
        const client = createClient({ url: server.url, token: server.token, retry });
        await begin(client, server, "busy");
        await client.threads.create({ payload: { threadId: "other", cwd: server.work, instance: "busy" } });
        const all = client.followShells({ threads: [threadId] });
        const reading = (async () => {
          for await (const view of all) {
            const followed = view.threads.get(threadId);
            const shell = view.shells.find((one) => one.threadId === "other");
            if (followed !== undefined && isIdle(followed) && shell?.title === "renamed") return view;
          }
          throw new Error("the following ended");
        })();
        await client.inputs.submit({ params: { threadId }, payload: { text: "go" } });
        await client.threads.update({ params: { threadId: "other" }, payload: { title: "renamed" } });
        await client.threads.read({ params: { threadId }, payload: { upTo: 3 } });
        const view = await reading;
        const page = await wholePage(client, threadId);
        equals(view.threads.get(threadId), page);
        const settled = all[Symbol.asyncIterator]();
        for (let shells = view.shells; ; shells = (await settled.next()).value?.shells ?? []) {
          const shell = shells.find((one) => one.threadId === threadId);
          if (shell?.readTo === 3 && shell.status.value === "idle") {
            assert.deepStrictEqual(shell, page.thread);
            break;
          }
        }
        await settled.return?.();
      });
    }),
  );

  it.live("leave the list when they are deleted, also while nobody listens", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* Effect.promise(async () => {
        const client = createClient({ url: server.url, token: server.token, retry });
        const create = (id: string) =>
          client.threads.create({ payload: { threadId: id, cwd: server.work, instance: "demo" } });
        for (const id of ["a", "b", "c"]) await create(id);
        const all = client.followShells();
        /** Reads until the list is this, and live. */
        const listed = async (ids: ReadonlyArray<string>): Promise<void> => {
          for await (const { shells } of all)
            if (
              all.connection.state === "live" &&
              shells
                .map((shell) => shell.threadId)
                .toSorted()
                .join() === ids.join()
            )
              return;
        };
        await listed(["a", "b", "c"]);
        const watching = listed(["b", "c"]);
        await client.threads.remove({ params: { threadId: "a" } });
        await watching;
        // Nobody reads: there is no connection.
        assert.strictEqual(all.connection.state, "closed");
        await client.threads.remove({ params: { threadId: "b" } });
        await listed(["c"]);
      });
    }),
  );
});
