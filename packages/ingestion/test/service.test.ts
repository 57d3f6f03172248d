import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { ProviderRuntimeIngestion } from "../src/index.ts";
import { completed, delta, exited, turnCompleted, turnStarted } from "./events.ts";
import { layer, messagesOf, openThread, push, typesOf } from "./support.ts";

describe("ProviderRuntimeIngestion", () => {
  it.effect("push, drain, assert", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* push(turnStarted(), delta("Hello "), delta("world"));
      yield* ingestion.drain("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello world" });
      yield* push(completed("Hello world!"), turnCompleted(), exited);
      yield* ingestion.drain();
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello world!" });
      console.log(yield* typesOf(), ingestion.diagnostics("T"));
    }).pipe(Effect.provide(layer())),
  );
  it.effect("flushes by age", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* push(turnStarted(), delta("Hello "));
      yield* ingestion.interpreted("T");
      assert.deepStrictEqual(yield* messagesOf(), {});
      console.log(ingestion.live("T"));
      yield* TestClock.adjust(999);
      yield* ingestion.interpreted("T");
      assert.deepStrictEqual(yield* messagesOf(), {});
      yield* TestClock.adjust(1);
      yield* ingestion.interpreted("T");
      assert.deepStrictEqual(yield* messagesOf(), { "t1//m#0": "Hello " });
    }).pipe(Effect.provide(layer())),
  );
});
