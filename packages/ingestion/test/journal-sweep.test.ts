/** Old journal records go by age and by size, by the clock, and never while something still needs them. */
import { assert, describe, it } from "@effect/vitest";
import { Journal, Refusals, Writer } from "@tributary/store";
import { Context, Effect, Exit, Layer, Scope } from "effect";
import { TestClock } from "effect/testing";
import { JournalSweep, ProviderRuntimeIngestion } from "../src/index.ts";
import type { JournalLimits } from "../src/index.ts";
import { delta, exited, itemStarted, turnCompleted, turnStarted } from "./events.ts";
import { layer, memoryStore, messagesOf, openThread, pushTo, record } from "./support.ts";

const hour = 60 * 60 * 1_000;
const day = 24 * hour;

const swept = (limits: () => JournalLimits, store = memoryStore()) =>
  JournalSweep.layer(limits).pipe(Layer.provideMerge(layer({}, store)));

const seqsOf = (journal: Journal["Service"], threadId: string): ReadonlyArray<number> =>
  journal.read({ threadId, generation: 1, after: 0, limit: 1_000 }).map(({ seq }) => seq);

/** A record each, in packs of their own. */
const say = Effect.fnUntraced(function* (threadId: string, ...events: ReadonlyArray<Parameters<typeof pushTo>[1]>) {
  const ingestion = yield* ProviderRuntimeIngestion;
  for (const event of events) {
    yield* pushTo(threadId, event);
    yield* ingestion.interpreted(threadId);
  }
});

describe("the journal's old records", () => {
  it.effect("go by age, at start and every hour, and then read as expired", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const journal = yield* Journal;
      yield* openThread();
      yield* say("T", turnStarted(), delta("Hello"), turnCompleted());
      yield* ingestion.drain("T");
      yield* TestClock.adjust(day - hour);
      assert.deepStrictEqual(seqsOf(journal, "T"), [1, 2, 3]);
      yield* say("T", turnStarted("t2"), turnCompleted("t2"));
      yield* ingestion.drain("T");
      yield* TestClock.adjust(2 * hour);
      assert.deepStrictEqual(seqsOf(journal, "T"), [4, 5]);
      assert.strictEqual(journal.record({ threadId: "T", generation: 1, seq: 2 }), "expired");
      // What was made of it stays, and numbers go on.
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello" });
      yield* say("T", turnStarted("t3"));
      assert.strictEqual(journal.lastSeq("T", 1), 6);
    }).pipe(Effect.provide(swept(() => ({ maxAgeDays: 1 })))),
  );

  it.effect("take their refusals with them; the counts stay", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const refusals = yield* Refusals;
      yield* openThread();
      yield* say("T", delta("lost"), turnStarted(), turnCompleted());
      yield* ingestion.drain("T");
      yield* TestClock.adjust(day + hour);
      yield* say("T", turnStarted());
      yield* (yield* JournalSweep).sweep;
      const kept = (yield* refusals.page({ after: 0, threadId: "T" })).map(({ seq }) => seq);
      assert.deepStrictEqual(kept, [4]);
      assert.deepStrictEqual(
        (yield* refusals.newest("T", 5)).map(({ seq }) => seq),
        [4],
      );
      assert.deepStrictEqual(yield* refusals.counts("T"), { turn_unknown: 1, turn_over: 1 });
      assert.deepStrictEqual(ingestion.diagnostics("T").refused, { turn_unknown: 1, turn_over: 1 });
    }).pipe(Effect.provide(swept(() => ({ maxAgeDays: 1 })))),
  );

  it.effect("go by size, the oldest first; a changed limit counts at the next sweep", () => {
    let maxBytes = 0;
    return Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const journal = yield* Journal;
      for (const threadId of ["A", "B"]) {
        yield* openThread(threadId);
        yield* say(threadId, turnStarted(), delta("x".repeat(20_000)), turnCompleted());
        yield* ingestion.drain(threadId);
      }
      yield* TestClock.adjust(10 * hour);
      assert.deepStrictEqual(
        [seqsOf(journal, "A"), seqsOf(journal, "B")].map(({ length }) => length),
        [3, 3],
      );
      maxBytes = 30_000;
      yield* TestClock.adjust(hour);
      assert.isAtMost(journal.bytes(), maxBytes);
      assert.deepStrictEqual(seqsOf(journal, "B"), [1, 2, 3]);
      assert.strictEqual(journal.record({ threadId: "A", generation: 1, seq: 1 }), "expired");
    }).pipe(Effect.provide(swept(() => ({ maxAgeDays: 0, maxBytes }))));
  });

  it.effect("stay while held text and a command's output are read from them: a crash afterwards loses nothing", () =>
    Effect.gen(function* () {
      const journal = yield* Journal;
      const writer = yield* Writer;
      yield* openThread("T", "buffered");
      const output = (text: string) => delta(text, { itemId: "ls", stream: "command_output" });
      /** A service whose memory goes with its scope. */
      const scope = yield* Scope.make();
      const services = yield* Layer.buildWithScope(
        Layer.fresh(ProviderRuntimeIngestion.layer({ shutdownMs: 0 })),
        scope,
      );
      const one = Context.get(services, ProviderRuntimeIngestion);
      for (const event of [turnStarted(), itemStarted("ls", "command"), delta("held "), output("out"), delta("text")]) {
        yield* one.submit("T", 1, record(event));
        yield* one.interpreted("T");
      }
      // A checkpoint past all of it.
      yield* one.submit("T", 1, record(itemStarted("b", "tool", {}, { agentPath: ["a"] })));
      yield* one.interpreted("T");
      assert.isAtLeast(writer.checkpoint("T")?.seq ?? 0, 6);
      const sweep = JournalSweep.layer(() => ({ maxAgeDays: 1, maxBytes: 1 })).pipe(
        Layer.provide(Layer.succeed(ProviderRuntimeIngestion, one)),
      );
      const { sweep: now } = Context.get(yield* Layer.buildWithScope(Layer.fresh(sweep), scope), JournalSweep);
      yield* TestClock.adjust(2 * day);
      yield* now;
      assert.deepStrictEqual(seqsOf(journal, "T"), [3, 4, 5, 6]);
      yield* Scope.close(scope, Exit.void);
      const two = Context.get(
        yield* Layer.build(Layer.fresh(ProviderRuntimeIngestion.layer())),
        ProviderRuntimeIngestion,
      );
      yield* two.submit("T", 1, record(exited));
      yield* two.drain("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "held text" });
      yield* two.interpreted("T");
      assert.deepStrictEqual(two.diagnostics("T").held, 0);
    }).pipe(Effect.scoped, Effect.provide(memoryStore())),
  );

  it.effect("never go past what is interpreted, whatever the limits say", () =>
    Effect.gen(function* () {
      const journal = yield* Journal;
      yield* journal.append([
        {
          threadId: "T",
          generation: 1,
          seq: 1,
          kind: "frame",
          dir: "in",
          nativeKind: "k",
          frame: "{}",
          events: [],
          at: 0,
        },
      ]);
      yield* TestClock.adjust(2 * day);
      yield* (yield* JournalSweep).sweep;
      assert.deepStrictEqual(seqsOf(journal, "T"), [1]);
    }).pipe(Effect.provide(swept(() => ({ maxAgeDays: 1, maxBytes: 1 })))),
  );
});
