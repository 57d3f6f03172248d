/** P3 and 4.4: nothing is interpreted, and nobody is shown anything, before its records are durable at the store's level. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { assert, describe, it } from "@effect/vitest";
import { Journal, Signals, StoreConnections } from "@tributary/store";
import { Deferred, Effect } from "effect";
import { ProviderRuntimeIngestion } from "../src/index.ts";
import { delta, itemStarted, turnStarted } from "./events.ts";
import {
  folderStore,
  layer,
  openThread,
  pushAndInterpret,
  record,
  temporaryFolder,
  typesOf,
  withService,
} from "./support.ts";

/** What a crash now would leave of the journal: how far each session's records go. The server's own file is locked. */
const onDisk = (dir: string): number => {
  const copy = join(dir, `copy-${process.hrtime.bigint()}`);
  mkdirSync(copy);
  for (const file of ["journal.db", "journal.db-wal"])
    if (existsSync(join(dir, file))) copyFileSync(join(dir, file), join(copy, file));
  const journal = new DatabaseSync(join(copy, "journal.db"));
  try {
    return Number(journal.prepare("SELECT coalesce(max(last_seq), 0) AS seq FROM packs").get()?.["seq"]);
  } finally {
    journal.close();
  }
};

describe.each(["full", "normal"] as const)("live text, synchronous=%s", (level) => {
  it.effect("is handed to subscribers only after its records are durable", () =>
    Effect.gen(function* () {
      const dir = yield* temporaryFolder;
      // From here on an append is told to be durable when this says so.
      let gate: Deferred.Deferred<void> | undefined;
      const slow = withService(
        Journal,
        (real) => ({
          ...real,
          append: (entries) =>
            Effect.tap(real.append(entries), () => (gate === undefined ? Effect.void : Deferred.await(gate))),
        }),
        folderStore(dir, level),
      );
      yield* Effect.gen(function* () {
        const ingestion = yield* ProviderRuntimeIngestion;
        const signals = yield* Signals;
        const { journal } = yield* StoreConnections;
        assert.strictEqual(journal.db.prepare("PRAGMA synchronous").get()?.["synchronous"], level === "full" ? 2 : 1);
        yield* openThread();
        yield* pushAndInterpret(turnStarted());
        const signal = yield* signals.subscribe([ingestion.liveKey("T")]);
        const before = yield* typesOf();
        gate = yield* Deferred.make<void>();
        yield* ingestion.submit("T", 1, record(delta("Hello")));
        yield* ingestion.submit("T", 1, record(itemStarted("a", "tool")));
        for (let turns = 0; turns < 200; turns += 1) yield* Effect.yieldNow;
        assert.deepStrictEqual(ingestion.live("T"), []);
        assert.deepStrictEqual(yield* typesOf(), before);
        assert.strictEqual(ingestion.diagnostics("T").waiting, 2);
        const heard = yield* Effect.forkChild(signal.wait);
        yield* Effect.yieldNow;
        assert.isUndefined(heard.pollUnsafe());
        yield* Deferred.succeed(gate, undefined);
        gate = undefined;
        yield* signal.wait;
        yield* ingestion.interpreted("T");
        assert.isAtLeast(onDisk(dir), 3);
        assert.notDeepEqual(yield* typesOf(), before);
      }).pipe(Effect.provide(layer({}, slow)), Effect.scoped);
    }).pipe(Effect.scoped),
  );

  it.effect("at each moment that it is shown, the journal's file has what it is made of", () =>
    Effect.gen(function* () {
      const dir = yield* temporaryFolder;
      yield* Effect.gen(function* () {
        const ingestion = yield* ProviderRuntimeIngestion;
        const signals = yield* Signals;
        yield* openThread();
        yield* pushAndInterpret(turnStarted());
        const signal = yield* signals.subscribe([ingestion.liveKey("T")]);
        for (let n = 1; n <= 5; n += 1) {
          yield* ingestion.submit("T", 1, record(delta(String(n))));
          while ((ingestion.live("T")[0]?.text.length ?? 0) < n) yield* signal.wait;
          assert.strictEqual(onDisk(dir), 1 + n);
        }
      }).pipe(Effect.provide(layer({}, folderStore(dir, level))), Effect.scoped);
    }).pipe(Effect.scoped),
  );
});
