/** Diffs that are too large for an event are blobs, put away before the step that names them (4.11). */
import { assert, describe, it } from "@effect/vitest";
import type { FileChange } from "@tributary/contracts";
import { Journal } from "@tributary/store";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { ProviderRuntimeIngestion } from "../src/index.ts";
import { diffBytes } from "../src/limits.ts";
import { itemCompleted, itemStarted, itemUpdated, turnStarted } from "./events.ts";
import { layer, logOf, openThread, pushAndDrain, pushAndInterpret } from "./support.ts";

const large = (name: string): string => `+${name}\n`.repeat(diffBytes);
const change = (path: string): FileChange => ({ path, kind: "update", diff: large(path) });

/** What the log says of changed files, newest last: the path and the diff behind its blob. */
const changesInLog = Effect.gen(function* () {
  const journal = yield* Journal;
  const events = yield* logOf();
  return events.flatMap((event) => {
    const changes = "changes" in event.payload ? (event.payload.changes ?? []) : [];
    return changes.map(({ path, diff, blob }) => [path, diff === undefined ? journal.blob(blob ?? "") : "not a blob"]);
  });
});

const diffsInLog = Effect.gen(function* () {
  const journal = yield* Journal;
  const events = yield* logOf();
  return events.flatMap(({ type, payload }) =>
    type === "turn.diff_updated"
      ? [payload.unifiedDiff === undefined ? journal.blob(payload.blob ?? "") : "not a blob"]
      : [],
  );
});

describe("large diffs", () => {
  it.effect("of items, however they come", () =>
    Effect.gen(function* () {
      yield* openThread();
      yield* pushAndInterpret(turnStarted(), itemStarted("a", "file_change", { changes: [change("started")] }));
      yield* pushAndInterpret(itemUpdated("a", "file_change", { changes: [change("updated")] }));
      // An update that waits for its 200 ms, or does not.
      yield* TestClock.adjust(200);
      yield* pushAndDrain(itemCompleted("a", "file_change", { changes: [change("completed")] }));
      const changes = yield* changesInLog;
      assert.deepStrictEqual(
        changes,
        ["started", "updated", "completed"].map((path) => [path, large(path)]),
      );
    }).pipe(Effect.provide(layer())),
  );

  it.effect("of a turn that waited for its second", () =>
    Effect.gen(function* () {
      const ingestion = yield* ProviderRuntimeIngestion;
      yield* openThread();
      const diff = (text: string) => ({ type: "turn.diff", turnId: "t1", payload: { unifiedDiff: text } });
      yield* pushAndInterpret(turnStarted(), diff(large("one")), diff(large("two")));
      assert.deepStrictEqual(yield* diffsInLog, []);
      yield* TestClock.adjust(1_000);
      yield* ingestion.interpreted("T");
      assert.deepStrictEqual(yield* diffsInLog, [large("two")]);
    }).pipe(Effect.provide(layer())),
  );
});
