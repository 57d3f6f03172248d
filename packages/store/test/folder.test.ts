import { assert, describe, it } from "@effect/vitest";
import {
  EventLog,
  identityOf,
  isAlive,
  Journal,
  pathsOf,
  Processes,
  readLock,
  Store,
  StoreConnections,
  Writer,
} from "@tributary/store";
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
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
} from "./support/commands.ts";
import { entry } from "./support/entries.ts";
import { storeIn, temporaryFolder } from "./support/layers.ts";
import { testProjector } from "./support/projector.ts";

const inFolder = (body: (dir: string) => Effect.Effect<void, unknown, Scope.Scope>) => () =>
  Effect.flatMap(temporaryFolder, body).pipe(Effect.scoped);

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** A process that stays until the scope closes. */
const sleeper = Effect.acquireRelease(
  Effect.sync(() => spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" })),
  (child) => Effect.sync(() => child.kill("SIGKILL")),
);

describe("data folder", () => {
  it.effect(
    "is for its owner alone",
    inFolder((dir) =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const journal = yield* Journal;
        yield* writer.dispatch(createThread("T"), context);
        yield* journal.append([entry("T", 1, 1, { frame: JSON.stringify("x".repeat(70_000)) })]);
        assert.strictEqual(mode(dir), "700");
        const files = readdirSync(dir, { recursive: true, withFileTypes: true });
        for (const file of files) {
          assert.strictEqual(mode(join(file.parentPath, file.name)), file.isDirectory() ? "700" : "600", file.name);
        }
        assert.includeMembers(
          files.map((file) => file.name),
          ["main.db", "main.db-wal", "journal.db", "blobs", "lock"],
        );
      }).pipe(Effect.provide(storeIn(dir))),
    ),
  );

  it.effect("can't be a home folder", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Layer.build(storeIn(homedir())));
      assert.include(error.message, "can't be the data folder");
    }).pipe(Effect.scoped),
  );

  it.effect(
    "comes back as it was: states, receipts, epoch, checkpoints, processes",
    inFolder((dir) =>
      Effect.gen(function* () {
        const first = yield* Effect.gen(function* () {
          const writer = yield* Writer;
          const processes = yield* Processes;
          const receipt = yield* writer.dispatch(createThread("T"), context);
          yield* writer.step("T", (tx) => {
            decideAll(tx, openSession);
            tx.checkpoint(1, 4, "{}");
          });
          yield* processes.intend({ threadId: "T", generation: 1, marker: "m1" });
          yield* processes.intend({ threadId: "T", generation: 1, marker: "m2" });
          yield* processes.intend({ threadId: "T", generation: 1, marker: "m3" });
          yield* processes.spawned("m2", { pid: 7, startTime: "1", bootId: "b" });
          yield* processes.ended("m3");
          return { receipt, epoch: (yield* EventLog).epoch, state: writer.state("T") };
        }).pipe(Effect.provide(storeIn(dir)));
        assert.isFalse(existsSync(pathsOf(dir).lock));
        yield* Effect.gen(function* () {
          const writer = yield* Writer;
          assert.strictEqual(writer.head(), 3);
          assert.deepStrictEqual(writer.state("T"), first.state);
          assert.deepStrictEqual(writer.openThreads(), ["T"]);
          assert.deepStrictEqual(writer.checkpoint("T"), { generation: 1, seq: 4, interpretive: "{}" });
          assert.deepStrictEqual(yield* writer.dispatch(createThread("T"), context), first.receipt);
          assert.strictEqual((yield* EventLog).epoch, first.epoch);
          assert.deepStrictEqual(yield* (yield* Processes).notEnded, [
            { threadId: "T", generation: 1, marker: "m1" },
            { threadId: "T", generation: 1, marker: "m2", identity: { pid: 7, startTime: "1", bootId: "b" } },
          ]);
        }).pipe(Effect.provide(storeIn(dir)));
      }),
    ),
  );

  it.effect(
    "is rebuilt at start when the projector has changed",
    inFolder((dir) =>
      Effect.gen(function* () {
        yield* Effect.gen(function* () {
          const writer = yield* Writer;
          yield* writer.dispatch(createThread("T"), context);
          yield* writer.dispatch(rename("T", "r1", "title"), context);
        }).pipe(Effect.provide(storeIn(dir)));
        const shouting = {
          ...testProjector,
          version: 2,
          project: (event: Parameters<typeof testProjector.project>[0]) =>
            testProjector
              .project(event)
              .map((change) =>
                change.op === "patch" && event.type === "thread.renamed"
                  ? { ...change, set: { ...change.set, title: event.payload.title.toUpperCase() } }
                  : change,
              ),
        };
        yield* Effect.gen(function* () {
          const { main } = yield* StoreConnections;
          assert.strictEqual(main.db.prepare("SELECT title FROM p_threads").get()?.["title"], "TITLE");
          assert.deepStrictEqual(yield* (yield* Store).diff, []);
        }).pipe(Effect.provide(storeIn(dir, { projector: shouting })));
      }),
    ),
  );

  it.effect(
    "written by a newer build is refused",
    inFolder((dir) =>
      Effect.gen(function* () {
        yield* Effect.gen(function* () {
          const { main } = yield* StoreConnections;
          main.exec("INSERT INTO migrations (migration_id, name) VALUES (999, 'later')");
        }).pipe(Effect.provide(storeIn(dir)));
        const error = yield* Effect.flip(Layer.build(storeIn(dir)));
        assert.include(error.message, "newer Tributary");
      }),
    ),
  );

  it.effect(
    "that is not a database is corrupt",
    inFolder((dir) =>
      Effect.gen(function* () {
        writeFileSync(pathsOf(dir).main, "this is not a database, however long it may be".repeat(100));
        assert.strictEqual((yield* Effect.flip(Layer.build(storeIn(dir)))).reason, "corrupt");
      }),
    ),
  );
});

describe("purge", () => {
  it.effect(
    "leaves no byte of what was said in the folder",
    inFolder((dir) =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const journal = yield* Journal;
        const secret = "Xylophone-7431";
        const pieces = Array.from({ length: 8 }, (_, index) => `${secret} ${index} ${"-".repeat(700)}`);
        yield* writer.dispatch({ ...createThread("T"), title: secret }, context);
        yield* writer.dispatch(submit("T", "i1", pieces.join("")), context);
        yield* writer.dispatch(rename("T", "r1", "Something else"), context);
        yield* writer.step("T", (tx) => decideAll(tx, [...openSession, startTurn("t1")]));
        let offset = 0;
        for (const piece of pieces) {
          yield* writer.step("T", (tx) => decideAll(tx, [append("t1", "m", offset, piece)]));
          offset += piece.length;
        }
        yield* writer.step("T", (tx) => decideAll(tx, [complete("t1", "m")]));
        const frame = JSON.stringify(`${secret}${"x".repeat(70_000)}`);
        yield* journal.append([
          entry("T", 1, 1, { frame: JSON.stringify(secret), id: secret }),
          entry("T", 1, 2, { frame }),
        ]);

        const holding = () =>
          readdirSync(dir, { recursive: true, withFileTypes: true })
            .filter((file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).includes(secret))
            .map((file) => file.name);
        assert.isAbove(holding().length, 2);
        yield* writer.dispatch({ type: "thread.delete", commandId: "d1", threadId: "T" }, context);
        yield* writer.step("T", (tx) => decideAll(tx, [{ type: "thread.purge" }]));
        while (journal.bytes() !== 0) yield* Effect.yieldNow;
        yield* Effect.repeat(Effect.yieldNow, { times: 100 });
        assert.deepStrictEqual(holding(), []);
      }).pipe(Effect.provide(storeIn(dir))),
    ),
  );
});

describe("blobs", () => {
  it.effect(
    "what a crash left without a record goes with the next prune; what is needed stays",
    inFolder((dir) =>
      Effect.gen(function* () {
        const journal = yield* Journal;
        const frame = JSON.stringify("x".repeat(70_000));
        yield* journal.append([entry("T", 1, 1, { frame })]);
        const orphan = "ab".repeat(32);
        const path = join(pathsOf(dir).blobs, orphan.slice(0, 2), orphan.slice(2));
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, "left");
        writeFileSync(`${path}.1.1`, "half written");
        assert.strictEqual(journal.blob(orphan), "left");
        yield* journal.prune({ keepAfter: () => 0 });
        assert.deepStrictEqual(readdirSync(dirname(path)), []);
        assert.strictEqual(journal.read({ threadId: "T", generation: 1, after: 0, limit: 1 })[0]?.frame, frame);
      }).pipe(Effect.provide(storeIn(dir))),
    ),
  );
});

describe("lock", () => {
  it.effect(
    "a second store is refused with the owner's name, and gets in once the first is closed",
    inFolder((dir) =>
      Effect.gen(function* () {
        const scope = yield* Scope.make();
        const writer = Context.get(yield* Layer.buildWithScope(storeIn(dir), scope), Writer);
        const error = yield* Effect.flip(Layer.build(storeIn(dir)));
        assert.strictEqual(error.reason, "locked");
        assert.include(error.message, `process ${process.pid}`);
        assert.strictEqual(readLock(pathsOf(dir).lock)?.pid, process.pid);
        // The one that was refused has not harmed the owner.
        assert.strictEqual((yield* writer.dispatch(createThread("T"), context)).status, "accepted");
        yield* Scope.close(scope, Exit.void);
        yield* Layer.build(storeIn(dir));
      }),
    ),
  );

  const owner = (pid: number, over: object = {}) => ({
    pid,
    startTime: "0",
    bootId: "",
    host: "",
    since: "2026-01-01T00:00:00.000Z",
    ...over,
  });

  it.effect(
    "a lock file that names a live process is believed, one that names none is taken over",
    inFolder((dir) =>
      Effect.gen(function* () {
        const child = yield* sleeper;
        const identity = identityOf(child.pid ?? 0);
        assert.isDefined(identity);
        const scope = yield* Scope.make();
        yield* Layer.buildWithScope(storeIn(dir), scope);
        const { host } = readLock(pathsOf(dir).lock) ?? { host: "" };
        yield* Scope.close(scope, Exit.void);
        const claim = (claimed: object) => writeFileSync(pathsOf(dir).lock, JSON.stringify(claimed));

        claim(owner(0, { ...identity, host }));
        const error = yield* Effect.flip(Layer.build(storeIn(dir)));
        assert.strictEqual(error.reason, "locked");
        assert.include(error.message, `process ${child.pid}`);

        // The pid is in use, but not by who wrote the file; then by nobody; then the file is not ours at all.
        const stale = [
          owner(0, { ...identity, host, startTime: "1" }),
          owner(0, { ...identity, host, bootId: "another boot" }),
          owner(2 ** 22 + 1, { host, bootId: identity.bootId }),
          { hello: "world" },
        ];
        for (const claimed of stale) {
          claim(claimed);
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* Layer.build(storeIn(dir));
              assert.strictEqual(readLock(pathsOf(dir).lock)?.pid, process.pid);
            }),
          );
        }
      }),
    ),
    20_000,
  );

  it.effect("a process is told from a later one with its pid", () =>
    Effect.gen(function* () {
      const self = identityOf(process.pid);
      assert.isDefined(self);
      assert.isTrue(isAlive(self));
      assert.isFalse(isAlive({ ...self, startTime: `${self.startTime}1` }));
      assert.isUndefined(identityOf(2 ** 22 + 1));
      yield* Effect.void;
    }),
  );
});

describe("backup", () => {
  it.effect(
    "begins while the writer is in a transaction",
    inFolder((dir) =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const store = yield* Store;
        const { main } = yield* StoreConnections;
        yield* writer.dispatch(createThread("T"), context);
        main.exec("BEGIN IMMEDIATE");
        const copying = yield* Effect.forkChild(store.backup(join(dir, "copy")), { startImmediately: true });
        yield* Effect.promise(() => pause(50));
        main.exec("COMMIT");
        yield* Fiber.join(copying);
        const found = Effect.map(Writer, (copied) => copied.state("T")?.threadId);
        assert.strictEqual(yield* Effect.provide(found, storeIn(join(dir, "copy"))), "T");
      }).pipe(Effect.provide(storeIn(join(dir, "original")))),
    ),
  );

  it.effect(
    "copies a store that is being written, as a store of its own",
    inFolder((dir) =>
      Effect.gen(function* () {
        const original = join(dir, "original");
        const target = join(dir, "copy");
        const epoch = yield* Effect.gen(function* () {
          const writer = yield* Writer;
          const journal = yield* Journal;
          const store = yield* Store;
          const processes = yield* Processes;
          yield* writer.dispatch(createThread("before"), context);
          yield* journal.append([entry("before", 1, 1, { frame: JSON.stringify("x".repeat(70_000)) })]);
          yield* processes.intend({ threadId: "before", generation: 1, marker: "m1" });
          const busy = Effect.forEach(
            Array.from({ length: 200 }, (_, index) => index),
            (index) => writer.dispatch(rename("before", `r${index}`, `title ${index}`), context),
            { concurrency: 8 },
          );
          yield* Effect.all([store.backup(target), busy], { concurrency: "unbounded" });
          const taken = yield* Effect.flip(store.backup(target));
          assert.include(taken.message, "empty folder");
          return (yield* EventLog).epoch;
        }).pipe(Effect.provide(storeIn(original)));
        yield* Effect.gen(function* () {
          const writer = yield* Writer;
          const journal = yield* Journal;
          assert.deepStrictEqual(yield* (yield* Store).integrityCheck, []);
          assert.deepStrictEqual(yield* (yield* Store).diff, []);
          assert.isDefined(writer.state("before"));
          assert.notStrictEqual((yield* EventLog).epoch, epoch);
          assert.deepStrictEqual(yield* (yield* Processes).notEnded, []);
          assert.strictEqual(journal.record({ threadId: "before", generation: 1, seq: 1 }) === "expired", false);
          const [record] = journal.read({ threadId: "before", generation: 1, after: 0, limit: 1 });
          assert.strictEqual(record?.frame?.length, 70_002);
        }).pipe(Effect.provide(storeIn(target)));
      }),
    ),
  );
});
