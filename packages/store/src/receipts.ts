import { Clock, Effect, Schedule, type Scope } from "effect";
import type { Connection } from "./sqlite/Connection.ts";
import type { StoreError } from "./StoreError.ts";
import type { RunSql } from "./writer/Writer.ts";

/** How long the same command gets the same receipt. Ids of threads, inputs and answers are never reused, so an old retry still cannot act twice. */
const keptMilliseconds = 30 * 24 * 60 * 60 * 1_000;

/** Receipts in one transaction. */
const slice = 500;

/** Drops the oldest receipts that are due. They lie in the order of their making, so those come first. */
const dropOldest = (connection: Connection, before: number): boolean =>
  connection
    .prepare(
      "DELETE FROM receipts WHERE rowid IN (SELECT rowid FROM receipts ORDER BY rowid LIMIT ?) AND created_at < ?",
    )
    .run(slice, before) === slice;

export const pruneReceipts = (runSql: RunSql): Effect.Effect<void, StoreError> =>
  Effect.gen(function* () {
    const before = (yield* Clock.currentTimeMillis) - keptMilliseconds;
    while (yield* runSql((connection) => dropOldest(connection, before)));
  });

/** Prunes once now, then every hour. */
export const runReceiptPruning = (runSql: RunSql): Effect.Effect<void, never, Scope.Scope> =>
  pruneReceipts(runSql).pipe(
    Effect.catchCause((cause) => Effect.logWarning("Old receipts could not be removed", cause)),
    Effect.repeat(Schedule.spaced("1 hour")),
    Effect.forkScoped,
    Effect.asVoid,
  );
