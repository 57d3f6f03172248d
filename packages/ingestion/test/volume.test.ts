/** Floods: memory is bounded (I11), and one thread's flood does not delay another beyond its share (I15). */
import { assert, describe, it } from "@effect/vitest";
import type { RuntimeEvent } from "@tributary/contracts";
import { Effect } from "effect";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { totalEvents } from "../src/accounts.ts";
import { encodeMemory } from "../src/checkpoint/interpretive-state.ts";
import { ProviderRuntimeIngestion } from "../src/index.ts";
import { runInStep, runQuietly } from "../src/interpret/batch.ts";
import type { Surroundings } from "../src/interpret/batch.ts";
import { roundRecords } from "../src/limits.ts";
import { delta, itemCompleted, turnStarted } from "./events.ts";
import { layer, openThread, push, pushTo, record } from "./support.ts";
import { threadId, World } from "./world.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const heap = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};

describe("a million deltas", () => {
  it("leave nothing behind but what is open: not in memory, not in the checkpoint (pain 17)", () => {
    const world = new World();
    world.feed(turnStarted());
    const { holder } = world;
    // Not kept, as the journal and the log are not memory.
    const around: Surroundings = {
      threadId,
      reasoning: "full",
      now: 0,
      state: () => world.state,
      look: world.look,
      blobs: () => undefined,
      decide: (command) => {
        const refusal = world.decide(command);
        world.log.length = 0;
        return refusal;
      },
      refuse: (refusal) => assert.fail(refusal.reason),
    };
    let seq = 1;
    const interpret = (...events: ReadonlyArray<RuntimeEvent>): void => {
      seq += 1;
      const records = [{ generation: 1, seq, at: 0, events }];
      const from = runQuietly(holder, around, records);
      if (from === undefined) return;
      runInStep(
        holder,
        around,
        records,
        from,
        () => false,
        () => undefined,
      );
    };
    interpret(delta("x"));
    const before = heap();
    let most = 0;
    for (let n = 0; n < 1_000_000; n += 1) {
      const item = Math.floor(n / 2_000) % 7;
      interpret(
        delta("some text of a model ", {
          itemId: `i${item}`,
          stream: n % 3 === 0 ? "command_output" : "assistant_text",
        }),
      );
      if (n % 250_000 === 249_999) most = Math.max(most, heap() - before);
    }
    assert.isBelow(most, 12 * 2 ** 20);
    assert.isBelow(encodeMemory(holder.memory).length, 4_000);
    assert.strictEqual(totalEvents(holder.memory.accounts), 1_000_002);
  }, 60_000);

  it.effect("never wait in more room than there is", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread("A");
      yield* openThread("B");
      let most = 0;
      const feed = Effect.fnUntraced(function* (thread: string) {
        yield* pushTo(thread, turnStarted());
        for (let n = 0; n < 8_000; n += 1) {
          yield* ingestion.submit(thread, 1, record(delta("some text of a model ")));
          most = Math.max(most, ingestion.waitingBytes());
        }
      });
      yield* Effect.forEach(["A", "B"], feed, { concurrency: "unbounded" });
      yield* ingestion.drain();
      assert.isAtMost(most, 600_000);
      assert.isAbove(most, 100_000);
      for (const thread of ["A", "B"])
        assert.deepInclude(ingestion.diagnostics(thread), { applied: 8_001, waiting: 0 });
    }).pipe(Effect.provide(layer({ threadBytes: 400_000, totalBytes: 600_000 }))),
  );
});

describe("one thread's flood", () => {
  it.effect("delays another thread by a round, not by the flood (pain 15)", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread("T");
      yield* openThread("quiet");
      yield* push(turnStarted());
      yield* ingestion.interpreted("T");
      const flood = Array.from({ length: 20_000 }, () => record(delta("flood ")));
      yield* ingestion.submitAll("T", 1, flood);
      yield* pushTo("quiet", turnStarted(), itemCompleted("a", "tool"));
      yield* ingestion.interpreted("quiet");
      assert.strictEqual(ingestion.diagnostics("quiet").applied, 2);
      const dealtWith = 20_000 - ingestion.diagnostics("T").waiting;
      assert.isAtMost(dealtWith, 4 * roundRecords);
      yield* ingestion.drain("T");
      assert.strictEqual(ingestion.diagnostics("T").applied, 20_001);
    }).pipe(Effect.provide(layer({ threadBytes: 100 * 2 ** 20, totalBytes: 100 * 2 ** 20 }))),
  );

  it.effect("is shared fairly with other floods", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const threads = ["T", "U", "V", "W"];
      for (const thread of threads) {
        yield* openThread(thread);
        yield* pushTo(thread, turnStarted());
      }
      yield* ingestion.interpreted();
      for (const thread of threads)
        yield* ingestion.submitAll(
          thread,
          1,
          Array.from({ length: 4_000 }, () => record(delta("flood "))),
        );
      yield* ingestion.interpreted("T");
      for (const thread of threads.slice(1)) assert.isAtMost(ingestion.diagnostics(thread).waiting, roundRecords);
    }).pipe(Effect.provide(layer({ threadBytes: 100 * 2 ** 20, totalBytes: 100 * 2 ** 20 }))),
  );
});
