import { afterAll, describe, expect, it } from "@effect/vitest";
import { type Cause, Deferred, Effect, Fiber, Queue, type Scope, Stream } from "effect";
import { TestClock } from "effect/testing";

import {
  type IncomingRequest,
  type JsonRpc,
  type JsonRpcOptions,
  type Line,
  makeJsonRpc,
  OversizeLine,
  type OrphanReply,
  type RpcFrame,
  StdinClosed,
} from "../../src/process/index.ts";
import { leftovers, spawnChild } from "./children.ts";

afterAll(async () => {
  expect(await Effect.runPromise(leftovers)).toEqual([]);
});

/** A peer in memory: the test says its lines and sees ours. */
const makePeer = Effect.fnUntraced(function* (options: Omit<JsonRpcOptions, "transport"> = {}) {
  const lines = yield* Queue.unbounded<Line, Cause.Done>();
  const sent = yield* Queue.unbounded<RpcFrame>();
  let write: (line: string) => Effect.Effect<void, StdinClosed> = (line) =>
    Effect.asVoid(Queue.offer(sent, JSON.parse(line) as RpcFrame));
  const rpc = yield* makeJsonRpc({
    ...options,
    transport: { lines: Stream.fromQueue(lines), write: (line) => write(line) },
  });
  return {
    rpc,
    /** The peer says this. */
    say: (line: Line | object) =>
      Queue.offer(lines, typeof line === "string" || line instanceof OversizeLine ? line : JSON.stringify(line)),
    /** The next frame that reached the peer. */
    hear: Queue.take(sent),
    heardNothing: Effect.map(Queue.size(sent), (size) => size === 0),
    /** The peer's output ends. */
    hangUp: Queue.end(lines),
    failWrites: (error: StdinClosed) => {
      write = () => Effect.fail(error);
    },
    blockWrites: () => {
      write = () => Effect.never;
    },
  };
});

/** Lets the reader handle what was said: it answers a request of ours after it. */
const caughtUp = (peer: Effect.Success<ReturnType<typeof makePeer>>): Effect.Effect<void> =>
  Effect.gen(function* () {
    const fiber = yield* start(peer.rpc.request("sync"));
    const { id } = yield* peer.hear;
    yield* peer.say({ id, result: null });
    yield* Fiber.join(fiber);
  }).pipe(Effect.orDie);

const start = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<Fiber.Fiber<A, E>> =>
  Effect.forkChild(effect, { startImmediately: true });

const broken = (wrote: "nothing" | "unknown"): StdinClosed =>
  new StdinClosed({ reason: "broken", wrote, message: "gone" });

describe("requests of ours", () => {
  it.effect("carry ids of ours and get their own answers, in any order", () =>
    Effect.gen(function* () {
      const peer = yield* makePeer();
      const first = yield* start(peer.rpc.request("a", { x: 1 }));
      const second = yield* start(peer.rpc.request("b"));
      expect(yield* peer.hear).toEqual({ jsonrpc: "2.0", id: 1, method: "a", params: { x: 1 } });
      expect(yield* peer.hear).toEqual({ jsonrpc: "2.0", id: 2, method: "b" });
      yield* peer.say({ id: 2, result: "for b" });
      yield* peer.say({ jsonrpc: "2.0", id: 1 });
      expect(yield* Fiber.join(second)).toBe("for b");
      expect(yield* Fiber.join(first)).toBeUndefined();
    }),
  );

  it.effect("leave out the version where the runtime does", () =>
    Effect.gen(function* () {
      const peer = yield* makePeer({ dialect: "bare" });
      yield* peer.rpc.notify("hello", { x: 1 });
      expect(yield* peer.hear).toEqual({ method: "hello", params: { x: 1 } });
    }),
  );

  it.effect("fail with the runtime's own error, however it is shaped", () =>
    Effect.gen(function* () {
      const peer = yield* makePeer();
      const errors = [{ code: -32001, message: "no", data: { why: 1 } }, "just words", { other: true }];
      const expected = [
        { _tag: "RpcError", code: -32001, message: "no", data: { why: 1 } },
        { _tag: "RpcError", message: "just words" },
        { _tag: "RpcError", message: "the runtime gave no message" },
      ];
      for (const [index, error] of errors.entries()) {
        const fiber = yield* start(Effect.flip(peer.rpc.request("a")));
        const { id } = yield* peer.hear;
        yield* peer.say({ id, error });
        expect(yield* Fiber.join(fiber)).toMatchObject(expected[index] ?? {});
      }
    }),
  );

  it.effect("fail at their deadline; the late answer is reported and harms nothing", () =>
    Effect.gen(function* () {
      const orphans: Array<OrphanReply> = [];
      const peer = yield* makePeer({ onOrphan: (reply) => Effect.sync(() => orphans.push(reply)) });
      const fiber = yield* start(Effect.flip(peer.rpc.request("slow", undefined, { deadline: "30 seconds" })));
      const { id } = yield* peer.hear;
      yield* TestClock.adjust("30 seconds");
      const failure = yield* Fiber.join(fiber);
      expect(failure).toMatchObject({ _tag: "RpcTimeout", method: "slow", deadlineMillis: 30_000 });
      expect(failure.message).toContain("slow");
      const late = { id, result: "late" };
      yield* peer.say(late);
      yield* peer.say(late);
      yield* caughtUp(peer);
      expect(orphans).toEqual([
        { why: "late", method: "slow", frame: late },
        { why: "unknown", frame: late },
      ]);
      expect(yield* peer.rpc.orphans).toBe(2);
    }),
  );

  it.effect("are given up when they are interrupted, and the runtime is told", () =>
    Effect.gen(function* () {
      const orphans: Array<OrphanReply> = [];
      const peer = yield* makePeer({
        onOrphan: (reply) => Effect.sync(() => orphans.push(reply)),
        onCancel: (call) => ({ method: "$/cancel", params: call }),
      });
      const fiber = yield* start(peer.rpc.request("long"));
      const { id } = yield* peer.hear;
      yield* Fiber.interrupt(fiber);
      expect(yield* peer.hear).toMatchObject({
        method: "$/cancel",
        params: { id, method: "long", why: "interrupted" },
      });
      yield* peer.say({ id, error: { code: -32800, message: "cancelled" } });
      yield* caughtUp(peer);
      expect(orphans).toMatchObject([{ why: "cancelled", method: "long" }]);
    }),
  );

  it.effect("are not cancelled where they were not sent", () =>
    Effect.gen(function* () {
      const cancelled: Array<string> = [];
      const peer = yield* makePeer({
        onCancel: (call) => {
          cancelled.push(call.method);
          return undefined;
        },
      });
      peer.blockWrites();
      const stuck = yield* start(peer.rpc.request("stuck in the pipe"));
      const waiting = yield* start(peer.rpc.request("behind it"));
      yield* Fiber.interrupt(waiting);
      yield* Fiber.interrupt(stuck);
      expect(cancelled).toEqual(["stuck in the pipe"]);
    }),
  );

  it.effect("all fail when the connection ends, and say whether they were sent", () =>
    Effect.gen(function* () {
      const peer = yield* makePeer();
      const answered = yield* start(peer.rpc.request("answered"));
      const open = yield* start(Effect.flip(peer.rpc.request("open")));
      yield* peer.say({ id: (yield* peer.hear)["id"], result: 1 });
      peer.blockWrites();
      const stuck = yield* start(Effect.flip(peer.rpc.request("stuck")));
      const behind = yield* start(Effect.flip(peer.rpc.request("behind")));
      yield* peer.hangUp;
      yield* peer.rpc.closed;
      expect(yield* Fiber.join(answered)).toBe(1);
      expect(yield* Fiber.join(open)).toMatchObject({ _tag: "RpcClosed", method: "open", wrote: "unknown" });
      expect(yield* Fiber.join(stuck)).toMatchObject({ _tag: "RpcClosed", wrote: "unknown" });
      expect(yield* Fiber.join(behind)).toMatchObject({ _tag: "RpcClosed", wrote: "nothing" });
      expect(yield* Effect.flip(peer.rpc.request("after"))).toMatchObject({ _tag: "RpcClosed", wrote: "nothing" });
      expect(yield* Effect.flip(peer.rpc.notify("after"))).toMatchObject({ _tag: "RpcClosed", wrote: "nothing" });
    }),
  );

  it.effect("fail when they can't be written", () =>
    Effect.gen(function* () {
      const peer = yield* makePeer();
      for (const wrote of ["nothing", "unknown"] as const) {
        peer.failWrites(broken(wrote));
        expect(yield* Effect.flip(peer.rpc.request("a"))).toMatchObject({ _tag: "RpcClosed", method: "a", wrote });
      }
    }),
  );
});

describe("requests of the runtime", () => {
  const collecting = Effect.fnUntraced(function* () {
    const asked = yield* Queue.unbounded<IncomingRequest>();
    const peer = yield* makePeer({ onRequest: (request) => Effect.asVoid(Queue.offer(asked, request)) });
    return { ...peer, asked: Queue.take(asked) };
  });

  it.effect("may have id 0, a text, and ids that equal ours", () =>
    Effect.gen(function* () {
      const peer = yield* collecting();
      const ours = yield* start(peer.rpc.request("ours"));
      expect(yield* peer.hear).toMatchObject({ id: 1, method: "ours" });
      for (const id of [0, 1, "", "1", -3]) {
        yield* peer.say({ id, method: "ask", params: [id] });
        const request = yield* peer.asked;
        expect(request).toMatchObject({ id, method: "ask", params: [id] });
        yield* request.reply({ ok: id });
        expect(yield* peer.hear).toEqual({ jsonrpc: "2.0", id, result: { ok: id } });
      }
      yield* peer.say({ id: 1, result: "still ours" });
      expect(yield* Fiber.join(ours)).toBe("still ours");
    }),
  );

  it.effect("are answered once, later, with a result or an error", () =>
    Effect.gen(function* () {
      const peer = yield* collecting();
      yield* peer.say({ id: "a", method: "ask" });
      yield* peer.say({ id: "b", method: "ask" });
      const first = yield* peer.asked;
      const second = yield* peer.asked;
      yield* second.fail({ code: 1, message: "no" });
      expect(yield* peer.hear).toEqual({ jsonrpc: "2.0", id: "b", error: { code: 1, message: "no" } });
      yield* first.reply(undefined);
      expect(yield* peer.hear).toEqual({ jsonrpc: "2.0", id: "a", result: null });
      expect(yield* Effect.flip(first.reply(1))).toMatchObject({ _tag: "RpcAlreadyReplied", method: "ask" });
      expect(yield* Effect.flip(second.fail({ message: "again" }))).toMatchObject({ _tag: "RpcAlreadyReplied" });
      expect(yield* peer.heardNothing).toBe(true);
    }),
  );

  it.effect("can't be answered after the connection ended, and nothing was written", () =>
    Effect.gen(function* () {
      const peer = yield* collecting();
      yield* peer.say({ id: 0, method: "ask" });
      const request = yield* peer.asked;
      yield* peer.hangUp;
      yield* peer.rpc.closed;
      expect(yield* Effect.flip(request.reply(1))).toMatchObject({ _tag: "RpcClosed", wrote: "nothing" });
    }),
  );

  it.effect("are refused where nobody handles them, and when the handler fails", () =>
    Effect.gen(function* () {
      const bare = yield* makePeer();
      yield* bare.say({ id: 0, method: "what" });
      expect(yield* bare.hear).toMatchObject({ id: 0, error: { code: -32601 } });

      const failing = yield* makePeer({ onRequest: () => Effect.die("a fault of ours") });
      yield* failing.say({ id: 0, method: "what" });
      expect(yield* failing.hear).toMatchObject({ id: 0, error: { code: -32603 } });
      yield* caughtUp(failing);
    }),
  );
});

describe("everything else on the wire", () => {
  it.effect("notifications arrive in order, each after the hook before it", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>();
      const seen: Array<string> = [];
      const peer = yield* makePeer({
        onNotification: (method, params) =>
          Effect.gen(function* () {
            seen.push(`${method} ${JSON.stringify(params)}`);
            if (method === "first") yield* Deferred.await(gate);
          }),
      });
      yield* peer.say({ method: "first", params: { n: 1 } });
      yield* peer.say({ jsonrpc: "2.0", id: null, method: "second" });
      yield* Effect.yieldNow;
      expect(seen).toEqual(['first {"n":1}']);
      yield* Deferred.succeed(gate, undefined);
      yield* caughtUp(peer);
      expect(seen).toEqual(['first {"n":1}', "second undefined"]);
    }),
  );

  it.effect("noise is handed over and ends nothing", () =>
    Effect.gen(function* () {
      const noise: Array<Line> = [];
      const peer = yield* makePeer({ onNoise: (line) => Effect.sync(() => noise.push(line)) });
      const lines: ReadonlyArray<Line> = [
        "npm warn",
        "",
        "[]",
        "3",
        "null",
        '{"neither":1}',
        '{"id":{},"method":"m"}',
        '{"id":1,"method":5}',
        '{"id":1',
        new OversizeLine(9, "{"),
      ];
      for (const line of lines) yield* peer.say(line);
      yield* caughtUp(peer);
      expect(noise).toEqual(lines);
    }),
  );

  it.effect("an error for no request in particular is an orphan", () =>
    Effect.gen(function* () {
      const orphans: Array<OrphanReply> = [];
      const peer = yield* makePeer({ onOrphan: (reply) => Effect.sync(() => orphans.push(reply)) });
      const frame = { jsonrpc: "2.0", id: null, error: { code: -32700, message: "parse error" } };
      yield* peer.say(frame);
      yield* peer.say({ id: "not ours", result: 1 });
      yield* caughtUp(peer);
      expect(orphans).toMatchObject([{ why: "unknown", frame }, { why: "unknown" }]);
    }),
  );

  it.effect("the tap sees every frame in the order of the wire", () =>
    Effect.gen(function* () {
      const tapped: Array<readonly [string, RpcFrame]> = [];
      const peer = yield* makePeer({
        tap: (direction, frame) => tapped.push([direction, frame]),
        onRequest: (request) => Effect.ignore(request.reply("yes")),
      });
      const fiber = yield* start(peer.rpc.request("a"));
      yield* peer.say({ id: 0, method: "ask" });
      yield* peer.say("noise");
      yield* peer.say({ method: "told" });
      yield* peer.say({ id: 1, result: 1 });
      yield* Fiber.join(fiber);
      expect(tapped).toEqual([
        ["out", { jsonrpc: "2.0", id: 1, method: "a" }],
        ["in", { id: 0, method: "ask" }],
        ["out", { jsonrpc: "2.0", id: 0, result: "yes" }],
        ["in", { method: "told" }],
        ["in", { id: 1, result: 1 }],
      ]);
    }),
  );

  it.effect("a hook that fails does not end the connection", () =>
    Effect.gen(function* () {
      const peer = yield* makePeer({ onNotification: () => Effect.die("a fault of ours") });
      yield* peer.say({ method: "told" });
      yield* caughtUp(peer);
    }),
  );
});

describe("with a real process", () => {
  const withChild = <A, E>(
    options: Omit<JsonRpcOptions, "transport">,
    use: (rpc: JsonRpc) => Effect.Effect<A, E, Scope.Scope>,
  ) =>
    Effect.gen(function* () {
      const handle = yield* spawnChild("rpc");
      const rpc = yield* makeJsonRpc({ ...options, transport: handle });
      const result = yield* use(rpc);
      yield* handle.endInput;
      yield* rpc.closed;
      return result;
    });

  it.live("asks, is asked, is told, and survives noise", () =>
    Effect.gen(function* () {
      const told: Array<unknown> = [];
      const noise: Array<Line> = [];
      yield* withChild(
        {
          onRequest: (request) => Effect.ignore(request.reply({ answer: request.params })),
          onNotification: (_, params) => Effect.sync(() => told.push(params)),
          onNoise: (line) => Effect.sync(() => noise.push(line)),
        },
        (rpc) =>
          Effect.gen(function* () {
            const text = "é\u2028😀 \ud800";
            expect(yield* rpc.request("echo", { text })).toEqual({ text });
            expect(yield* Effect.flip(rpc.request("refuse"))).toMatchObject({
              code: -32001,
              message: "no",
              data: { why: 1 },
            });
            // The child asks under the id of our own open request.
            for (const id of [0, 3, "x"]) {
              expect(yield* rpc.request("ask", { id })).toMatchObject({ id, result: { answer: { text: "sure?" } } });
            }
            yield* rpc.request("tell", { count: 1000 });
            expect(told).toEqual(Array.from({ length: 1000 }, (_, index) => ({ index })));
            expect(yield* rpc.request("noise")).toBe("after the noise");
            expect(noise).toEqual(["npm warn something", "[1,2]", '{"neither":1}', ""]);
            const large = "z".repeat(1_000_000);
            expect(yield* rpc.request("echo", { large })).toEqual({ large });
          }),
      );
    }),
  );

  it.live("gives up after the deadline and reports the late answer", () =>
    Effect.gen(function* () {
      const late = yield* Deferred.make<OrphanReply>();
      yield* withChild({ onOrphan: (reply) => Effect.asVoid(Deferred.succeed(late, reply)) }, (rpc) =>
        Effect.gen(function* () {
          expect(yield* Effect.flip(rpc.request("silent", undefined, { deadline: 20 }))).toMatchObject({
            _tag: "RpcTimeout",
          });
          yield* rpc.notify("release", { id: 1 });
          expect(yield* Deferred.await(late)).toMatchObject({ why: "late", method: "silent" });
        }),
      );
    }),
  );

  it.live("fails what is open when the process ends", () =>
    withChild({}, (rpc) =>
      Effect.gen(function* () {
        const open = yield* start(Effect.flip(rpc.request("silent")));
        yield* Effect.ignore(rpc.request("quit", { code: 3 }));
        expect(yield* Fiber.join(open)).toMatchObject({ _tag: "RpcClosed", method: "silent", wrote: "unknown" });
      }),
    ),
  );
});
