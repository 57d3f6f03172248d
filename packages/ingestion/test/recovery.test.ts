/** Failed steps, crashes, restarts and the end of the service, over the real store. */
import { assert, describe, it } from "@effect/vitest";
import type { InternalCommand, RuntimeEvent } from "@tributary/contracts";
import * as domain from "@tributary/domain";
import { StoreError } from "@tributary/store";
import type { Domain } from "@tributary/store";
import { Context, Effect, Exit, Layer, Scope } from "effect";
import { TestClock } from "effect/testing";
import { ProviderRuntimeIngestion } from "../src/index.ts";
import { completed, delta, itemStarted, requestOpened, retracted, turnCompleted, turnStarted } from "./events.ts";
import { random, scrap } from "./random.ts";
import {
  dispatch,
  folderStore,
  journalledEvents,
  layer,
  logOf,
  memoryStore,
  messagesOf,
  openSession,
  openThread,
  push,
  record,
  refusalsOf,
  temporaryFolder,
  typesOf,
} from "./support.ts";

/** Deciders that do something of their own for some commands first. */
const domainThat = (does: (command: InternalCommand) => void): Domain => ({
  ...domain,
  decideInternal: (state, command, context, look) => {
    does(command);
    return domain.decideInternal(state, command, context, look);
  },
});

const notice = (message: string): RuntimeEvent => ({ type: "notice", payload: { level: "info", code: "c", message } });

const breaksOn = (message: string): Domain =>
  domainThat((command) => {
    if (command.type === "notice.record" && command.message === message) throw new Error("a bug in a decider");
  });

describe("a record that cannot be interpreted", () => {
  it.effect("is refused as invalid; what came before and after it is not lost (I18)", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* push(turnStarted(), delta("before "), notice("poison"), delta("after"), notice("fine"));
      yield* ingestion.drain("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "before after" });
      assert.deepStrictEqual(
        (yield* refusalsOf()).map(({ seq, type, reason }) => [seq, type, reason]),
        [[3, "notice", "invalid"]],
      );
      assert.include(yield* typesOf(), "notice.recorded");
      const { applied, refused, stalled } = ingestion.diagnostics("T");
      assert.deepStrictEqual(
        { applied, refused, stalled },
        { applied: 4, refused: { invalid: 1 }, stalled: undefined },
      );
    }).pipe(Effect.provide(layer({}, memoryStore({ domain: breaksOn("poison") })))),
  );

  it.effect("goes as a whole, and does not come back with what is held", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread("T", "buffered");
      yield* push(turnStarted(), delta("a"));
      yield* ingestion.submit("T", 1, record(delta("LOST"), notice("poison"), delta("LOST")));
      yield* push(delta("b"), notice("poison"), delta("c"));
      yield* ingestion.drain("T");
      assert.deepStrictEqual(ingestion.diagnostics("T").refused, { invalid: 4 });
      yield* push(turnCompleted());
      yield* ingestion.drain("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "abc" });
    }).pipe(Effect.provide(layer({}, memoryStore({ domain: breaksOn("poison") })))),
  );

  it.effect("holds up no other thread", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread("T");
      yield* openThread("other");
      yield* push(turnStarted(), ...Array.from({ length: 5 }, () => notice("poison")));
      yield* ingestion.submit("other", 1, record(turnStarted(), delta("fine")));
      yield* ingestion.drain("other");
      assert.deepStrictEqual(yield* messagesOf("other"), { "t1//m#0": "fine" });
      yield* ingestion.drain("T");
      assert.deepStrictEqual(ingestion.diagnostics("T").refused, { invalid: 5 });
    }).pipe(Effect.provide(layer({}, memoryStore({ domain: breaksOn("poison") })))),
  );
});

describe("a store that fails", () => {
  it.effect("is asked again; meanwhile the thread is stalled, and afterwards nothing is lost or doubled", () => {
    let failures = 3;
    const failing = domainThat((command) => {
      if (command.type !== "message.append" || failures === 0) return;
      failures -= 1;
      throw new StoreError({ reason: "full", message: "no space left" });
    });
    return Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* push(turnStarted(), delta("Hello"), completed("Hello"));
      while (ingestion.diagnostics("T").stalled === undefined) yield* Effect.yieldNow;
      assert.deepInclude(ingestion.diagnostics("T").stalled, { seq: 3, attempts: 1 });
      yield* push(turnCompleted());
      for (let waits = 0; waits < 5; waits += 1) yield* TestClock.adjust(1_000);
      yield* ingestion.drain("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello" });
      assert.strictEqual(failures, 0);
      assert.strictEqual(ingestion.diagnostics("T").stalled, undefined);
      assert.deepStrictEqual((yield* typesOf()).filter((type) => type === "turn.started").length, 1);
    }).pipe(Effect.provide(layer({}, memoryStore({ domain: failing }))));
  });
});

/** A service that can crash: its memory and its timers go, and nothing is drained. */
const mortalService = Effect.gen(function* () {
  const scope = yield* Scope.make();
  const layer = Layer.fresh(ProviderRuntimeIngestion.layer({ shutdownMs: 0 }));
  const services = yield* Layer.buildWithScope(layer, scope);
  return { ...Context.get(services, ProviderRuntimeIngestion), crash: Scope.close(scope, Exit.void) };
});

describe("after a crash", () => {
  it.effect("held text is read again from the journal, and interpreting goes on after the checkpoint", () =>
    Effect.gen(function* () {
      yield* openThread("T", "buffered");
      const one = yield* mortalService;
      for (const event of [turnStarted(), delta("Hel"), notice("n"), delta("lo\ud83d")])
        yield* one.submit("T", 1, record(event));
      yield* one.interpreted("T");
      const before = yield* logOf();
      yield* one.crash;
      const two = yield* mortalService;
      yield* two.interpreted("T");
      assert.deepStrictEqual(yield* logOf(), before);
      assert.deepStrictEqual(
        two.live("T").map(({ text }) => text),
        ["Hello\ud83d"],
      );
      yield* two.submit("T", 1, record(delta("\ude00"), turnCompleted()));
      yield* two.drain("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello😀" });
      assert.strictEqual(two.diagnostics("T").applied, yield* journalledEvents());
    }).pipe(Effect.scoped, Effect.provide(memoryStore())),
  );

  it.effect("replay interprets the rest and lets go of what is held, before the session is settled", () =>
    Effect.gen(function* () {
      yield* openThread("T", "buffered");
      const one = yield* mortalService;
      for (const event of [turnStarted(), delta("Half a sen")]) yield* one.submit("T", 1, record(event));
      yield* one.interpreted("T");
      const two = yield* mortalService;
      yield* two.replay("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Half a sen" });
    }).pipe(Effect.scoped, Effect.provide(memoryStore())),
  );

  it.effect("anywhere, any number of times, text in is text out (I4) and every event is accounted for once (I5)", () =>
    Effect.forEach(
      Array.from({ length: 12 }, (_, index) => index + 1),
      (seed) => crashAnywhere(seed).pipe(Effect.scoped, Effect.provide(memoryStore())),
      { discard: true },
    ),
  );
});

const crashAnywhere = Effect.fnUntraced(function* (seed: number) {
  const chaos = random(seed);
  const textDelivery = chaos.pick(["streaming", "buffered"] as const);
  yield* openThread("T", textDelivery);
  let service = yield* mortalService;
  const sent: Array<string> = [];
  const feed = (...events: ReadonlyArray<RuntimeEvent>) => service.submit("T", 1, record(...events));
  yield* feed(turnStarted());
  for (let step = 0; step < 40; step += 1) {
    const text = scrap(chaos, 8);
    const events = [{ ...delta(text), id: `d${step}` }];
    sent.push(text);
    yield* feed(...events, ...(chaos.chance(0.1) ? [itemStarted(`i${step}`, "tool")] : []));
    // The same frame again, as after a reconnect.
    if (chaos.chance(0.2)) yield* feed(...events);
    if (chaos.chance(0.3)) yield* service.interpreted("T");
    if (chaos.chance(0.1)) yield* service.drain("T");
    if (chaos.chance(0.15)) {
      // Whatever is under way when the host dies is in the journal, or was not accepted.
      yield* service.interpreted("T");
      yield* service.crash;
      service = yield* mortalService;
      if (chaos.chance(0.5)) yield* TestClock.adjust(chaos.below(2_000));
    }
  }
  yield* feed(turnCompleted());
  yield* service.drain("T");
  const texts = Object.values(yield* messagesOf()).join("");
  assert.strictEqual(texts, sent.join(""), `seed ${seed}`);
  const { applied, folded, held } = service.diagnostics("T");
  assert.strictEqual(applied + folded, yield* journalledEvents(), `seed ${seed}`);
  assert.strictEqual(held, 0);
});

describe("an older generation that speaks after a restart (I5)", () => {
  it.effect("is refused like any other, also when it never spoke before", () =>
    Effect.gen(function* () {
      yield* openThread();
      yield* dispatch({ type: "session.release", commandId: "r", threadId: "T" });
      yield* openSession("T", 2);
      const one = yield* mortalService;
      yield* one.submit("T", 2, record(turnStarted()));
      yield* one.drain("T");
      yield* one.crash;
      const other = yield* mortalService;
      for (let n = 0; n < 2; n += 1) {
        yield* other.submit("T", 1, record(delta("old")));
        yield* other.drain("T");
      }
      assert.deepStrictEqual(
        (yield* refusalsOf()).map(({ generation, seq, reason }) => [generation, seq, reason]),
        [
          [1, 1, "other_generation"],
          [1, 2, "other_generation"],
        ],
      );
    }).pipe(Effect.scoped, Effect.provide(memoryStore())),
  );
});

describe("a restart", () => {
  it.effect("goes on where it stopped: buffered text was put into the log, its segment goes on", () =>
    Effect.gen(function* () {
      const dir = yield* temporaryFolder;
      const first = Effect.gen(function* () {
        yield* openThread("T", "buffered");
        yield* push(turnStarted(), delta("Hello"));
      });
      yield* first.pipe(Effect.provide(layer({}, folderStore(dir))));
      const second = Effect.gen(function* () {
        const ingestion = yield* ProviderRuntimeIngestion;
        assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello" });
        assert.deepStrictEqual(ingestion.diagnostics("T").applied, 2);
        yield* push(delta(" world"), completed("Hello world"));
        yield* ingestion.drain("T");
        assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello world" });
      });
      yield* second.pipe(Effect.provide(layer({}, folderStore(dir))));
    }).pipe(Effect.scoped),
  );
});

describe("shutdown", () => {
  it.effect("takes no more, and drains with what is held", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread("T", "buffered");
      yield* push(turnStarted(), delta("Hello"));
      yield* ingestion.shutdown;
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello" });
      yield* push(delta(" more"));
      yield* ingestion.drain("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello" });
    }).pipe(Effect.provide(layer())),
  );

  it.effect("lets go of those who wait for room", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      const records = Array.from({ length: 50 }, () => record(delta("x".repeat(1_000))));
      const waiting = yield* Effect.forkChild(ingestion.submitAll("T", 1, records));
      yield* ingestion.shutdown;
      yield* Effect.yieldNow;
      assert.isDefined(waiting.pollUnsafe());
    }).pipe(Effect.provide(layer({ threadBytes: 5_000 }))),
  );

  it.effect("gives up on a store that fails for good, at its deadline", () => {
    const broken = domainThat((command) => {
      if (command.type === "message.append") throw new StoreError({ reason: "full", message: "no space left" });
    });
    return Effect.gen(function* () {
      const scope = yield* Scope.make();
      const services = yield* Layer.buildWithScope(layer({}, memoryStore({ domain: broken })), scope);
      yield* Effect.gen(function* () {
        yield* openThread();
        yield* push(turnStarted(), delta("Hello"));
        const ingestion = yield* ProviderRuntimeIngestion;
        const ending = yield* Effect.forkChild(ingestion.shutdown);
        yield* TestClock.adjust(4_999);
        assert.isUndefined(ending.pollUnsafe());
        yield* TestClock.adjust(1);
        assert.isDefined(ending.pollUnsafe());
      }).pipe(Effect.provide(services));
    });
  });
});

describe("what is refused late", () => {
  it.effect("a question after its turn, a retraction, an answer of nobody: recorded, and the thread goes on", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* push(turnStarted(), delta("x"), turnCompleted(), requestOpened(), retracted());
      yield* push({ type: "request.resolved", requestId: "r9", payload: { outcome: "answered" } }, turnStarted("t2"));
      yield* ingestion.drain("T");
      assert.deepStrictEqual(
        (yield* refusalsOf()).map(({ type, reason }) => [type, reason]),
        [
          ["request.opened", "turn_over"],
          ["content.retracted", "turn_over"],
          ["request.resolved", "request_unknown"],
        ],
      );
      yield* dispatch({ type: "turn.interrupt", commandId: "i", threadId: "T" });
    }).pipe(Effect.provide(layer())),
  );
});
