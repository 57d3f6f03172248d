/** Records per second into the journal, beside the same text as single rows through bare `node:sqlite`. */
import type { RuntimeEvent } from "@tributary/contracts";
import { Journal, type JournalEntry, type Synchronous } from "@tributary/store";
import { Effect } from "effect";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { runIn, timed, type StoreLoad, type Timing } from "./load.ts";

export interface JournalLoad {
  readonly records: number;
  /** Records in one append. */
  readonly batch: number;
  readonly threads: number;
  /** Whether the events have ids, which are then kept unique in their session. */
  readonly ids: boolean;
}

const entry = (threadId: string, seq: number, ids: boolean): JournalEntry => {
  const text = `word ${seq} `;
  const event: RuntimeEvent = {
    type: "content.delta",
    turnId: "turn-1",
    itemId: "item-1",
    payload: { stream: "assistant_text", text },
    ...(ids ? { id: `turn-1:item-${seq >> 6}:delta:${seq}` } : {}),
  };
  return {
    threadId,
    generation: 1,
    seq,
    kind: "frame",
    dir: "in",
    nativeKind: "item/agentMessage/delta",
    frame: JSON.stringify({
      method: "item/agentMessage/delta",
      params: { turnId: "turn-1", itemId: "item-1", delta: text },
    }),
    events: [event],
    at: 1_767_225_600_000 + seq,
  };
};

const batchesOf = ({
  records,
  batch,
  threads,
  ids,
}: JournalLoad): ReadonlyArray<ReadonlyArray<ReadonlyArray<JournalEntry>>> => {
  const each = Math.ceil(records / threads / batch);
  return Array.from({ length: threads }, (_, thread) =>
    Array.from({ length: each }, (_, index) =>
      Array.from({ length: batch }, (_, record) => entry(`thread-${thread}`, index * batch + record + 1, ids)),
    ),
  );
};

export const storeJournal = (load: StoreLoad & JournalLoad): Promise<Timing> => {
  const batches = batchesOf(load);
  return runIn(
    load,
    Effect.gen(function* () {
      const journal = yield* Journal;
      const thread = (own: ReadonlyArray<ReadonlyArray<JournalEntry>>) =>
        Effect.forEach(own, (batch) => journal.append(batch), { discard: true });
      return yield* timed(
        batches.flat(2).length,
        Effect.forEach(batches, thread, { concurrency: "unbounded", discard: true }),
      );
    }),
  );
};

/** A row a record, one transaction for every batch of each thread in turn. */
export const rawJournal = (load: JournalLoad & { readonly dir: string; readonly synchronous: Synchronous }): Timing => {
  const batches = batchesOf(load);
  const database = new DatabaseSync(join(load.dir, "raw.db"));
  try {
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${load.synchronous.toUpperCase()}`);
    database.exec(
      "CREATE TABLE records (thread INTEGER, seq INTEGER, frame TEXT, events TEXT, PRIMARY KEY (thread, seq)) WITHOUT ROWID",
    );
    const insert = database.prepare("INSERT INTO records VALUES (?, ?, ?, ?)");
    const start = performance.now();
    for (let index = 0; index < (batches[0]?.length ?? 0); index += 1) {
      database.exec("BEGIN IMMEDIATE");
      for (const [thread, own] of batches.entries()) {
        for (const { seq, frame, events } of own[index] ?? []) insert.run(thread, seq, frame, JSON.stringify(events));
      }
      database.exec("COMMIT");
    }
    return { units: batches.flat(2).length, seconds: (performance.now() - start) / 1_000 };
  } finally {
    database.close();
  }
};
