import { assert, describe, it } from "@effect/vitest";
import { Effect, Exit, Scope } from "effect";
import type { TestServer } from "../support/server.ts";
import { freshServer, startServer, temporaryFolders } from "../support/server.ts";
import { is, openSse } from "../support/sse.ts";
import type { SseFrame, SseStream } from "../support/sse.ts";

const createThread = (server: TestServer, threadId: string) =>
  Effect.promise(() => server.call("/threads", { body: { threadId, cwd: server.work, instance: "demo" } }));

const rename = (server: TestServer, threadId: string, title: string) =>
  Effect.promise(() => server.call(`/threads/${threadId}`, { method: "PATCH", body: { title } }));

const open = (server: TestServer, path: string, lastEventId?: string) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      openSse(`${server.url}${path}`, { token: server.token, ...(lastEventId === undefined ? {} : { lastEventId }) }),
    ),
    (stream) => Effect.sync(stream.close),
  );

const take = (stream: SseStream, until: (frame: SseFrame) => boolean) => Effect.promise(() => stream.take(until));
const titled = (title: string) => (frame: SseFrame) => frame.event === "event" && frame.data.payload.title === title;
const events = (frames: ReadonlyArray<SseFrame>) => frames.filter(is("event"));
const logged = (server: TestServer, threadId: string) =>
  Effect.map(
    Effect.promise(() => server.call(`/threads/${threadId}/events`)),
    ({ body }) => body.events as ReadonlyArray<unknown>,
  );

describe("the live stream of all threads", () => {
  it.live("takes ids with what separates ids", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const ids = ["a,b", "50%25", "%2C"];
      for (const id of ids) yield* createThread(server, id);
      const listed = ids.map((id) => id.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");
      const stream = yield* open(server, `/live?threads=${encodeURIComponent(listed)}`);
      yield* take(stream, is("synced"));
      for (const id of ids) {
        yield* rename(server, encodeURIComponent(id), id);
        const renamed = (yield* take(stream, titled(id))).at(-1);
        assert.strictEqual(renamed?.data.streamId, id);
      }
    }),
  );
});

describe("the live stream of a thread", () => {
  it.live("gives the backlog, says that it is synced, and follows", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* createThread(server, "T");
      yield* rename(server, "T", "before");
      const stream = yield* open(server, "/threads/T/live");
      const backlog = yield* take(stream, is("synced"));
      assert.deepStrictEqual(
        backlog.map(({ event, data }) => (event === "event" ? data.type : event)),
        ["thread.created", "thread.renamed", "synced"],
      );
      assert.strictEqual(backlog.at(-1)?.data.sequence, backlog.at(-2)?.data.sequence);
      yield* rename(server, "T", "after");
      const followed = yield* take(stream, titled("after"));
      assert.deepStrictEqual(
        [...events(backlog), ...events(followed)].map(({ data }) => data),
        yield* logged(server, "T"),
      );
    }),
  );

  it.live("has neither a gap nor a repeat, wherever it is cut and resumed (I10, pain 18)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* createThread(server, "T");
      const seen: Array<unknown> = [];
      let cursor: string | undefined;
      for (let round = 0; round < 8; round += 1) {
        // What happens while nobody listens.
        yield* rename(server, "T", `away ${round}`);
        const byHeader = round % 2 === 0;
        const query = byHeader || cursor === undefined ? "" : `?after=${encodeURIComponent(cursor)}`;
        const stream = yield* open(server, `/threads/T/live${query}`, byHeader ? cursor : undefined);
        yield* rename(server, "T", `near ${round}`);
        yield* rename(server, "T", `end ${round}`);
        // Cut after another frame each time, in the backlog as well as behind it.
        const wanted = 1 + (round % 4);
        let taken = 0;
        const frames = yield* take(stream, (frame) => frame.event === "event" && (taken += 1) >= Math.min(wanted, 3));
        for (const frame of events(frames)) {
          seen.push(frame.data);
          assert.strictEqual(frame.id, frame.data.cursor);
          cursor = frame.id;
        }
        stream.close();
      }
      const rest = yield* open(server, `/threads/T/live`, cursor);
      seen.push(...events(yield* take(rest, is("synced"))).map(({ data }) => data));
      assert.deepStrictEqual(seen, yield* logged(server, "T"));
    }),
  );

  it.live("under the names of session replay is the same", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* createThread(server, "T");
      yield* rename(server, "T", "x");
      const all = yield* logged(server, "T");
      const stream = yield* open(server, "/sessions/T/live");
      assert.deepStrictEqual(
        events(yield* take(stream, is("synced"))).map(({ data }) => data),
        all,
      );
      const replay = yield* Effect.promise(() => server.call("/sessions/T/replay"));
      assert.deepStrictEqual(replay.body, all);
      const lines = yield* Effect.promise(() =>
        server.call("/sessions/T/replay", { headers: { accept: "application/x-ndjson" } }),
      );
      assert.match(lines.type, /ndjson/);
      assert.deepStrictEqual(
        (lines.body as string)
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line)),
        all,
      );
    }),
  );

  it.live("says reset for a cursor of another log or beyond this one's end", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* createThread(server, "T");
      const cursor = (yield* Effect.promise(() => server.call("/threads/T"))).body.cursor as string;
      for (const bad of ["e:another-log.1", cursor.replace(/\d+$/, "999999")]) {
        const stream = yield* open(server, `/threads/T/live?after=${encodeURIComponent(bad)}`);
        const first = yield* Effect.promise(stream.next);
        assert.strictEqual(first?.event, "reset");
        assert.isUndefined(yield* Effect.promise(stream.next));
      }
      const good = yield* open(server, `/threads/T/live?after=${encodeURIComponent(cursor)}`);
      assert.strictEqual((yield* Effect.promise(good.next))?.event, "synced");
    }),
  );

  it.live("is caught up by a hundred clients at once, each with everything once", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* createThread(server, "T");
      const streams = yield* Effect.forEach(Array.from({ length: 100 }), () => open(server, "/threads/T/live"), {
        concurrency: 20,
      });
      yield* Effect.forEach(streams, (stream) => take(stream, is("synced")), { concurrency: "unbounded" });
      yield* Effect.forEach(
        Array.from({ length: 20 }, (_, index) => `t${index}`),
        (title) => rename(server, "T", title),
        { concurrency: 5 },
      );
      yield* rename(server, "T", "last");
      const all = yield* Effect.forEach(streams, (stream) => take(stream, titled("last")), {
        concurrency: "unbounded",
      });
      const expected = (yield* logged(server, "T")).slice(1);
      for (const frames of all)
        assert.deepStrictEqual(
          events(frames).map(({ data }) => data),
          expected,
        );
    }),
  );

  it.live("pings with data while nothing happens (pain 18)", () =>
    Effect.gen(function* () {
      const server = yield* startServer(yield* temporaryFolders, { pingInterval: 20 });
      yield* Effect.promise(() => server.call("/projects", { body: { root: server.work } }));
      yield* createThread(server, "T");
      const stream = yield* open(server, "/threads/T/live");
      yield* take(stream, is("synced"));
      for (let count = 0; count < 3; count += 1) {
        const frame = yield* Effect.promise(stream.next);
        assert.strictEqual(frame?.event, "ping");
        assert.match(frame?.data.serverTime, /^\d{4}-.*Z$/);
      }
    }),
  );

  it.live("ends at once when the server stops", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make();
      const folders = yield* temporaryFolders;
      const server = yield* Scope.provide(startServer(folders), scope);
      yield* Effect.promise(() => server.call("/projects", { body: { root: server.work } }));
      yield* createThread(server, "T");
      const stream = yield* open(server, "/threads/T/live");
      yield* take(stream, is("synced"));
      const started = performance.now();
      yield* Scope.close(scope, Exit.void);
      assert.isUndefined(yield* Effect.promise(stream.next));
      assert.isBelow(performance.now() - started, 1500);
    }),
  );
});

describe("the live stream of all threads", () => {
  it.live("begins with every shell, then gives those that change and the events of named threads", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* createThread(server, "A");
      yield* createThread(server, "B");
      const stream = yield* open(server, "/live?threads=B");
      const first = yield* take(stream, is("synced"));
      assert.sameMembers(
        first.filter(is("shell")).map(({ data }) => data.threadId),
        ["A", "B"],
      );
      assert.lengthOf(events(first), 0);
      yield* rename(server, "A", "for A");
      yield* rename(server, "B", "for B");
      const rest = yield* take(stream, titled("for B"));
      const shown = rest.filter(is("shell")).map(({ data }) => `${data.threadId}: ${data.title}`);
      assert.include(shown, "A: for A");
      assert.include(shown, "B: for B");
      assert.deepStrictEqual(
        events(rest).map(({ data }) => data.payload.title),
        ["for B"],
      );
    }),
  );

  it.live("tells a person's other devices how far was read", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* createThread(server, "A");
      const stream = yield* open(server, "/live");
      const first = yield* take(stream, is("synced"));
      assert.strictEqual(first.find(is("shell"))?.data.readTo, 0);
      yield* Effect.promise(() => server.call("/threads/A/read", { body: { upTo: 2 } }));
      const frames = yield* take(stream, is("shell"));
      assert.deepInclude(frames.at(-1)?.data, { threadId: "A", readTo: 2 });
    }),
  );

  it.live("resumed after a cursor has every shell that changed meanwhile, and no event twice", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      for (const threadId of ["A", "B", "C"]) yield* createThread(server, threadId);
      const stream = yield* open(server, "/live?threads=A");
      yield* take(stream, is("synced"));
      yield* rename(server, "A", "one");
      const cursor = (yield* take(stream, titled("one"))).at(-1)?.id;
      stream.close();
      yield* rename(server, "B", "two");
      yield* rename(server, "A", "three");
      const again = yield* open(server, "/live?threads=A", cursor);
      const frames = yield* take(again, is("synced"));
      const shown = frames.filter(is("shell")).map(({ data }) => `${data.threadId}: ${data.title}`);
      assert.include(shown, "A: three");
      assert.include(shown, "B: two");
      assert.deepStrictEqual(
        events(frames).map(({ data }) => data.payload.title),
        ["three"],
      );
    }),
  );
});
