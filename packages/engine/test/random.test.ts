/** Random lives of threads: whatever happens in whatever order, nothing is done twice, and everything can be stopped. */
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import type { World } from "./support/world.ts";
import { approval, completed, makeWorld, started } from "./support/world.ts";

/** mulberry32: small, and the same everywhere. */
const generator = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
};

const behaviours = ["accept", "accept", "accept", "hang", "refused", "not_written", "unconfirmed", "die"];
const methods = ["open", "prompt", "steer", "answer", "configure", "interrupt", "close", "terminate", "kill"] as const;
const threads = ["A", "B"] as const;

const live = Effect.fnUntraced(function* (world: World, random: (below: number) => number, step: number) {
  const pick = <T>(list: ReadonlyArray<T>): T => list[random(list.length)]!;
  const threadId = pick(threads);
  const state = world.state(threadId);
  // A refusal is as good as anything: what matters is what follows.
  const send = (command: Parameters<World["send"]>[0]) => Effect.andThen(world.send(command), world.settled);
  const says = (...events: Parameters<World["says"]> extends [string, ...infer E] ? E : never) =>
    world.engine.sessions.pipe(
      Effect.flatMap((sessions) =>
        sessions.some((session) => session.threadId === threadId && session.phase === "open")
          ? world.says(threadId, ...events)
          : Effect.void,
      ),
    );
  const { turn } = state;
  const handed = state.inputs.find((input) => input.state === "handed_over" && input.mode === "prompt");
  switch (random(13)) {
    case 0:
    case 1:
      return yield* send({
        type: "input.submit",
        threadId,
        inputId: `i${step}`,
        text: "x",
        delivery: pick(["auto", "queue", "prompt", "steer"] as const),
      });
    case 2:
      return yield* says(started(`t${step}`, ...(handed === undefined ? [] : [handed.inputId])));
    case 3:
      return turn === undefined
        ? undefined
        : yield* says(completed(turn.turnId, pick(["completed", "failed", "interrupted"] as const)));
    case 4:
      return turn === undefined ? undefined : yield* says(approval(`r${step}`, turn.turnId));
    case 5: {
      const request = state.requests[0];
      if (request === undefined) return;
      return yield* send({
        type: "request.answer",
        threadId,
        requestId: request.requestId,
        answer: { optionId: pick(["yes", "no"]) },
      });
    }
    case 6:
      return yield* send({ type: "turn.interrupt", threadId });
    case 7:
      return yield* send(
        pick([
          { type: "queue.resume", threadId },
          { type: "session.release", threadId },
        ] as const),
      );
    case 8: {
      const input = state.inputs.find(({ state: at }) => at === "failed" || at === "unconfirmed");
      if (input === undefined) return;
      return yield* send({
        type: pick(["input.resubmit", "input.discard"] as const),
        threadId,
        inputId: input.inputId,
      });
    }
    case 9:
      return yield* send({ type: "thread.configure", threadId, model: `m${step}` });
    case 10: {
      world.stub.behaviours[pick(methods)] = pick(behaviours);
      return;
    }
    case 11:
      return yield* world.pass(random(40_000));
    case 12:
      if (random(4) > 0) return yield* says({ type: "session.exited", payload: { kind: "crash", recoverable: true } });
      yield* world.host!.crash({ sessionsSurvive: random(2) === 0 });
      yield* world.boot;
      return yield* world.settled;
  }
});

/** Each time that an input was queued it may be handed over once; each hand-over is at most one call. */
const nothingTwice = Effect.fnUntraced(function* (world: World, threadId: string) {
  const events = yield* world.events(threadId);
  const count = (type: string, key: string, id: string) =>
    events.filter((event) => event.type === type && (event.payload as Record<string, unknown>)[key] === id).length;
  const calls = (method: string, key: string, id: string) =>
    world.stub.calls.filter((call) => call.method === method && call.threadId === threadId && call[key] === id).length;
  for (const { type, payload } of events) {
    const { inputId, requestId } = payload as { readonly inputId: string; readonly requestId: string };
    if (type === "input.handed_over") {
      const handedOver = count("input.handed_over", "inputId", inputId);
      assert.isAtMost(handedOver, count("input.queued", "inputId", inputId), `${inputId} handed over`);
      assert.isAtMost(calls("prompt", "inputId", inputId) + calls("steer", "inputId", inputId), handedOver, inputId);
    }
    if (type === "request.answering")
      assert.isAtMost(
        calls("answer", "requestId", requestId),
        1 + count("request.delivery_failed", "requestId", requestId),
        requestId,
      );
  }
});

describe("random lives", () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    it.effect(`seed ${seed}`, () =>
      Effect.gen(function* () {
        const random = generator(seed);
        const world = yield* makeWorld();
        for (const threadId of threads) yield* world.create(threadId);
        for (let step = 0; step < 150; step += 1) yield* live(world, random, step);

        // Whatever the runtimes do now, a person can stop everything (I9).
        for (const method of methods) world.stub.behaviours[method] = "hang";
        for (const threadId of threads) {
          yield* Effect.andThen(world.send({ type: "turn.interrupt", threadId }), world.settled);
          for (const grace of [5_000, 2_000, 1_000]) yield* world.pass(grace);
          const { turn, interrupt } = world.state(threadId);
          assert.deepStrictEqual({ turn, interrupt }, { turn: undefined, interrupt: undefined }, `seed ${seed}`);
          yield* Effect.andThen(world.send({ type: "session.release", threadId }), world.settled);
          const { requests, activities, tasks } = world.state(threadId);
          assert.deepStrictEqual({ requests, activities, tasks }, { requests: [], activities: [], tasks: [] });
        }
        for (let second = 0; second < 30; second += 1) yield* world.pass(1_000);
        assert.deepStrictEqual(yield* world.engine.sessions, [], `seed ${seed}`);
        assert.deepStrictEqual(yield* Effect.orDie(world.processes.notEnded), [], `seed ${seed}`);
        for (const threadId of threads) yield* nothingTwice(world, threadId);
      }),
    );
  }
});
