/** Live text: what people see before the log has it (4.4, section 10). */
import { assert, describe, it } from "@effect/vitest";
import { EventLog, Signals } from "@tributary/store";
import { Effect } from "effect";
import type { Layer } from "effect";
import { ProviderRuntimeIngestion } from "../src/index.ts";
import { delta, itemStarted, turnStarted } from "./events.ts";
import { layer, logOf, openThread, pushAndDrain, pushAndInterpret } from "./support.ts";

const run = <A, E>(
  name: string,
  body: Effect.Effect<A, E, Layer.Success<ReturnType<typeof layer>>>,
  over: ReturnType<typeof layer> = layer(),
) => it.effect(name, () => Effect.provide(body, over));

describe("live text", () => {
  run(
    "is what the log does not have yet, where the log ends, and touches its signal",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      const signals = yield* Signals;
      const log = yield* EventLog;
      yield* openThread();
      const signal = yield* signals.subscribe([ingestion.liveKey("T")]);
      yield* pushAndDrain(turnStarted(), delta("Hello"));
      yield* pushAndInterpret(delta(" wor"), delta("ld"), delta("child", { agentPath: ["a"], itemId: "n" }));
      yield* signal.wait;
      const head = yield* log.head;
      const frame = { threadId: "T", revision: 0, after: head, turnId: "t1", stream: "assistant_text" };
      assert.deepStrictEqual(ingestion.live("T"), [
        { ...frame, rowId: "t1//m#0", agentPath: [], itemId: "m", offset: 5, text: " world" },
        { ...frame, rowId: "t1/a/n#0", agentPath: ["a"], itemId: "n", offset: 0, text: "child" },
      ] as never);
    }).pipe(Effect.scoped),
  );

  run(
    "stands on the thread's own newest event, whatever other threads do",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* pushAndDrain(turnStarted(), delta("Hello"));
      const own = (yield* logOf()).at(-1)?.sequence;
      yield* openThread("other");
      yield* pushAndInterpret(delta("!"));
      assert.strictEqual(ingestion.live("T")[0]?.after, own);
    }),
  );

  run(
    "raises its revision when what people saw is taken back",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      yield* pushAndInterpret(turnStarted(), delta("cut"));
      yield* pushAndInterpret({ type: "content.retracted", turnId: "t1", itemId: "m", payload: { reason: "retry" } });
      const seen = () => ingestion.live("T").map(({ rowId, revision, text }) => [rowId, revision, text]);
      assert.deepStrictEqual(seen(), [["t1//m#0", 1, ""]]);
      yield* pushAndInterpret(delta("again"));
      assert.deepStrictEqual(seen(), [["t1//m#0", 1, "again"]]);
    }),
  );

  run(
    "shows what runs past the head of a command's output",
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      const output = (text: string) => delta(text, { itemId: "ls", stream: "command_output" });
      yield* pushAndInterpret(turnStarted(), itemStarted("ls", "command"), output("file1\n"));
      assert.deepInclude(ingestion.live("T")[0], {
        rowId: "t1//ls",
        stream: "command_output",
        offset: 0,
        text: "file1\n",
      });
      yield* pushAndInterpret(output("x".repeat(32_762)), output("the newest line"));
      assert.deepInclude(ingestion.live("T")[0], { offset: 32_768, text: "the newest line" });
    }),
  );
});
