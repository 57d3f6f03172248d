import { readFileSync } from "node:fs";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { tokenFile } from "../src/config/token.ts";
import { addInstance, asking } from "./support/agents.ts";
import { serveProcess } from "./support/process.ts";
import { client, temporaryFolders } from "./support/server.ts";
import { is, openSse } from "./support/sse.ts";

const serverOf = Effect.fnUntraced(function* (folders: { readonly data: string; readonly work: string }) {
  const running = yield* serveProcess({ cwd: folders.work, data: folders.data });
  const token = readFileSync(tokenFile(folders.data), "utf8").trim();
  const { url } = running;
  return { ...running, token, ...folders, call: client(url, token) };
});

describe("kill -9 in the middle of a turn", () => {
  it.live(
    "leaves nothing open: the next start settles the thread, and repeats what was acknowledged",
    () =>
      Effect.gen(function* () {
        const folders = yield* temporaryFolders;
        const server = yield* serverOf(folders);
        yield* Effect.promise(() => server.call("/projects", { body: { root: server.work } }));
        // In a process of its own, so that a survivor would be seen.
        yield* addInstance(server, "asking", asking, true);
        const headers = { "idempotency-key": "create-once" };
        const body = { cwd: server.work, instance: "asking", input: { inputId: "one", text: "hello" } };
        const create = (at: { readonly call: typeof server.call }) =>
          Effect.promise(() => at.call("/threads", { headers, body }));
        const created = yield* create(server);
        const { threadId } = created.body;
        const stream = yield* Effect.promise(() =>
          openSse(`${server.url}/threads/${threadId}/live`, { token: server.token }),
        );
        const before = yield* Effect.promise(() => stream.take(is("event", "request.opened")));
        const cursor = before.at(-1)?.id;
        server.kill("SIGKILL");
        const { signal } = yield* Effect.promise(() => server.ended);
        assert.strictEqual(signal, "SIGKILL");

        const again = yield* serverOf(folders);
        const page = (yield* Effect.promise(() => again.call(`/threads/${threadId}`))).body;
        assert.strictEqual(page.thread.session.state, "exited");
        assert.isUndefined(page.thread.activeTurnId);
        assert.deepStrictEqual(page.thread.pendingRequests, []);
        assert.deepStrictEqual(
          page.turns.map((turn: { state: string }) => turn.state),
          ["lost"],
        );
        const texts = page.rows.filter((row: { kind: string }) => row.kind === "message");
        assert.deepStrictEqual(
          texts.map((row: { text: string; streaming: boolean }) => [row.text, row.streaming]),
          [
            ["hello", false],
            ["You said hello.", false],
          ],
        );
        assert.deepStrictEqual((yield* create(again)).body, created.body);

        // Whoever followed goes on where it was, without a gap.
        const resumed = yield* Effect.promise(() =>
          openSse(`${again.url}/threads/${threadId}/live`, { token: again.token, lastEventId: cursor ?? "" }),
        );
        const rest = yield* Effect.promise(() => resumed.take(is("synced")));
        resumed.close();
        const all = (yield* Effect.promise(() => again.call(`/threads/${threadId}/events`))).body.events;
        assert.deepStrictEqual(
          [...before, ...rest].filter(is("event")).map(({ data }) => data),
          all,
        );

        // And the thread goes on: the same agent, another session of it.
        yield* Effect.promise(() =>
          again.call(`/threads/${threadId}/inputs`, { body: { text: "again", delivery: "prompt" } }),
        );
        const next = yield* Effect.promise(() =>
          openSse(`${again.url}/threads/${threadId}/live`, { token: again.token, lastEventId: rest.at(-1)?.id ?? "" }),
        );
        yield* Effect.promise(() => next.take(is("event", "request.opened")));
        next.close();
        again.kill("SIGTERM");
        assert.strictEqual((yield* Effect.promise(() => again.ended)).code, 0);
      }),
    60_000,
  );
});
