import { assert, describe, it } from "@effect/vitest";
import { Journal, Store, StoreConnections, Writer, type JournalEntry } from "@tributary/store";
import { Effect } from "effect";
import { context, createThread, decideAll, openSession } from "../support/commands.ts";
import { delta, entries, entry } from "../support/entries.ts";
import type { StoreLayer } from "../support/layers.ts";

const all = (journal: Journal["Service"], threadId = "T", generation = 1) =>
  journal.read({ threadId, generation, after: 0, limit: 10_000 });

export const journalSuite = (layer: StoreLayer): void => {
  describe("journal", () => {
    it.effect("gives records back as they came", () =>
      Effect.gen(function* () {
        const journal = yield* Journal;
        const strange: JournalEntry = {
          ...entry("T", 1, 1),
          kind: "reply",
          dir: "out",
          replyTo: "0",
          // Not normalised JSON, and a lone surrogate both raw and escaped.
          frame: '{ "b": 1.0,\n "a": "\\ud800" , "c":"\u2028\ud83d\ude00" }',
          events: [
            delta("lone \ud800 and \u0000"),
            { type: "unknown", payload: { kind: "?" }, ext: { stub: { a: [1, null] } } },
          ],
        };
        yield* journal.append([strange]);
        yield* journal.append(entries("T", 1, 2, 600));
        yield* journal.append(entries("T", 2, 1, 3));
        assert.deepStrictEqual(all(journal), [strange, ...entries("T", 1, 2, 600)]);
        assert.deepStrictEqual(all(journal, "T", 2), entries("T", 2, 1, 3));
        assert.deepStrictEqual(
          journal.read({ threadId: "T", generation: 1, after: 254, limit: 4 }),
          entries("T", 1, 255, 258),
        );
        assert.deepStrictEqual(
          [journal.lastSeq("T", 1), journal.lastSeq("T", 2), journal.lastSeq("T", 3)],
          [600, 3, 0],
        );
        assert.deepStrictEqual(journal.record({ threadId: "T", generation: 1, seq: 300 }), entry("T", 1, 300));
        assert.isUndefined(journal.record({ threadId: "T", generation: 1, seq: 601 }));
      }).pipe(Effect.provide(layer())),
    );

    it.effect("a frame with a raw lone surrogate means the same JSON afterwards", () =>
      Effect.gen(function* () {
        const journal = yield* Journal;
        yield* journal.append([entry("T", 1, 1, { frame: '{"a":"x\ud800y"}' })]);
        const [record] = all(journal);
        assert.deepStrictEqual(JSON.parse(record?.frame ?? ""), { a: "x\ud800y" });
      }).pipe(Effect.provide(layer())),
    );

    it.effect("an event id counts once in a session, across appends, and says what was stored", () =>
      Effect.gen(function* () {
        const journal = yield* Journal;
        const first = yield* journal.append([
          entry("T", 1, 1, { id: "a" }),
          entry("T", 1, 2, { id: "a" }),
          entry("T", 1, 3, { id: "b" }),
        ]);
        assert.deepStrictEqual(
          first.map(({ events }) => events.length),
          [1, 0, 1],
        );
        const second = yield* journal.append([entry("T", 1, 4, { id: "b" }), entry("T", 1, 5)]);
        assert.deepStrictEqual(
          second.map(({ events }) => events.length),
          [0, 1],
        );
        assert.deepStrictEqual(
          all(journal).map(({ events }) => events.length),
          [1, 0, 1, 0, 1],
        );
        const otherSession = yield* journal.append([entry("T", 2, 1, { id: "a" }), entry("U", 1, 1, { id: "a" })]);
        assert.deepStrictEqual(
          otherSession.map(({ events }) => events.length),
          [1, 1],
        );
      }).pipe(Effect.provide(layer())),
    );

    it.effect("refuses a gap or a repeat, writes nothing of it, and goes on", () =>
      Effect.gen(function* () {
        const journal = yield* Journal;
        yield* journal.append(entries("T", 1, 1, 2));
        for (const bad of [[entry("T", 1, 2)], [entry("T", 1, 4)], [entry("T", 1, 3, { id: "x" }), entry("T", 1, 5)]]) {
          assert.strictEqual((yield* Effect.flip(journal.append(bad))).reason, "fault");
        }
        const kept = yield* journal.append([entry("T", 1, 3, { id: "x" })]);
        assert.strictEqual(kept[0]?.events.length, 1);
        assert.strictEqual(journal.lastSeq("T", 1), 3);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("appends of many threads at once keep each one's order", () =>
      Effect.gen(function* () {
        const journal = yield* Journal;
        const threads = Array.from({ length: 20 }, (_, index) => `T${index}`);
        yield* Effect.forEach(
          threads,
          (id) =>
            Effect.forEach([0, 1, 2, 3], (batch) => journal.append(entries(id, 1, batch * 50 + 1, batch * 50 + 50))),
          { concurrency: "unbounded" },
        );
        for (const id of threads) assert.deepStrictEqual(all(journal, id), entries(id, 1, 1, 200));
      }).pipe(Effect.provide(layer())),
    );

    it.effect("a large frame is a blob; the same value is kept once and goes with its last use", () =>
      Effect.gen(function* () {
        const journal = yield* Journal;
        const frame = JSON.stringify({ text: "y".repeat(70_000) });
        yield* journal.append([entry("T", 1, 1), entry("T", 1, 2, { frame }), entry("T", 1, 3)]);
        yield* journal.append([entry("U", 1, 1, { frame })]);
        assert.deepStrictEqual(all(journal)[1], entry("T", 1, 2, { frame }));
        const hash = yield* journal.putBlob("V", frame);
        assert.strictEqual(hash, yield* journal.putBlob("V", frame));
        assert.strictEqual(journal.blob(hash), frame);
        yield* journal.erase("T");
        assert.strictEqual(all(journal, "U")[0]?.frame, frame);
        yield* journal.erase("U");
        assert.strictEqual(journal.blob(hash), frame);
        yield* journal.erase("V");
        assert.isUndefined(journal.blob(hash));
        assert.isUndefined(journal.blob("../../etc/passwd"));
        assert.strictEqual(journal.bytes(), 0);
        const { journal: connection } = yield* StoreConnections;
        for (const table of ["sessions", "packs", "event_ids", "blob_uses"]) {
          assert.strictEqual(connection.db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"], 0, table);
        }
      }).pipe(Effect.provide(layer())),
    );

    it.effect("a blob keeps a lone surrogate", () =>
      Effect.gen(function* () {
        const journal = yield* Journal;
        const text = `-\ud800 +${"z".repeat(10)}`;
        assert.strictEqual(journal.blob(yield* journal.putBlob("T", text)), text);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("prunes by age and by size, never past what is still needed, and then reads `expired`", () =>
      Effect.gen(function* () {
        const journal = yield* Journal;
        const frame = JSON.stringify("z".repeat(70_000));
        for (let seq = 1; seq <= 10; seq += 1) {
          yield* journal.append([entry("T", 1, seq, { at: seq * 1_000, ...(seq === 2 ? { frame } : {}) })]);
          yield* journal.append([entry("U", 1, seq, { at: seq * 1_000 })]);
        }
        const hash = yield* journal.putBlob("X", "x");
        const byAge = yield* journal.prune({ olderThan: 8_500, keepAfter: (threadId) => (threadId === "T" ? 5 : 0) });
        assert.strictEqual(byAge.records, 5);
        assert.deepStrictEqual(
          all(journal).map(({ seq }) => seq),
          [6, 7, 8, 9, 10],
        );
        assert.strictEqual(all(journal, "U").length, 10);
        assert.strictEqual(journal.record({ threadId: "T", generation: 1, seq: 2 }), "expired");
        assert.deepStrictEqual(
          journal.record({ threadId: "U", generation: 1, seq: 2 }),
          entry("U", 1, 2, { at: 2_000 }),
        );
        assert.strictEqual(journal.lastSeq("T", 1), 10);
        assert.isAbove(byAge.bytes, 70_000);

        const size = journal.bytes();
        const bySize = yield* journal.prune({ maxBytes: size - 1, keepAfter: () => Infinity });
        assert.strictEqual(bySize.records, 1);
        assert.strictEqual(journal.bytes(), size - bySize.bytes);
        // The oldest record was U's first.
        assert.strictEqual(journal.record({ threadId: "U", generation: 1, seq: 1 }), "expired");

        yield* journal.prune({ maxBytes: 0, keepAfter: () => Infinity });
        assert.deepStrictEqual([all(journal).length, all(journal, "U").length], [0, 0]);
        assert.strictEqual(journal.blob(hash), "x");
        yield* journal.append([entry("T", 1, 11)]);
        assert.strictEqual(all(journal).length, 1);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("the store itself prunes only what is over and interpreted", () =>
      Effect.gen(function* () {
        const journal = yield* Journal;
        const store = yield* Store;
        const writer = yield* Writer;
        yield* writer.dispatch(createThread("T"), context);
        yield* writer.step("T", (tx) => decideAll(tx, openSession));
        for (let seq = 1; seq <= 4; seq += 1) yield* journal.append([entry("T", 1, seq)]);
        const kept = Effect.map(store.pruneJournal({ maxBytes: 0 }), () => all(journal).map(({ seq }) => seq));
        assert.deepStrictEqual(yield* kept, [1, 2, 3, 4]);
        yield* writer.step("T", (tx) => tx.checkpoint(1, 3, "{}"));
        assert.deepStrictEqual(yield* kept, [1, 2, 3, 4], "the session goes on");
        yield* writer.step("T", (tx) =>
          decideAll(tx, [
            { type: "session.exit", generation: 1, seen: "runtime", kind: "graceful", recoverable: true },
          ]),
        );
        assert.deepStrictEqual(yield* kept, [4], "past the checkpoint nothing goes");
        yield* journal.append([entry("T", 2, 1)]);
        yield* writer.step("T", (tx) => tx.checkpoint(2, 0, "{}"));
        assert.deepStrictEqual(yield* kept, [], "an older generation is over for good");
        assert.strictEqual(all(journal, "T", 2).length, 1);
        assert.deepStrictEqual(yield* store.integrityCheck, []);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("a full disk fails the append, leaves nothing of it, and works again once there is room", () =>
      Effect.gen(function* () {
        const journal = yield* Journal;
        const { journal: connection } = yield* StoreConnections;
        yield* journal.append([entry("T", 1, 1, { id: "a" })]);
        const pages = Number(connection.db.prepare("PRAGMA page_count").get()?.["page_count"]);
        connection.exec(`PRAGMA max_page_count = ${pages}`);
        const many = [entry("T", 1, 2, { id: "b", frame: JSON.stringify("x".repeat(60_000)) })];
        const fresh = [entry("U", 1, 1, { frame: JSON.stringify("x".repeat(60_000)) })];
        for (const bad of [many, fresh]) assert.strictEqual((yield* Effect.flip(journal.append(bad))).reason, "full");
        assert.deepStrictEqual([journal.lastSeq("T", 1), journal.lastSeq("U", 1)], [1, 0]);
        connection.exec("PRAGMA max_page_count = 4294967294");
        const stored = yield* journal.append(many);
        assert.strictEqual(stored[0]?.events.length, 1);
        yield* journal.append(fresh);
        assert.deepStrictEqual([all(journal).length, all(journal, "U").length], [2, 1]);
      }).pipe(Effect.provide(layer())),
    );
  });
};
