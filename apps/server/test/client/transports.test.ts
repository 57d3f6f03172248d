/** One client, four ways to the same calls and streams. */
import { MessageChannel } from "node:worker_threads";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import {
  createClient,
  httpTransport,
  inProcess,
  portTransport,
  TributaryError,
  webSocketTransport,
  type Client,
  type PortLike,
  type Transport,
} from "@tributary/client";
import { Effect } from "effect";
import { Tributary } from "../../src/index.ts";
import { addInstance, asking } from "../support/agents.ts";
import { freshServer, startServer, temporaryFolders } from "../support/server.ts";
import { pairDevice } from "../rpc/sockets.ts";
import { isIdle, until } from "./busy.ts";

const retry = { baseMs: 5, maxMs: 50 };

const attach = async (client: Client): Promise<void> => {
  const file = new File(["notes"], "my notes ä.txt", { type: "text/plain" });
  const { attachmentId, name } = await client.upload(file);
  assert.strictEqual(name, "my notes ä.txt");
  const content = await client.attachments.download({ params: { attachmentId } });
  assert.strictEqual(await content.text(), "notes");
};

/** What a person does with a thread, from beginning to end. */
const whole = async (client: Client, work: string, bytes = true): Promise<void> => {
  await client.projects.create({ payload: { root: work } });
  const options = { script: asking };
  await client.instances.create({ payload: { id: "asking", runtime: "scripted", options } });
  const { threadId } = await client.threads.create({ payload: { cwd: work, instance: "asking" } });
  const thread = client.follow(threadId);
  const answered = new Set<string>();
  let said = false;
  const end = await until(thread, (view) => {
    if (!said) {
      said = true;
      void thread.submit({ text: "hello" });
    }
    for (const { requestId, request } of view.requests)
      if (!answered.has(requestId)) {
        answered.add(requestId);
        void thread.answer(
          requestId,
          request.kind === "approval" ? { optionId: "allow" } : { answers: { tone: "Short" } },
        );
      }
    return isIdle(view);
  });
  assert.deepStrictEqual(
    end.rows.flatMap((row) => (row.kind === "message" ? row.text : [])),
    ["hello", "You said hello.", "Allow once, Short."],
  );
  if (bytes) await attach(client);
  const events = await client.events.replay({ params: { threadId } });
  assert.strictEqual(events[0]?.type, "thread.created");
  assert.isAbove(events.length, 10);
  assert.strictEqual((await client.settings.limits()).pingIntervalMs, 10_000);
  let caught: unknown;
  await client.threads.get({ params: { threadId: "nobody" } }).catch((error: unknown) => {
    caught = error;
  });
  assert.instanceOf(caught, TributaryError);
  assert.deepInclude(caught, { code: "not_found", userAction: "none", status: 404 });
};

describe("a client", () => {
  const overNetwork: ReadonlyArray<readonly [string, (options: { url: string; token: string }) => Transport]> = [
    ["HTTP", httpTransport],
    ["a WebSocket", webSocketTransport],
  ];

  for (const [name, make] of overNetwork)
    it.live(`over ${name} does all that a person does`, () =>
      Effect.gen(function* () {
        const { url, token, work } = yield* startServer(yield* temporaryFolders);
        const client = createClient({ transport: make({ url, token }), retry });
        yield* Effect.promise(() => whole(client, work));
        client.close();
      }),
    );

  it.live("in process, and over a MessagePort, does the same", () =>
    Effect.gen(function* () {
      const first = yield* temporaryFolders;
      const second = yield* temporaryFolders;
      yield* Effect.promise(async () => {
        const inside = await Tributary.embedded({ dir: join(first.base, "data") });
        await whole(createClient({ transport: inProcess(inside), retry }), first.work);
        await inside.close();

        const served = await Tributary.embedded({ dir: join(second.base, "data") });
        const { port1, port2 } = new MessageChannel();
        served.connect(port1);
        // Node's ports are event targets too; its types do not say so of what a listener gets.
        const client = createClient({ transport: portTransport(port2 as unknown as PortLike), retry });
        await whole(client, second.work, false);
        client.close();
        await served.close();
      });
    }),
  );

  it.live("whose token is revoked hears so, also in the middle of a stream (I17)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "asking", asking);
      yield* Effect.promise(() =>
        server.call("/threads", { body: { threadId: "T", cwd: server.work, instance: "asking" } }),
      );
      for (const [, make] of overNetwork) {
        const { token, deviceId } = yield* pairDevice(server, ["observe"]);
        yield* Effect.promise(async () => {
          const client = createClient({ transport: make({ url: server.url, token }), retry });
          const thread = client.follow("T");
          await until(thread, () => thread.connection.state === "live");
          const reading = (async () => {
            for await (const _ of thread);
          })();
          await server.call(`/devices/${deviceId}`, { method: "DELETE" });
          let caught: unknown;
          await reading.catch((error: unknown) => {
            caught = error;
          });
          assert.instanceOf(caught, TributaryError);
          assert.deepInclude(caught, { code: "unauthorized", userAction: "login", status: 401 });
          client.close();
        });
      }
    }),
  );
});
