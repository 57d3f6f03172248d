import { assert, describe, it } from "@effect/vitest";
import { EventLog, Journal, RowReader, Store, StoreConnections, Writer } from "@tributary/store";
import { Effect } from "effect";
import {
  append,
  complete,
  context,
  createThread,
  decideAll,
  openSession,
  rename,
  runtime,
  startTurn,
  submit,
} from "../support/commands.ts";
import { entry } from "../support/entries.ts";
import type { StoreLayer } from "../support/layers.ts";

/** Some threads with inputs, messages in pieces, and retracted ones. */
const history = (threads: number, prefix = "T") =>
  Effect.gen(function* () {
    const writer = yield* Writer;
    for (let index = 0; index < threads; index += 1) {
      const id = `${prefix}${index}`;
      yield* writer.dispatch(createThread(id), context);
      yield* writer.dispatch(submit(id, "i1"), context);
      yield* writer.dispatch(rename(id, `rename-${id}`, `title ${index}`), context);
      yield* writer.step(id, (tx) => {
        decideAll(tx, [...openSession, startTurn("t1")]);
        for (const item of ["a", "b", "c"]) {
          for (let piece = 0; piece < 6; piece += 1) decideAll(tx, [append("t1", item, piece * 10, "ten chars.")]);
          decideAll(
            tx,
            item === "b" ? [{ type: "message.retract", messageId: "t1//b#0", reason: "cut" }] : [complete("t1", item)],
          );
        }
      });
    }
  });

export const projectionSuite = (layer: StoreLayer): void => {
  describe("projections", () => {
    it.effect("rows are there with their events, read on one snapshot", () =>
      Effect.gen(function* () {
        const reader = yield* RowReader;
        yield* history(1);
        const seen = reader.snapshot((sequence) => ({
          sequence,
          thread: reader.get("SELECT title, inputs, first_input FROM {threads} WHERE thread_id = ?", "T0"),
          texts: reader.all(
            "SELECT message_id, offset, text FROM {chunks} WHERE thread_id = ? ORDER BY message_id, offset",
            "T0",
          ),
        }));
        assert.strictEqual(seen.sequence, yield* (yield* EventLog).head);
        assert.deepStrictEqual({ ...seen.thread }, { title: "title 0", inputs: 1, first_input: "i1" });
        const chunk = (message_id: string, offset: number, pieces: number) => ({
          message_id,
          offset,
          text: "ten chars.".repeat(pieces),
        });
        assert.deepStrictEqual(
          seen.texts.map((row) => ({ ...row })),
          [chunk("t1//a#0", 0, 4), chunk("t1//a#0", 40, 2), chunk("t1//c#0", 0, 4), chunk("t1//c#0", 40, 2)],
        );
      }).pipe(Effect.provide(layer())),
    );

    it.effect("a rebuild gives what was there, also while others write (I14)", () =>
      Effect.gen(function* () {
        const store = yield* Store;
        const writer = yield* Writer;
        yield* history(30);
        assert.deepStrictEqual(yield* store.diff, []);
        yield* Effect.all([store.rebuild, history(20, "U"), store.rebuild], { concurrency: "unbounded" });
        assert.deepStrictEqual(yield* store.diff, []);
        yield* writer.dispatch(rename("T1", "afterwards", "after the swap"), context);
        const reader = yield* RowReader;
        assert.strictEqual(
          reader.get("SELECT title FROM {threads} WHERE thread_id = 'T1'")?.["title"],
          "after the swap",
        );
        assert.strictEqual(reader.get("SELECT count(*) AS n FROM {threads}")?.["n"], 50);
        assert.deepStrictEqual(yield* store.diff, []);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("a difference is found", () =>
      Effect.gen(function* () {
        const store = yield* Store;
        yield* history(2);
        const { main } = yield* StoreConnections;
        main.exec("UPDATE p_threads SET title = 'wrong' WHERE thread_id = 'T1'");
        const found = yield* store.diff;
        assert.deepStrictEqual(
          found.map(({ table, only, row }) => [table, only, row["title"]]),
          [
            ["threads", "live", "wrong"],
            ["threads", "rebuilt", "title 1"],
          ],
        );
      }).pipe(Effect.provide(layer())),
    );

    it.effect("a purge leaves tombstones that keep their sequences, and nothing else (I3)", () =>
      Effect.gen(function* () {
        const store = yield* Store;
        const writer = yield* Writer;
        const log = yield* EventLog;
        const journal = yield* Journal;
        yield* history(2);
        yield* journal.append([entry("T0", 1, 1), entry("T0", 1, 2, { frame: JSON.stringify("x".repeat(70_000)) })]);
        const before = yield* log.page({ after: 0 });
        yield* writer.dispatch({ type: "thread.delete", commandId: "delete", threadId: "T0" }, context);
        yield* writer.step("T0", (tx) => decideAll(tx, [{ type: "thread.purge" }]));
        // It goes on in the background; the journal's part is its last.
        while (journal.bytes() !== 0) yield* Effect.yieldNow;
        const after = yield* log.page({ after: 0 });
        for (const [index, event] of before.entries()) {
          const now = after[index];
          if (event.streamId !== "T0") assert.deepStrictEqual(now, event);
          else {
            assert.isDefined(now);
            assert.strictEqual(now.type, "tombstone");
            assert.deepStrictEqual(now.payload, {});
            assert.deepStrictEqual(
              [now.sequence, now.version, now.eventId],
              [event.sequence, event.version, event.eventId],
            );
          }
        }
        assert.strictEqual(after.at(-1)?.type, "thread.purged");
        assert.isUndefined(writer.look("T0").closed("text", "t1//a#0"));
        assert.isDefined(writer.look("T1").closed("text", "t1//a#0"));
        assert.deepStrictEqual(journal.read({ threadId: "T0", generation: 1, after: 0, limit: 10 }), []);
        assert.strictEqual(journal.lastSeq("T0", 1), 0);
        assert.deepStrictEqual(yield* store.integrityCheck, []);
        assert.deepStrictEqual(yield* store.diff, []);
        // The id is spent.
        const again = yield* writer.dispatch(createThread("T0", "again"), context);
        assert.strictEqual(again.status === "rejected" && again.rejection.code, "thread_deleted");
        assert.isFalse((yield* writer.step("T0", (tx) => tx.decide({ type: "thread.title", title: "x" }, runtime))).ok);
      }).pipe(Effect.provide(layer())),
    );
  });
};
