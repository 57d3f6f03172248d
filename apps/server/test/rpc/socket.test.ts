import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { assert, describe, it } from "@effect/vitest";
import { closeCodes } from "@tributary/contracts/rpc";
import { Effect, Exit, Scope } from "effect";
import { randomOf } from "../model/random.ts";
import { rpcClient, valueOf } from "../support/rpc.ts";
import type { Frame } from "../support/rpc.ts";
import { freshServer, startServer, temporaryFolders } from "../support/server.ts";
import type { TestServer } from "../support/server.ts";
import { connectRpc, openConnection, openRawSocket, openSocket, pairDevice, ticketFor, upgrade } from "./sockets.ts";

const promise = Effect.promise;
const synced = ({ event }: Frame): boolean => event === "synced";

const createThread = ({ call, work }: TestServer, threadId = "T") =>
  promise(() => call("/threads", { body: { threadId, cwd: work, instance: "demo" } }));
const rename = ({ call }: TestServer, title: string) =>
  promise(() => call("/threads/T", { method: "PATCH", body: { title } }));

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Opens a socket and says how the server closed it after `send`. */
const closedAfter = Effect.fnUntraced(function* (server: TestServer, send: (socket: WebSocket) => void) {
  const socket = yield* openSocket(server);
  const { promise: closed, resolve } = Promise.withResolvers<number>();
  socket.addEventListener("open", () => send(socket));
  socket.addEventListener("close", ({ code }) => resolve(code));
  return yield* promise(() => closed);
});

describe("the ticket of a WebSocket", () => {
  it.live("opens one, once; what is no ticket is refused before the upgrade (I17)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      for (const query of ["", "?ticket=", "?ticket=wrong", `?ticket=${server.token}`, `?token=${server.token}`]) {
        const answered = yield* upgrade(server.url, `/rpc${query}`);
        assert.include(answered.body, { code: "unauthorized", status: 401 }, query);
        assert.strictEqual(answered.type, "application/problem+json");
      }
      // A token is not taken, wherever it stands.
      const header = { authorization: `Bearer ${server.token}` };
      assert.strictEqual((yield* upgrade(server.url, "/rpc", header)).status, 401);
      const path = `/rpc?ticket=${yield* ticketFor(server)}`;
      // Not an upgrade: the ticket is not used up.
      const plain = yield* promise(() => server.call(path, { token: null }));
      assert.include(plain.body, { code: "bad_request", status: 400 });
      assert.strictEqual((yield* upgrade(server.url, path)).status, 101);
      assert.strictEqual((yield* upgrade(server.url, path)).status, 401);
    }),
  );

  it.live("is given to any token, and to nothing else", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      for (const token of [null, "wrong"]) {
        const { status } = yield* promise(() => server.call("/auth/ticket", { method: "POST", token }));
        assert.strictEqual(status, 401);
      }
      const device = yield* pairDevice(server, ["observe"]);
      const rpc = yield* connectRpc(server, device.token);
      valueOf(yield* promise(() => rpc.call("threads.list")));
    }),
  );

  it.live("does not help a foreign page: the edge is asked first (I17)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const path = `/rpc?ticket=${yield* ticketFor(server)}`;
      for (const headers of [
        { host: "evil.example" },
        { origin: "https://evil.example" },
        { origin: "null" },
        { "sec-fetch-site": "cross-site" },
      ]) {
        const answered = yield* upgrade(server.url, path, headers);
        assert.include(answered.body, { code: "forbidden", status: 403 }, JSON.stringify(headers));
      }
      assert.strictEqual((yield* upgrade(server.url, path, { origin: server.url })).status, 101);
    }),
  );
});

describe("a WebSocket", () => {
  it.live("says goodbye to who closes it, and refuses a handshake that is none", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const socket = yield* openSocket(server);
      const { promise: closed, resolve } = Promise.withResolvers<CloseEvent>();
      socket.addEventListener("open", () => socket.close(1000, "enough"));
      socket.addEventListener("close", resolve);
      const { code, wasClean } = yield* promise(() => closed);
      assert.deepStrictEqual({ code, wasClean }, { code: 1000, wasClean: true });
      const path = `/rpc?ticket=${yield* ticketFor(server)}`;
      const refused = yield* upgrade(server.url, path, { "sec-websocket-version": "1" });
      assert.isAtLeast(refused.status, 400);
      const rpc = yield* connectRpc(server);
      valueOf(yield* promise(() => rpc.call("system.version")));
    }),
  );

  it.live("calls within the scopes of its token, and is refused as over HTTP", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* createThread(server);
      const { token } = yield* pairDevice(server, ["observe"]);
      const rpc = yield* connectRpc(server, token);
      const following = rpc.follow("events.live", { params: { threadId: "T" } });
      yield* promise(() => following.take(synced));
      const payload = { cwd: server.work, instance: "demo" };
      for (const [tag, request, path, options] of [
        ["threads.create", { payload }, "/threads", { body: payload }],
        ["threads.records", { params: { threadId: "T" } }, "/threads/T/records", {}],
        ["settings.changeSettings", { payload: {} }, "/settings", { method: "PATCH", body: {} }],
        ["threads.remove", { params: { threadId: "T" } }, "/threads/T", { method: "DELETE" }],
      ] as const) {
        const refused = yield* promise(() => server.call(path, { ...options, token }));
        assert.strictEqual(refused.status, 403, path);
        assert.deepStrictEqual(yield* promise(() => rpc.call(tag, request)), { problem: refused.body }, tag);
      }
      // Without a scope over HTTP, without one here.
      valueOf(yield* promise(() => rpc.call("system.version")));
    }),
  );

  it.live("closes within a second when its token is revoked, and nobody else's does (I17)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* createThread(server);
      const { token, deviceId } = yield* pairDevice(server, ["observe", "operate"]);
      const owners = yield* connectRpc(server);
      const theirs = yield* connectRpc(server, token);
      const unused = yield* ticketFor(server, token);
      const following = theirs.follow("events.live", { params: { threadId: "T" } });
      yield* promise(() => following.take(synced));
      const before = performance.now();
      const revoked = yield* promise(() => server.call(`/devices/${deviceId}`, { method: "DELETE" }));
      assert.strictEqual(revoked.status, 200);
      assert.strictEqual((yield* promise(() => theirs.closed)).code, closeCodes.revoked);
      assert.isBelow(performance.now() - before, 1000);
      assert.deepStrictEqual(yield* promise(() => following.ended), { interrupted: true });
      assert.strictEqual((yield* upgrade(server.url, `/rpc?ticket=${unused}`)).status, 401);
      valueOf(yield* promise(() => owners.call("threads.list")));
    }),
  );

  it.live("closes when the server stops, the stalled ones too", () =>
    Effect.gen(function* () {
      const folders = yield* temporaryFolders;
      const scope = Scope.makeUnsafe();
      const server = yield* Scope.provide(startServer(folders), scope);
      const rpc = yield* connectRpc(server);
      const following = rpc.follow("events.liveMany");
      yield* promise(() => following.take(synced));
      const stalled = yield* openRawSocket(server);
      stalled.pause();
      const before = performance.now();
      yield* Scope.close(scope, Exit.void);
      assert.isBelow(performance.now() - before, 10_000);
      assert.strictEqual((yield* promise(() => rpc.closed)).code, closeCodes.goingAway);
    }),
  );

  it.live("lets a peer go that answers no pings, and keeps one that does", () =>
    Effect.gen(function* () {
      const server = yield* startServer(yield* temporaryFolders, { pingInterval: 50 });
      const alive = yield* openRawSocket(server);
      const dead = yield* openRawSocket(server, { autoPong: false });
      const { promise: dropped, resolve } = Promise.withResolvers<number>();
      dead.on("close", resolve);
      // No close frame: the connection was dropped.
      assert.strictEqual(yield* promise(() => dropped), 1006);
      assert.strictEqual(alive.readyState, alive.OPEN);
    }),
  );
});

describe("a client that breaks the protocol", () => {
  it.live("is closed with a code that says why, and nobody else notices", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* createThread(server);
      const other = yield* connectRpc(server);
      const following = other.follow("events.live", { params: { threadId: "T" } });
      yield* promise(() => following.take(synced));
      const request = (id: unknown, tag = "events.live") =>
        JSON.stringify({ _tag: "Request", id, tag, payload: { params: { threadId: "T" } } });
      const { maxMessageBytes } = valueOf(yield* promise(() => other.call("settings.limits")));
      const cases: ReadonlyArray<readonly [string, (socket: WebSocket) => void, number]> = [
        ["binary", (socket) => socket.send(new Uint8Array([1, 2, 3])), closeCodes.binary],
        ["no JSON", (socket) => socket.send("{"), closeCodes.malformed],
        ["no message", (socket) => socket.send('{"hello":1}'), closeCodes.malformed],
        ["null", (socket) => socket.send("null"), closeCodes.malformed],
        ["no id", (socket) => socket.send(request(undefined)), closeCodes.malformed],
        ["an id of another type", (socket) => socket.send(request({})), closeCodes.malformed],
        ["a long id", (socket) => socket.send(request("x".repeat(300))), closeCodes.malformed],
        ["a server's message", (socket) => socket.send('{"_tag":"Exit","requestId":1}'), closeCodes.malformed],
        [
          "the same id twice",
          (socket) => {
            socket.send(request(1));
            socket.send(request(1));
          },
          closeCodes.duplicateId,
        ],
        ["too many", (socket) => socket.send(`[${"null,".repeat(100)}null]`), closeCodes.malformed],
        ["huge", (socket) => socket.send(`"${"x".repeat(maxMessageBytes)}"`), closeCodes.tooLarge],
      ];
      for (const [what, send, code] of cases) assert.strictEqual(yield* closedAfter(server, send), code, what);
      yield* rename(server, "still here");
      const frames = yield* promise(() => following.take(({ data }) => data.payload?.title === "still here"));
      assert.strictEqual(frames.length, 1);
    }),
  );

  it.live("never reaches another's calls, whatever it sends", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* createThread(server);
      const other = yield* connectRpc(server);
      const following = other.follow("events.live", { params: { threadId: "T" } });
      yield* promise(() => following.take(synced));
      const seed = 7_340_033;
      const random = randomOf(seed);
      const pieces = [
        () => random.pick(["Request", "Ack", "Interrupt", "Ping", "Eof", "Exit", "Chunk", "__proto__", ""]),
        () => random.int(4),
        () => -random.int(1_000_000) / 3,
        () => random.pick([null, true, [], {}, [[[]]], { __proto__: 1 }, "T", "\ud800", "x".repeat(random.int(5000))]),
        () => random.pick(["events.live", "threads.get", "threads.list", "threads.update", "no.such", "constructor"]),
        () => ({ params: { threadId: random.pick(["T", "", null]) }, query: random.pick([{}, null, { limit: "x" }]) }),
      ];
      const anything = () => random.pick(pieces)();
      const message = () => {
        const base: Record<string, unknown> = {
          _tag: random.pick(["Request", "Request", "Request", "Ack", "Interrupt", "Ping"]),
          id: random.int(50),
          requestId: random.int(50),
          tag: random.pick(["events.live", "threads.get", "threads.list", "events.replay", "threads.update"]),
          payload: { params: { threadId: "T" }, query: {} },
        };
        for (const key of Object.keys(base)) if (random.chance(0.15)) base[key] = anything();
        return base;
      };
      const text = (): string | Uint8Array => {
        const sent = JSON.stringify(random.chance(0.1) ? [message(), message()] : message());
        if (random.chance(0.03)) return sent.slice(0, random.int(sent.length));
        if (random.chance(0.02)) return new Uint8Array([random.int(256), random.int(256)]);
        return sent;
      };
      for (let round = 0; round < 40; round += 1) {
        const socket = yield* openSocket(server);
        const { promise: over, resolve } = Promise.withResolvers<void>();
        socket.addEventListener("close", () => resolve());
        socket.addEventListener("open", () => {
          for (let sent = 0; sent < 30; sent += 1) {
            const what = text();
            socket.send(typeof what === "string" ? what : Uint8Array.from(what));
          }
          socket.close();
        });
        yield* promise(() => over);
      }
      yield* rename(server, "still here");
      const frames = yield* promise(() => following.take(({ data }) => data.payload?.title === "still here"));
      assert.deepStrictEqual(
        frames.map(({ event }) => event),
        ["event"],
        `seed ${seed}`,
      );
    }),
  );
});

describe("a connection that speaks no WebSocket", () => {
  it.live("is closed, and nobody else notices", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      const other = yield* connectRpc(server);
      const seed = 55_291;
      const random = randomOf(seed);
      const bytes = (length: number) => Uint8Array.from({ length }, () => random.int(256));
      /** A masked text frame whose length, opcode or content is not what it says. */
      const almost = () => {
        const content = bytes(random.int(100));
        const opcode = random.pick([0x81, 0x01, 0x80, 0x82, 0x83, 0x88, 0x89, 0x8a, 0xf1]);
        return Uint8Array.from([opcode, 0x80 | random.int(128), ...bytes(4), ...content]);
      };
      for (let round = 0; round < 30; round += 1) {
        const connection = yield* openConnection(server);
        const { promise: over, resolve } = Promise.withResolvers<void>();
        connection.on("error", () => undefined);
        connection.on("close", () => resolve());
        connection.resume();
        for (let sent = 0; sent < 5; sent += 1)
          connection.write(random.chance(0.5) ? almost() : bytes(random.int(300)));
        connection.end();
        yield* promise(() => over);
      }
      valueOf(yield* promise(() => other.call("system.version")));
    }),
  );
});

describe("a client that does not read", () => {
  it.live("costs bounded memory, delays nobody, and loses nothing (I10, I11)", () =>
    Effect.gen(function* () {
      const server = yield* freshServer;
      yield* createThread(server);
      const large = "x".repeat(100_000);
      const written = yield* promise(() => server.call("/threads/T/inputs", { body: { text: large, mode: "queue" } }));
      assert.strictEqual(written.status, 200, JSON.stringify(written.body));
      const socket = yield* openRawSocket(server);
      const stalled = rpcClient({
        send: (message) => socket.send(JSON.stringify(message)),
        listen: (onMessage, onClose) => {
          socket.on("message", (data) => onMessage(JSON.parse(String(data))));
          socket.on("close", (code) => onClose({ code, reason: "" }));
        },
        close: () => socket.close(),
      });
      valueOf(yield* promise(() => stalled.call("system.version")));
      const stream = stalled.follow("events.live", { params: { threadId: "T" } });
      yield* promise(() => stream.take(synced));
      socket.pause();
      const memory = () => {
        collectGarbage();
        const { heapUsed, external, arrayBuffers } = process.memoryUsage();
        return heapUsed + external + arrayBuffers;
      };
      const before = memory();
      const calls = 800;
      const asked = Array.from({ length: calls }, () => stalled.call("inputs.list", { params: { threadId: "T" } }));
      // Another's calls go on meanwhile, each as it does alone.
      const live = yield* connectRpc(server);
      const following = live.follow("events.live", { params: { threadId: "T" } });
      yield* promise(() => following.take(synced));
      const rounds = 20;
      for (let round = 0; round < rounds; round += 1) {
        valueOf(
          yield* promise(() =>
            live.call("threads.update", { params: { threadId: "T" }, payload: { title: `t${round}` } }),
          ),
        );
        yield* promise(() => following.take(({ data }) => data.payload?.title === `t${round}`));
      }
      // Unbounded it would be 80 MB.
      assert.isBelow(memory() - before, 40 * 1024 * 1024);
      socket.resume();
      const outcomes = yield* promise(() => Promise.all(asked));
      const answered = outcomes.filter((outcome) => "value" in outcome && outcome.value.inputs.length > 0).length;
      const refused = outcomes.filter((outcome) => "problem" in outcome && outcome.problem.status === 429).length;
      assert.strictEqual(answered + refused, calls);
      assert.isAbove(answered, 0);
      // The stream goes on where it stood.
      const titles = (yield* promise(() => stream.take(({ data }) => data.payload?.title === `t${rounds - 1}`)))
        .filter(({ event, data }) => event === "event" && data.type === "thread.renamed")
        .map(({ data }) => data.payload.title);
      assert.deepStrictEqual(
        titles,
        Array.from({ length: rounds }, (_, round) => `t${round}`),
      );
    }),
  );
});
