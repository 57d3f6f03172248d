import { EventEmitter } from "node:events";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { owner } from "../../src/http/Tokens.ts";
import { encodeFrames, frameText } from "../../src/http/sse.ts";
import { framesIn } from "../../src/rpc/frames.ts";
import { listenTo } from "../../src/rpc/ports.ts";
import { rateOf } from "../../src/rpc/rate.ts";
import { seats } from "../../src/rpc/seats.ts";
import { ticketMillis, Tickets } from "../../src/rpc/Tickets.ts";
import { withWall } from "../support/wall.ts";

describe("tickets", () => {
  it.effect("run out, are used once, and are so many", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets;
      const { ticket } = yield* tickets.issue(owner);
      assert.strictEqual(yield* tickets.look(ticket), owner);
      assert.strictEqual(yield* tickets.use(ticket), owner);
      assert.isUndefined(yield* tickets.use(ticket));

      const raced = yield* tickets.issue(owner);
      const users = Array.from({ length: 5 }, () => tickets.use(raced.ticket));
      const found = yield* Effect.all(users, { concurrency: "unbounded" });
      assert.strictEqual(found.filter((holder) => holder !== undefined).length, 1);

      const late = yield* tickets.issue(owner);
      yield* TestClock.adjust(ticketMillis - 1);
      assert.strictEqual(yield* tickets.look(late.ticket), owner);
      yield* TestClock.adjust(1);
      assert.isUndefined(yield* tickets.look(late.ticket));

      const phone = { ...owner, id: "phone" };
      for (let count = 0; count < 32; count += 1) yield* tickets.issue(phone);
      const refused = yield* Effect.flip(tickets.issue(phone));
      assert.strictEqual(refused.code, "too_many_requests");
      // Nobody else is kept from theirs.
      yield* tickets.issue(owner);
      yield* TestClock.adjust(ticketMillis);
      yield* tickets.issue(phone);
    }).pipe(Effect.provide(Tickets.layer)),
  );

  it.effect("end with their token", () =>
    Effect.gen(function* () {
      const tickets = yield* Tickets;
      const { ticket } = yield* tickets.issue({ ...owner, id: "gone", revoked: Effect.void });
      assert.isUndefined(yield* tickets.look(ticket));
      assert.isUndefined(yield* tickets.use(ticket));
    }).pipe(Effect.provide(Tickets.layer)),
  );
});

describe("a port", () => {
  /** As in Electron's main process: an emitter, whose messages come as events. */
  class MainPort extends EventEmitter {
    readonly sent: Array<unknown> = [];
    isStarted = false;
    readonly postMessage = (message: unknown): void => void this.sent.push(message);
    readonly start = (): void => void (this.isStarted = true);
    readonly close = (): void => void this.emit("close");
  }

  it("may be an emitter as well as an event target", () => {
    for (const port of [
      new MainPort(),
      Object.assign(new EventTarget(), { postMessage: () => undefined, close: () => undefined }),
    ]) {
      const heard: Array<unknown> = [];
      const stop = listenTo(
        port,
        (message) => heard.push(message),
        () => heard.push("closed"),
      );
      const say = (type: string, data?: unknown) =>
        port instanceof EventTarget
          ? port.dispatchEvent(Object.assign(new Event(type), { data }))
          : port.emit(type, { data });
      say("message", { a: 1 });
      say("close");
      stop();
      say("message", { a: 2 });
      assert.deepStrictEqual(heard, [{ a: 1 }, "closed"]);
      if (port instanceof MainPort) assert.isTrue(port.isStarted);
    }
  });
});

describe("the rate of messages", () => {
  it.effect("lets a second's worth pass at once, then slows down", () =>
    Effect.gen(function* () {
      const { take } = rateOf(100);
      for (let count = 0; count < 100; count += 1) yield* take;
      const next = yield* Effect.forkChild(Effect.andThen(take, take));
      yield* TestClock.adjust(9);
      assert.isUndefined(next.pollUnsafe());
      yield* TestClock.adjust(20);
      yield* Fiber.join(next);
    }),
  );

  it.effect("is the same when somebody sets the clock back", () =>
    withWall((jump) =>
      Effect.gen(function* () {
        const { take } = rateOf(100);
        yield* take;
        jump(-3_600_000);
        const next = yield* Effect.forkChild(take);
        yield* TestClock.adjust(20);
        yield* Fiber.join(next);
      }),
    ),
  );
});

describe("seats", () => {
  it.effect("are so many, and free again with their scope", () =>
    Effect.gen(function* () {
      const seat = seats(2);
      yield* seat;
      yield* Effect.scoped(seat);
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* seat;
          const refused = yield* Effect.flip(seat);
          assert.strictEqual(refused.code, "unavailable");
        }),
      );
      yield* seat;
    }),
  );
});

describe("frames over RPC", () => {
  it("are those of server-sent events", () => {
    const texts = [
      frameText("event", { text: "line\nbreak", colon: "a: b", id: "id: x" }, "e:1.2"),
      frameText("ping", { serverTime: "2026-01-01T00:00:00.000Z" }),
      frameText("shell", { "\ud83d\ude00": "\u2028", lone: "\ud800" }, "e:1.3"),
    ];
    assert.deepStrictEqual(framesIn(encodeFrames(texts.join(""))) as ReadonlyArray<unknown>, [
      { id: "e:1.2", event: "event", data: { text: "line\nbreak", colon: "a: b", id: "id: x" } },
      { event: "ping", data: { serverTime: "2026-01-01T00:00:00.000Z" } },
      { id: "e:1.3", event: "shell", data: { "\ud83d\ude00": "\u2028", lone: "\ud800" } },
    ]);
  });
});
