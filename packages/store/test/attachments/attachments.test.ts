/** Attachments: contents as files, ids as rows, uses by threads; whatever comes in between leaves nothing wrong. */
import { assert, describe, it } from "@effect/vitest";
import { AttachmentRefused, Attachments, Store, StoreConnections, unusedMilliseconds, Writer } from "@tributary/store";
import { Effect, Exit, Fiber, Result, Stream } from "effect";
import { TestClock } from "effect/testing";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { context, createThread, decideAll, submit } from "../support/commands.ts";
import { memoryStore, storeIn, temporaryFolder } from "../support/layers.ts";

const what = { mediaType: "text/plain", name: "a.txt", owner: "device-1", maxBytes: 1_000, maxTotalBytes: 5_000 };
const bytes = (text: string) => new TextEncoder().encode(text);
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

const put = (text: string, over: Partial<typeof what> = {}) =>
  Attachments.use((attachments) => attachments.put(Stream.make(bytes(text)), { ...what, ...over }));

const textOf = (id: string) =>
  Attachments.use((attachments) => {
    const path = attachments.path(id);
    return path === undefined
      ? Effect.succeed(undefined)
      : Effect.map(Stream.runCollect(attachments.content(path)), (all) => Buffer.concat(all).toString("utf8"));
  });

/** A thread whose first input names attachments. */
const use = (threadId: string, ...ids: ReadonlyArray<string>) =>
  Writer.use((writer) =>
    writer.dispatch(
      {
        ...createThread(threadId),
        input: { inputId: `i-${threadId}`, text: "look", attachments: ids.map((id) => ({ id })) },
      },
      context,
    ),
  );

const deleteThread = (threadId: string) =>
  Writer.use((writer) => writer.dispatch({ type: "thread.delete", commandId: `d-${threadId}`, threadId }, context));

const purgeThread = (threadId: string) =>
  Writer.use((writer) => writer.step(threadId, (tx) => decideAll(tx, [{ type: "thread.purge" }])));

const files = (dir: string) => readdirSync(join(dir, "attachments"));
const inFolder = <A, E>(run: (dir: string) => Effect.Effect<A, E, Attachments | Writer | Store | StoreConnections>) =>
  Effect.scoped(
    Effect.flatMap(temporaryFolder, (dir) => Effect.provide(run(dir), storeIn(dir, { synchronous: "normal" }))),
  );

describe("attachments", () => {
  it.effect("are kept by their content, for their owner alone: the same twice is one file and two ids", () =>
    inFolder((dir) =>
      Effect.gen(function* () {
        const one = yield* put("hello");
        const two = yield* put("hello", { name: "b.txt" });
        assert.notStrictEqual(one.id, two.id);
        assert.match(one.id, /^att_[\w-]{22}$/);
        assert.deepStrictEqual([one.hash, one.size], [hashOf("hello"), 5]);
        assert.deepStrictEqual(files(dir), [hashOf("hello")]);
        assert.strictEqual(lstatSync(join(dir, "attachments")).mode & 0o777, 0o700);
        assert.strictEqual(lstatSync(join(dir, "attachments", one.hash)).mode & 0o777, 0o600);
        const attachments = yield* Attachments;
        assert.strictEqual(yield* attachments.remove(one.id), "removed");
        assert.strictEqual(yield* textOf(two.id), "hello");
        assert.strictEqual(yield* attachments.remove(two.id), "removed");
        assert.deepStrictEqual(files(dir), []);
        assert.strictEqual(yield* attachments.remove(two.id), "unknown");
      }),
    ),
  );

  it.effect("work in memory too, with a path", () =>
    Effect.gen(function* () {
      const { id } = yield* put("hello");
      const path = (yield* Attachments).path(id) ?? "";
      assert.strictEqual(readFileSync(path, "utf8"), "hello");
      assert.strictEqual(yield* textOf(id), "hello");
    }).pipe(Effect.provide(memoryStore())),
  );

  it.effect("refuse what is too large, or too much, as soon as it is; nothing of it stays", () =>
    inFolder((dir) =>
      Effect.gen(function* () {
        const attachments = yield* Attachments;
        let pulled = 0;
        const endless = Stream.forever(
          Stream.suspend(() => {
            pulled += 1;
            return Stream.make(new Uint8Array(300));
          }),
        );
        const large = yield* Effect.flip(attachments.put(endless, what));
        assert.deepStrictEqual(large, new AttachmentRefused({ reason: "too_large", limit: 1_000 }));
        assert.isAtMost(pulled, 5);
        for (let index = 0; index < 5; index += 1) yield* put(String(index).repeat(1_000));
        // What is there already takes no more room, but that shows only when all of it was seen.
        const full = yield* Effect.flip(put("one more"));
        assert.deepStrictEqual(full, new AttachmentRefused({ reason: "full", limit: 5_000 }));
        assert.lengthOf(files(dir), 5);
      }),
    ),
  );

  it.effect("make room when they go", () =>
    inFolder(() =>
      Effect.gen(function* () {
        const { id } = yield* put("x".repeat(900), { maxTotalBytes: 1_000 });
        assert.isTrue(Exit.isFailure(yield* Effect.exit(put("y".repeat(200), { maxTotalBytes: 1_000 }))));
        yield* (yield* Attachments).remove(id);
        yield* put("y".repeat(200), { maxTotalBytes: 1_000 });
      }),
    ),
  );

  it.effect("leave nothing when the upload breaks off or is interrupted", () =>
    inFolder((dir) =>
      Effect.gen(function* () {
        const attachments = yield* Attachments;
        const broken = Stream.concat(Stream.make(bytes("half")), Stream.fail("gone" as const));
        assert.strictEqual(yield* Effect.flip(attachments.put(broken, what)), "gone");
        const slow = Stream.concat(Stream.make(bytes("half")), Stream.never);
        const fiber = yield* Effect.forkChild(attachments.put(slow, what));
        while (files(dir).length === 0) yield* Effect.promise(() => turn());
        yield* Fiber.interrupt(fiber);
        assert.deepStrictEqual(files(dir), []);
        // What was on its way counts no more.
        yield* put("x".repeat(1_000), { maxTotalBytes: 1_000 });
      }),
    ),
  );

  it.effect("go after a day unused; those that threads use go when the last is purged", () =>
    inFolder((dir) =>
      Effect.gen(function* () {
        const attachments = yield* Attachments;
        const unused = yield* put("unused");
        const shared = yield* put("shared");
        const own = yield* put("own");
        assert.strictEqual((yield* use("A", shared.id, own.id)).status, "accepted");
        assert.strictEqual((yield* use("B", shared.id)).status, "accepted");
        assert.strictEqual(yield* attachments.remove(shared.id), "in_use");

        yield* TestClock.adjust(unusedMilliseconds - 1);
        yield* attachments.sweep;
        assert.isDefined(attachments.find(unused.id));
        yield* TestClock.adjust(1);
        yield* attachments.sweep;
        assert.isUndefined(attachments.find(unused.id));
        assert.sameMembers(files(dir), [shared.hash, own.hash]);

        yield* deleteThread("A");
        yield* attachments.sweep;
        assert.sameMembers(files(dir), [shared.hash, own.hash]);
        yield* purgeThread("A");
        yield* attachments.sweep;
        assert.deepStrictEqual(files(dir), [shared.hash]);
        yield* deleteThread("B");
        yield* purgeThread("B");
        yield* attachments.sweep;
        assert.deepStrictEqual(files(dir), []);
      }),
    ),
  );

  it.effect("that a command names and nobody knows have the command refused, for good", () =>
    inFolder(() =>
      Effect.gen(function* () {
        const { id } = yield* put("hello");
        const refused = yield* use("A", id, "att_none");
        assert.deepNestedInclude(refused, { status: "rejected", "rejection.code": "attachment_not_found" });
        // Refused as a whole: nothing uses the other one.
        assert.strictEqual(yield* (yield* Attachments).remove(id), "removed");
        const writer = yield* Writer;
        assert.isUndefined(writer.state("A"));
      }),
    ),
  );

  it.effect("a later input uses them as well, and keeps what is known of them in its event", () =>
    inFolder(() =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const attachments = yield* Attachments;
        const { id } = yield* put("hello");
        yield* writer.dispatch(createThread("T"), context);
        const named = [{ id, name: "/etc/passwd", mimeType: "image/png" }];
        yield* writer.dispatch({ ...submit("T", "i1"), attachments: named }, context);
        assert.strictEqual(yield* attachments.remove(id), "in_use");
        const { read } = yield* StoreConnections;
        const payload = read.prepare("SELECT payload FROM events WHERE type = 'input.queued'").get()?.["payload"];
        assert.deepStrictEqual(JSON.parse(String(payload)).attachments, [
          { id, name: "a.txt", mimeType: "text/plain" },
        ]);
      }),
    ),
  );

  it.effect("a crash between file and row leaves what the next start removes", () =>
    Effect.gen(function* () {
      const dir = yield* temporaryFolder;
      const kept = yield* put("kept").pipe(Effect.provide(storeIn(dir)));
      writeFileSync(join(dir, "attachments", hashOf("lost")), "lost");
      writeFileSync(join(dir, "attachments", "draft-0123"), "half");
      mkdirSync(join(dir, "attachments", "folder"));
      yield* Effect.gen(function* () {
        yield* (yield* Attachments).sweep;
        assert.deepStrictEqual(files(dir), [kept.hash]);
      }).pipe(Effect.provide(storeIn(dir)));
    }),
  );

  it.effect("what is missing or damaged reads as gone, is told by the check, and is mended by the same content", () =>
    inFolder((dir) =>
      Effect.gen(function* () {
        const store = yield* Store;
        const attachments = yield* Attachments;
        const one = yield* put("hello");
        const path = join(dir, "attachments", one.hash);
        assert.deepStrictEqual(yield* store.integrityCheck, []);
        writeFileSync(path, "jello");
        assert.deepStrictEqual(yield* store.integrityCheck, [
          `attachments: ${one.id} (a.txt) is damaged: attach it again`,
        ]);
        truncateSync(path, 2);
        assert.isUndefined(attachments.path(one.id));
        yield* put("hello");
        assert.deepStrictEqual(yield* store.integrityCheck, []);
        yield* Effect.promise(() => import("node:fs/promises").then(({ rm }) => rm(path)));
        assert.isUndefined(attachments.path(one.id));
        assert.match((yield* store.integrityCheck).join(), /is missing/);
      }),
    ),
  );

  it.effect("links in the folder are never followed", () =>
    inFolder((dir) =>
      Effect.gen(function* () {
        const attachments = yield* Attachments;
        const secret = join(dir, "secret");
        writeFileSync(secret, "hello");
        chmodSync(secret, 0o600);
        const one = yield* put("hello");
        const path = join(dir, "attachments", one.hash);
        yield* Effect.promise(() => import("node:fs/promises").then(({ rm }) => rm(path)));
        symlinkSync(secret, path);
        // Of the right size and content, and still not ours.
        assert.isUndefined(attachments.path(one.id));
        const read = yield* Effect.result(Stream.runDrain(attachments.content(path)));
        assert.isTrue(Result.isFailure(read));
        // The same content again takes the link's place, and leaves alone what it led to.
        yield* put("hello");
        assert.isFalse(lstatSync(path).isSymbolicLink());
        symlinkSync(secret, join(dir, "attachments", "elsewhere"));
        yield* attachments.sweep;
        assert.deepStrictEqual(files(dir), [one.hash]);
        assert.strictEqual(readFileSync(secret, "utf8"), "hello");
      }),
    ),
  );

  it.effect("a folder that leads elsewhere is refused at start", () =>
    Effect.gen(function* () {
      const dir = yield* temporaryFolder;
      mkdirSync(join(dir, "other"));
      symlinkSync(join(dir, "other"), join(dir, "attachments"));
      const opened = yield* Effect.flip(Effect.scoped(Effect.provide(put("x"), storeIn(dir))));
      assert.match(String((opened as Error).message), /is not a folder but a link/);
    }),
  );

  it.effect("a backup has every content that its rows name, also of what is removed meanwhile", () =>
    inFolder((dir) =>
      Effect.gen(function* () {
        const store = yield* Store;
        const attachments = yield* Attachments;
        const one = yield* put("one");
        const two = yield* put("two");
        yield* use("T", one.id);
        const copy = join(dir, "copy");
        const copying = yield* Effect.forkChild(store.backup(copy), { startImmediately: true });
        yield* attachments.remove(two.id);
        yield* Fiber.join(copying);
        const found = yield* Effect.gen(function* () {
          const copied = yield* Attachments;
          assert.deepStrictEqual(yield* (yield* Store).integrityCheck, []);
          return [yield* textOf(one.id), copied.find(two.id) === undefined || (yield* textOf(two.id)) === "two"];
        }).pipe(Effect.provide(storeIn(copy)));
        assert.deepStrictEqual(found, ["one", true]);
        yield* attachments.sweep;
        assert.deepStrictEqual(files(dir), [one.hash]);
        assert.isTrue(existsSync(join(copy, "attachments")));
      }),
    ),
  );
});
