/** What every wire of the RPC group has to do, whatever carries its messages. */
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import type { Scope } from "effect";
import { randomOf } from "../model/random.ts";
import { valueOf } from "../support/rpc.ts";
import type { Frame, RpcClient } from "../support/rpc.ts";
import type { TestServer } from "../support/server.ts";
import { is, openSse } from "../support/sse.ts";

/** One wire and, beside it, HTTP to the very same store. */
export interface Connected extends Pick<TestServer, "call" | "work"> {
  readonly url: string;
  readonly token: string;
  readonly fetch: typeof fetch;
  /** Another client; the first is `rpc`. */
  readonly connect: Effect.Effect<RpcClient, never, Scope.Scope>;
  readonly rpc: RpcClient;
}

const promise = Effect.promise;
const isEvent = ({ event }: Frame): boolean => event === "event";
const synced = ({ event }: Frame): boolean => event === "synced";
const titled =
  (title: string) =>
  ({ event, data }: Frame): boolean =>
    event === "event" && data.payload.title === title;

export const suite = (name: string, connected: Effect.Effect<Connected, never, Scope.Scope>): void => {
  describe(`${name}: the RPC group`, () => {
    /** A wire with a thread `T` of the demo agent. */
    const withThread = Effect.tap(connected, ({ rpc, work }) =>
      Effect.gen(function* () {
        const made = valueOf(
          yield* promise(() => rpc.call("threads.create", { payload: { threadId: "T", cwd: work, instance: "demo" } })),
        );
        assert.strictEqual(made.threadId, "T");
        assert.strictEqual(made.receipt.status, "accepted");
      }),
    );
    const rename = ({ rpc }: Connected, title: string) =>
      Effect.map(
        promise(() => rpc.call("threads.update", { params: { threadId: "T" }, payload: { title } })),
        valueOf,
      );

    it.live("answers as HTTP does", () =>
      Effect.gen(function* () {
        const wire = yield* withThread;
        const { rpc, call } = wire;
        for (const [tag, payload, path] of [
          ["system.version", {}, "/version"],
          ["settings.limits", {}, "/limits"],
          ["settings.settings", {}, "/settings"],
          ["projects.list", {}, "/projects"],
          ["threads.list", { query: { limit: "5" } }, "/threads?limit=5"],
          ["threads.list", { query: { limit: 5 } }, "/threads?limit=5"],
          ["threads.list", {}, "/threads"],
          ["threads.get", { params: { threadId: "T" } }, "/threads/T"],
          ["events.page", { params: { threadId: "T" }, query: {} }, "/threads/T/events"],
          ["requests.list", {}, "/requests"],
          ["inputs.list", { params: { threadId: "T" } }, "/threads/T/inputs"],
        ] as const) {
          const answered = yield* promise(() => call(path));
          assert.strictEqual(answered.status, 200, path);
          assert.deepStrictEqual(valueOf(yield* promise(() => rpc.call(tag, payload))), answered.body, tag);
        }
      }),
    );

    it.live("refuses as HTTP does, with the same bodies", () =>
      Effect.gen(function* () {
        const { rpc, call, work } = yield* withThread;
        const elsewhere = { threadId: "X", cwd: "/", instance: "demo" };
        for (const [tag, payload, path, options] of [
          ["threads.get", { params: { threadId: "no" } }, "/threads/no", {}],
          ["threads.get", { params: { threadId: "T" }, query: { after: "r:1.1.1" } }, "/threads/T?after=r:1.1.1", {}],
          ["events.page", { params: { threadId: "T" }, query: { after: "x" } }, "/threads/T/events?after=x", {}],
          ["threads.list", { query: { limit: "0" } }, "/threads?limit=0", {}],
          ["threads.list", { query: { archived: "maybe" } }, "/threads?archived=maybe", {}],
          ["threads.create", { payload: { cwd: work } }, "/threads", { body: { cwd: work } }],
          [
            "threads.create",
            { payload: { cwd: 7, instance: "demo" } },
            "/threads",
            { body: { cwd: 7, instance: "demo" } },
          ],
          [
            "threads.create",
            { payload: elsewhere, commandId: "c-else" },
            "/threads",
            { body: elsewhere, headers: { "idempotency-key": "c-else" } },
          ],
          ["threads.update", { params: { threadId: "T" }, payload: {} }, "/threads/T", { method: "PATCH", body: {} }],
          [
            "requests.answer",
            { params: { requestId: "no" }, payload: { answer: { optionId: "yes" } } },
            "/requests/no/answer",
            { body: { answer: { optionId: "yes" } } },
          ],
        ] as const) {
          const answered = yield* promise(() => call(path, options));
          assert.isAtLeast(answered.status, 400, path);
          assert.deepStrictEqual(
            yield* promise(() => rpc.call(tag, payload)),
            { problem: answered.body },
            `${tag} ${JSON.stringify(payload)}`,
          );
        }
      }),
    );

    it.live("has the same receipt for the same command, on whichever wire it comes again (I2)", () =>
      Effect.gen(function* () {
        const { rpc, call, connect } = yield* withThread;
        const payload = { title: "once" };
        const request = { params: { threadId: "T" }, payload, commandId: "c-1" };
        const first = valueOf(yield* promise(() => rpc.call("threads.update", request)));
        const second = valueOf(yield* promise(() => rpc.call("threads.update", request)));
        const other = yield* connect;
        const third = valueOf(yield* promise(() => other.call("threads.update", request)));
        const overHttp = yield* promise(() =>
          call("/threads/T", { method: "PATCH", body: payload, headers: { "idempotency-key": "c-1" } }),
        );
        assert.strictEqual(first.commandId, "c-1");
        assert.deepStrictEqual([second, third, overHttp.body], [first, first, first]);
      }),
    );

    it.live("emits the very frames that server-sent events have, the backlog and what follows", () =>
      Effect.gen(function* () {
        const wire = yield* withThread;
        const { rpc, url, token, fetch } = wire;
        yield* rename(wire, "before ☂ \ud83d\ude00");
        for (const [tag, payload, path] of [
          ["events.live", { params: { threadId: "T" }, query: {} }, "/threads/T/live"],
          ["events.sessionLive", { params: { threadId: "T" } }, "/sessions/T/live"],
          ["events.liveMany", { query: { threads: "T" } }, "/live?threads=T"],
        ] as const) {
          const sse = yield* Effect.acquireRelease(
            promise(() => openSse(`${url}${path}`, { token, fetch })),
            (stream) => Effect.sync(stream.close),
          );
          const following = rpc.follow(tag, payload);
          const plain = (frames: ReadonlyArray<Frame>) =>
            frames.map(({ id, event, data }) => (event === "synced" ? { id, event } : { id, event, data }));
          assert.deepStrictEqual(
            plain(yield* promise(() => following.take(synced))),
            plain((yield* promise(() => sse.take(is("synced")))) as ReadonlyArray<Frame>),
          );
          yield* rename(wire, `after ${tag}`);
          const until = titled(`after ${tag}`);
          assert.deepStrictEqual(
            plain(yield* promise(() => following.take(until))),
            plain((yield* promise(() => sse.take((frame) => until(frame as Frame)))) as ReadonlyArray<Frame>),
          );
          following.stop();
          assert.deepStrictEqual(yield* promise(() => following.ended), { interrupted: true });
        }
      }),
    );

    it.live("gives a whole history as a stream, the same as the array over HTTP", () =>
      Effect.gen(function* () {
        const wire = yield* withThread;
        for (let round = 0; round < 5; round += 1) yield* rename(wire, `t${round}`);
        const following = wire.rpc.follow("events.replay", { params: { threadId: "T" } });
        const seen: Array<unknown> = [];
        for (;;) {
          const event = yield* promise(following.next);
          if (event === undefined) break;
          seen.push(event);
        }
        assert.deepStrictEqual(seen, (yield* promise(() => wire.call("/sessions/T/replay"))).body);
      }),
    );

    it.live("has neither a gap nor a repeat, wherever it is cut and resumed by cursor (I10)", () =>
      Effect.gen(function* () {
        const wire = yield* withThread;
        const seed = 20_261_130;
        const random = randomOf(seed);
        const seen: Array<unknown> = [];
        let cursor: string | undefined;
        let written = 1;
        for (let round = 0; round < 25; round += 1) {
          yield* rename(wire, `away ${round}`);
          const client = yield* wire.connect;
          const following = client.follow("events.live", {
            params: { threadId: "T" },
            query: cursor === undefined ? {} : { after: cursor },
          });
          yield* rename(wire, `near ${round}`);
          written += 2;
          const upTo = seen.length + random.int(written - seen.length + 1);
          while (seen.length < upTo) {
            const frame = yield* promise(following.next);
            if (frame === undefined) throw new Error(`the stream ended (seed ${seed}, round ${round})`);
            if (!isEvent(frame)) continue;
            seen.push(frame.data);
            cursor = frame.id;
          }
          // Cut in the middle of a chunk, too: what was not taken comes again, what was does not.
          if (random.chance(0.5)) following.stop();
          client.close();
        }
        const rest = wire.rpc.follow("events.live", {
          params: { threadId: "T" },
          query: cursor === undefined ? {} : { after: cursor },
        });
        seen.push(...(yield* promise(() => rest.take(synced))).filter(isEvent).map(({ data }) => data));
        rest.stop();
        const all = (yield* promise(() => wire.call("/sessions/T/replay"))).body;
        assert.deepStrictEqual(seen, all, `seed ${seed}`);
      }),
    );

    it.live("says reset for a cursor of another log, and ends", () =>
      Effect.gen(function* () {
        const { rpc } = yield* withThread;
        const following = rpc.follow("events.live", { params: { threadId: "T" }, query: { after: "e:another.1" } });
        assert.strictEqual((yield* promise(following.next))?.event, "reset");
        assert.isUndefined(yield* promise(following.next));
        assert.deepStrictEqual(Object.keys(yield* promise(() => following.ended)), ["value"]);
      }),
    );

    it.live("makes the next chunk when the last one was acknowledged, and calls go on beside it", () =>
      Effect.gen(function* () {
        const wire = yield* withThread;
        const following = wire.rpc.follow("events.live", { params: { threadId: "T" } });
        while (following.chunks() === 0) yield* promise(() => wire.rpc.ping());
        for (let round = 0; round < 20; round += 1) yield* rename(wire, `t${round}`);
        yield* promise(() => wire.rpc.ping());
        assert.strictEqual(following.chunks(), 1);
        const events = (yield* promise(() => following.take(titled("t19")))).filter(isEvent);
        assert.strictEqual(events.length, 21);
        following.stop();
      }),
    );

    it.live("tells a call that is unknown, and goes on", () =>
      Effect.gen(function* () {
        const { rpc } = yield* connected;
        for (const tag of ["nothing.here", "__proto__", "rpc.ticket", "attachments.upload", ""]) {
          const outcome = yield* promise(() => rpc.call(tag));
          assert.include("problem" in outcome ? outcome.problem : {}, { code: "not_found", status: 404 }, tag);
        }
        yield* promise(() => rpc.ping());
      }),
    );

    it.live("has so many calls at once, and refuses more", () =>
      Effect.gen(function* () {
        const wire = yield* withThread;
        const { maxCallsPerSocket } = valueOf(yield* promise(() => wire.rpc.call("settings.limits")));
        const streams = Array.from({ length: maxCallsPerSocket }, () =>
          wire.rpc.follow("events.live", { params: { threadId: "T" } }),
        );
        for (const stream of streams) yield* promise(() => stream.take(synced));
        const refused = yield* promise(() => wire.rpc.call("system.version"));
        assert.include("problem" in refused ? refused.problem : {}, { code: "too_many_requests", status: 429 });
        streams[0]?.stop();
        yield* promise(async () => streams[0]?.ended);
        valueOf(yield* promise(() => wire.rpc.call("system.version")));
        for (const stream of streams.slice(1)) stream.stop();
      }),
    );
  });
};
