import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer } from "effect";
import { Core } from "../../src/core.ts";
import { purgeDue } from "../../src/Purges.ts";
import { Configuration } from "../../src/config/Configuration.ts";
import { addInstance } from "../support/agents.ts";
import type { TestServer } from "../support/server.ts";
import { freshServer, startServer, temporaryFolders } from "../support/server.ts";
import { is, openSse } from "../support/sse.ts";

const secret = "Xylophone-7431";
const talkative = { name: "talkative", otherwise: [{ do: "text", text: `${secret}: {{input}}.` }] };

const call = (server: TestServer, path: string, options: Parameters<TestServer["call"]>[1] = {}) =>
  Effect.promise(() => server.call(path, options));

/** A thread in which the secret was said, and its turn is over. */
const said = Effect.fnUntraced(function* (server: TestServer, threadId: string) {
  const body = { threadId, cwd: server.work, instance: "talkative", input: { inputId: `${threadId}-1`, text: secret } };
  yield* call(server, "/threads", { body });
  const stream = yield* Effect.promise(() =>
    openSse(`${server.url}/threads/${threadId}/live`, { token: server.token }),
  );
  const frames = yield* Effect.promise(() => stream.take(is("event", "turn.ended")));
  stream.close();
  const cursor = frames.find(({ event }) => event === "event")?.id ?? "";
  return { cursor, last: frames.at(-1)?.id ?? "" };
});

/** Files of the data folder in which somebody can still read it; the agents' own scripts are configuration. */
const readable = (data: string): ReadonlyArray<string> =>
  readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name !== "config.json")
    .filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(secret))
    .map(({ name }) => name);

const erased = (data: string) =>
  Effect.promise(async () => {
    for (let patience = 0; patience < 200 && readable(data).length > 0; patience += 1)
      await new Promise((resolve) => {
        setTimeout(resolve, 25);
      });
    return readable(data);
  });

describe("purge over HTTP", () => {
  it.live("erases what was said, in the data folder too; its place in the order stays (I3)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* addInstance(server, "talkative", talkative);
      const gone = yield* said(server, "gone");
      yield* call(server, "/threads/gone", { method: "PATCH", body: { title: `About ${secret}` } });
      const kept = yield* said(server, "kept");
      assert.isAbove(readable(server.data).length, 0);
      const purged = yield* call(server, "/threads/gone?purge=true", { method: "DELETE" });
      assert.deepInclude(purged.body, { status: "accepted" });
      // As often as one likes; also of one that was deleted before.
      assert.strictEqual((yield* call(server, "/threads/gone?purge=true", { method: "DELETE" })).status, 200);
      // From its beginning, which others had read before: those pages are not kept.
      const anew = yield* Effect.promise(() => openSse(`${server.url}/threads/gone/live`, { token: server.token }));
      if (anew.status === 200) {
        const frames = yield* Effect.promise(() => anew.take(is("synced")));
        assert.notInclude(JSON.stringify(frames), secret);
      }
      anew.close();
      const follow = `${server.url}/threads/kept/live?after=${encodeURIComponent(kept.last)}`;
      const watching = yield* Effect.promise(() => openSse(follow, { token: server.token }));
      yield* Effect.promise(() => watching.take(is("synced")));
      yield* call(server, "/threads/kept", { method: "DELETE" });
      assert.strictEqual((yield* call(server, "/threads/kept?purge=true", { method: "DELETE" })).status, 200);
      assert.deepStrictEqual(yield* erased(server.data), []);

      assert.strictEqual((yield* call(server, "/threads/gone")).status, 404);
      assert.strictEqual((yield* call(server, "/threads/gone/records")).status, 404);
      const again = yield* call(server, "/threads", {
        body: { threadId: "gone", cwd: server.work, instance: "talkative" },
      });
      assert.deepInclude(again.body, { code: "thread_deleted" });
      const unknown = yield* call(server, "/threads/never?purge=true", { method: "DELETE" });
      assert.deepInclude(unknown.body, { code: "thread_not_found" });

      // Who follows it hears so, at its place; who comes later, with whatever cursor, that there is nothing.
      const rest = yield* Effect.promise(() => watching.take(is("event", "thread.purged")));
      watching.close();
      assert.deepStrictEqual(
        rest.filter(({ event }) => event === "event").map(({ data }) => data.type),
        ["session.released", "thread.deleted", "thread.purged"],
      );
      for (const cursor of [kept.cursor, kept.last])
        assert.strictEqual(
          (yield* call(server, `/threads/kept/events?after=${encodeURIComponent(cursor)}`)).status,
          404,
        );
      const all = `${server.url}/live?after=${encodeURIComponent(gone.cursor)}`;
      const shells = yield* Effect.promise(() => openSse(all, { token: server.token }));
      const synced = yield* Effect.promise(() => shells.take(is("synced")));
      shells.close();
      assert.isFalse(synced.some(({ event }) => event === "reset" || event === "shell"));
      const checked = yield* call(server, "/maintenance/check");
      assert.deepInclude(checked.body, { problems: [], differences: [] });
    }),
  );

  it.live("of a thread that is at work: its agent is ended first, and says nothing afterwards", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const chatty = { do: "text", text: `${secret} `, item: "m", end: false, delayMs: 1 };
      yield* addInstance(server, "flood", {
        name: "flood",
        otherwise: [{ do: "repeat", times: 100_000, steps: [chatty] }],
      });
      yield* call(server, "/threads", {
        body: { threadId: "T", cwd: server.work, instance: "flood", input: { inputId: "i", text: "go" } },
      });
      const stream = yield* Effect.promise(() => openSse(`${server.url}/threads/T/live`, { token: server.token }));
      yield* Effect.promise(() => stream.take(is("event", "message.appended")));
      stream.close();
      assert.strictEqual((yield* call(server, "/threads/T?purge=true", { method: "DELETE" })).status, 200);
      assert.deepStrictEqual(yield* erased(server.data), []);
    }),
  );
});

describe("deleted threads", () => {
  it.live("are purged after the days of the setting: 30, another number, or never", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* startServer(folders);
          yield* call(server, "/projects", { body: { projectId: "P", root: server.work } });
          yield* addInstance(server, "talkative", talkative);
          for (const threadId of ["A", "B"]) yield* said(server, threadId);
          yield* call(server, "/threads/A", { method: "DELETE" });
          const wrong = yield* call(server, "/settings", { method: "PATCH", body: { purgeDeletedAfterDays: -1 } });
          assert.strictEqual(wrong.status, 400);
        }),
      );
      const purged = yield* Effect.scoped(
        Effect.gen(function* () {
          const services = yield* Layer.build(Core.layer({ dir: folders.data, start: true }));
          return yield* Effect.provideContext(
            Effect.gen(function* () {
              const configuration = yield* Configuration;
              const set = (days: number | "never" | undefined) =>
                configuration.update(({ instances }) => ({
                  instances,
                  settings: days === undefined ? {} : { purgeDeletedAfterDays: days },
                }));
              const counts: Array<number> = [];
              for (const days of [undefined, "never", 1, 0, 0] as const) {
                yield* set(days);
                counts.push(yield* purgeDue);
              }
              return counts;
            }),
            services,
          );
        }),
      );
      assert.deepStrictEqual(purged, [0, 0, 0, 1, 0]);
    }),
  );
});
