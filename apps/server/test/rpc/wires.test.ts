import { MessageChannel } from "node:worker_threads";
import { assert, describe, it } from "@effect/vitest";
import { TributaryRpcs } from "@tributary/contracts/rpc";
import { Effect, Stream } from "effect";
import { openEmbedded, Tributary } from "../../src/embedded.ts";
import { unhandled } from "../../src/rpc/handlers.ts";
import { portWire, rpcClient } from "../support/rpc.ts";
import { answeredBy, freshServer, temporaryFolders } from "../support/server.ts";
import { connectRpc } from "./sockets.ts";
import { suite } from "./suite.ts";

const overWebSocket = Effect.gen(function* () {
  const server = yield* freshServer;
  const connect = connectRpc(server);
  return { ...server, fetch, connect, rpc: yield* connect };
});

const embedded = Effect.gen(function* () {
  const { data, work } = yield* temporaryFolders;
  const tributary = yield* Effect.orDie(openEmbedded({ dir: data }));
  const url = "app://tributary";
  const inside: typeof fetch = (input, init) => tributary.fetch(new Request(input, init));
  const call = answeredBy(inside)(url, "any");
  yield* Effect.promise(() => call("/projects", { body: { projectId: "P", root: work } }));
  const connect = Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const { port1, port2 } = new MessageChannel();
        const disconnect = tributary.connect(port1);
        return { port: port2, disconnect };
      }),
      ({ port, disconnect }) =>
        Effect.sync(() => {
          port.close();
          disconnect();
        }),
    ),
    ({ port }) => rpcClient(portWire(port)),
  );
  return { url, token: "any", fetch: inside, call, work, connect, rpc: yield* connect, tributary };
});

suite("WebSocket", overWebSocket);
suite("MessagePort", embedded);

describe("every rpc", () => {
  it("has a handler", () => {
    assert.deepStrictEqual(unhandled, []);
    assert.isAbove(TributaryRpcs.requests.size, 40);
  });
});

describe("embedded", () => {
  it.live("has the group in process, typed", () =>
    Effect.gen(function* () {
      const { tributary, work, call } = yield* embedded;
      const { rpc } = tributary;
      const made = yield* rpc("threads.create", { payload: { threadId: "T", cwd: work, instance: "demo" } });
      assert.strictEqual(made.threadId, "T");
      const { threads } = yield* rpc("threads.list", { query: { limit: 10 } });
      assert.deepStrictEqual(
        threads.map(({ threadId }) => threadId),
        ["T"],
      );
      const error = yield* Effect.flip(rpc("threads.get", { params: { threadId: "no" }, query: {} }));
      assert.strictEqual(error._tag, "NotFound");
      const frames = yield* rpc("events.live", { params: { threadId: "T" }, query: {} }).pipe(
        Stream.takeUntil(({ event }) => event === "synced"),
        Stream.runCollect,
      );
      assert.deepStrictEqual(
        frames.map(({ event }) => event),
        ["event", "synced"],
      );
      const listed = yield* Effect.promise(() => call("/threads"));
      assert.strictEqual(listed.status, 200);
    }),
  );

  it("opens and closes without effect, and opens again", async () => {
    await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const { data } = yield* temporaryFolders;
          for (const _ of [1, 2]) {
            const tributary = yield* Effect.promise(() => Tributary.embedded({ dir: data }));
            const response = yield* Effect.promise(() => tributary.fetch(new Request("https://any.where/version")));
            assert.strictEqual(response.status, 200);
            const live = yield* Effect.promise(() => tributary.fetch(new Request("app://t/live")));
            yield* Effect.promise(() => tributary.close());
            // The stream ended with it.
            yield* Effect.promise(() => live.text());
            // Who goes on asking hears that, and not of a damaged store.
            const late = yield* Effect.promise(() => tributary.fetch(new Request("app://t/threads")));
            assert.strictEqual(late.status, 503);
            assert.match(((yield* Effect.promise(() => late.json())) as { detail: string }).detail, /was closed/);
          }
        }),
      ),
    );
  });

  it.live("says what to do when the folder is in use", () =>
    Effect.gen(function* () {
      const { data } = yield* temporaryFolders;
      yield* openEmbedded({ dir: data });
      const refused = yield* Effect.promise(() =>
        Tributary.embedded({ dir: data }).then(
          () => "opened",
          (error: unknown) => String(error),
        ),
      );
      assert.match(refused, /already|in use|another|lock/i);
    }),
  );
});
