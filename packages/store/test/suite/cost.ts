import { assert, describe, it } from "@effect/vitest";
import { Journal, StoreConnections, Writer, type Connection } from "@tributary/store";
import { Effect } from "effect";
import {
  append,
  complete,
  context,
  createThread,
  decideAll,
  openSession,
  rename,
  startTurn,
  submit,
} from "../support/commands.ts";
import { entry } from "../support/entries.ts";
import type { StoreLayer } from "../support/layers.ts";

/** Statements that read a whole table on purpose, each with why that does not grow with history. */
const wholeReads: ReadonlyArray<RegExp> = [
  /^SELECT thread_id FROM thread_states WHERE open = 1/, // an index of the open ones only
  /^SELECT name FROM sqlite_schema/, // the tables of this database
  /FROM processes ORDER BY marker$/, // as many as there are open sessions
  /^SELECT max\(migration_id\)/, // at start
  /^SELECT 1 AS one FROM events LIMIT 1$/, // one row
  /^DELETE FROM receipts WHERE rowid IN \(SELECT rowid FROM receipts ORDER BY rowid LIMIT \?\)/, // the first few rows
];

const plansOf = (connection: Connection) =>
  connection.statements
    .filter((sql) => !/^(PRAGMA|CREATE|DROP|ALTER)/.test(sql) && !wholeReads.some((known) => known.test(sql)))
    .map((sql) => ({
      sql,
      plan: connection.db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...Array.from(sql.matchAll(/\?(?!\d)/g), () => null))
        .map((row) => String(row["detail"])),
    }));

/** I12: what a command costs does not depend on how much is stored. */
export const costSuite = (layer: StoreLayer): void => {
  describe("cost (I12)", () => {
    it.effect("a command and a step run as many statements on a long thread as on an empty one", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const { main } = yield* StoreConnections;
        for (const id of ["long", "empty"]) {
          yield* writer.dispatch(createThread(id), context);
          yield* writer.step(id, (tx) => decideAll(tx, [...openSession, startTurn("t1")]));
        }
        for (let turn = 0; turn < 40; turn += 1) {
          yield* writer.step("long", (tx) => {
            for (let item = 0; item < 20; item += 1) {
              decideAll(tx, [append("t1", `m${turn}-${item}`, 0, "some text"), complete("t1", `m${turn}-${item}`)]);
            }
          });
          yield* writer.dispatch(rename("long", `many-${turn}`, `title ${turn}`), context);
        }
        const counted = <A, E>(effect: Effect.Effect<A, E>) =>
          Effect.gen(function* () {
            const before = main.executed;
            yield* effect;
            return main.executed - before;
          });
        const costs = (id: string) =>
          Effect.all([
            counted(writer.dispatch(submit(id, "i1"), context)),
            counted(writer.dispatch(rename(id, `r-${id}`, "title"), context)),
            counted(writer.dispatch({ type: "thread.read", commandId: `read-${id}`, threadId: id, upTo: 3 }, context)),
            counted(writer.step(id, (tx) => decideAll(tx, [append("t1", "x", 0, "text")]))),
            counted(writer.step(id, (tx) => decideAll(tx, [append("t1", "x", 4, " more")]))),
            counted(writer.step(id, (tx) => tx.checkpoint(1, 1, "{}"))),
          ]);
        const onLong = yield* costs("long");
        assert.deepStrictEqual(onLong, yield* costs("empty"));
        // BEGIN and COMMIT; the receipt looked up and written; what the decider looks up; its events, the state, rows.
        assert.deepStrictEqual(onLong, [9, 7, 7, 7, 5, 3]);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("every statement finds its rows by a key", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const journal = yield* Journal;
        const { main, read, journal: journalConnection } = yield* StoreConnections;
        yield* writer.dispatch(createThread("T"), context);
        yield* writer.dispatch(submit("T", "i1"), context);
        yield* writer.step("T", (tx) => {
          decideAll(tx, [...openSession, startTurn("t1"), append("t1", "m", 0, "a"), complete("t1", "m")]);
          tx.checkpoint(1, 1, "{}");
          tx.refuse({ threadId: "T", generation: 1, seq: 1, type: "x", reason: "invalid" });
        });
        yield* journal.append([entry("T", 1, 1, { id: "e1" })]);
        yield* journal.prune({ olderThan: 0, keepAfter: () => 0 });
        yield* journal.erase("nobody");
        const plans = [main, read, journalConnection].flatMap(plansOf);
        assert.isAbove(plans.length, 40);
        // A scan along an index is a scan too; only rows that SQL itself made (a sub-query) may be scanned.
        const scans = plans.filter(({ plan }) => plan.some((step) => /^SCAN (?!\(subquery|CONSTANT)/.test(step)));
        assert.deepStrictEqual(scans, []);
      }).pipe(Effect.provide(layer())),
    );
  });
};
