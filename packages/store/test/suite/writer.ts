import { assert, describe, it } from "@effect/vitest";
import { EventLog, ReadMarkers, Refusals, RowReader, Signals, Store, Writer } from "@tributary/store";
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect";
import { TestClock } from "effect/testing";
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
import type { StoreLayer } from "../support/layers.ts";

export const writerSuite = (layer: StoreLayer): void => {
  describe("writer", () => {
    it.effect("numbers events and says where they come from (I3)", () =>
      Effect.gen(function* () {
        // Not far from where the clock begins: what the store does every hour is done for each on the way.
        yield* TestClock.setTime(Date.parse("1970-01-02T03:04:05.006Z"));
        const writer = yield* Writer;
        const log = yield* EventLog;
        yield* writer.dispatch(createThread("T"), context);
        yield* writer.step("T", (tx) =>
          tx.decide(
            { type: "thread.title", title: "by runtime" },
            { ...runtime, record: { threadId: "T", generation: 1, seq: 7 } },
          ),
        );
        const [created, renamed] = yield* log.page({ after: 0 });
        assert.deepStrictEqual(
          { ...created, payload: undefined },
          {
            type: "thread.created",
            payload: undefined,
            sequence: 1,
            streamId: "T",
            version: 1,
            eventId: `${log.epoch}-1`,
            schemaVersion: 1,
            occurredAt: "1970-01-02T03:04:05.006Z",
            commandId: "create-T",
            correlationId: "create-T",
            causationId: "create-T",
            actor: { kind: "client", id: "device-1" },
          },
        );
        assert.strictEqual(renamed?.causationId, null);
        assert.deepStrictEqual(renamed?.record, { threadId: "T", generation: 1, seq: 7 });
        assert.isFalse("commandId" in (renamed ?? {}));
      }).pipe(Effect.provide(layer())),
    );

    it.effect("leaves no gap under concurrency, and a state stands on its newest event", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const threads = ["A", "B", "C"];
        yield* Effect.forEach(threads, (id) => writer.dispatch(createThread(id), context), {
          concurrency: "unbounded",
        });
        yield* Effect.forEach(
          Array.from({ length: 300 }, (_, index) => index),
          (index) => writer.dispatch(submit(threads[index % 3] ?? "A", `i${index}`), context),
          { concurrency: 64 },
        );
        assert.strictEqual(writer.head(), 303);
        assert.deepStrictEqual(yield* (yield* Store).integrityCheck, []);
        for (const id of threads) assert.strictEqual(writer.state(id)?.version, 101);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("a step sees what it did, and its result comes after the commit", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        yield* writer.dispatch(createThread("T"), context);
        const seen = yield* writer.step("T", (tx) => {
          decideAll(tx, [
            ...openSession,
            startTurn("t1"),
            append("t1", "m", 0, "Hello"),
            append("t1", "m", 5, " you"),
            complete("t1", "m"),
          ]);
          return {
            inside: tx.look.closed("text", "t1//m#0"),
            turn: tx.state()?.turn?.turnId,
            outside: writer.state("T")?.turn,
          };
        });
        assert.deepStrictEqual(seen, {
          inside: { kind: "text", id: "t1//m#0", length: 9, retracted: false },
          turn: "t1",
          outside: undefined,
        });
        assert.strictEqual(writer.state("T")?.turn?.turnId, "t1");
        assert.strictEqual(writer.look("T").closed("text", "t1//m#0")?.length, 9);
        assert.deepStrictEqual(writer.openThreads(), ["T"]);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("checkpoint and refusals commit with the step's events", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const refusals = yield* Refusals;
        yield* writer.dispatch(createThread("T"), context);
        const refusal = { threadId: "T", generation: 1, seq: 3, type: "turn.started", reason: "turn_over" } as const;
        yield* writer.step("T", (tx) => {
          tx.checkpoint(1, 2, "{}");
          tx.refuse(refusal);
          tx.checkpoint(1, 3, '{"a":1}');
        });
        yield* writer.step("T", (tx) => tx.refuse(refusal));
        assert.deepStrictEqual(writer.checkpoint("T"), { generation: 1, seq: 3, interpretive: '{"a":1}' });
        assert.deepStrictEqual(yield* refusals.page({ after: 1 }), [{ id: 2, ...refusal }]);
        assert.strictEqual((yield* refusals.page({ after: 0, threadId: "T" })).length, 2);
        assert.deepStrictEqual(yield* refusals.counts("T"), { turn_over: 2 });
      }).pipe(Effect.provide(layer())),
    );

    it.effect("a step that throws is undone alone", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        yield* writer.dispatch(createThread("T"), context);
        const bad = writer.step("T", (tx) => {
          decideAll(tx, openSession);
          tx.checkpoint(1, 9, "{}");
          tx.refuse({ threadId: "T", generation: 1, seq: 9, type: "x", reason: "invalid" });
          throw new Error("a bug");
        });
        const good = writer.dispatch(rename("T", "r1", "kept"), context);
        const [failed, kept] = yield* Effect.all([Effect.flip(bad), good], { concurrency: "unbounded" });
        assert.strictEqual(failed.reason, "fault");
        assert.include(failed.message, "a bug");
        assert.strictEqual(kept.status, "accepted");
        assert.strictEqual(writer.head(), 2);
        assert.isUndefined(writer.state("T")?.session);
        assert.isUndefined(writer.checkpoint("T"));
        assert.deepStrictEqual(yield* (yield* Refusals).counts("T"), {});
      }).pipe(Effect.provide(layer())),
    );

    it.effect("a step's transaction can't be used after the step", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        yield* writer.dispatch(createThread("T"), context);
        const leaked = yield* writer.step("T", (tx) => tx);
        assert.throws(() => leaked.decide({ type: "thread.title", title: "late" }, runtime), "after the step");
        assert.strictEqual(writer.head(), 1);
      }).pipe(Effect.provide(layer())),
    );

    it.effect("read markers move forward only, and make no event", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const markers = yield* ReadMarkers;
        for (const id of ["A", "B"]) yield* writer.dispatch(createThread(id), context);
        const read = (threadId: string, upTo: number) =>
          writer.dispatch({ type: "thread.read", commandId: `read-${threadId}-${upTo}`, threadId, upTo }, context);
        yield* read("A", 1);
        yield* read("B", 2);
        yield* read("A", 2);
        yield* read("A", 1);
        assert.strictEqual(writer.head(), 2);
        assert.strictEqual(markers.position("device-1", "A"), 2);
        assert.strictEqual(markers.position("somebody", "A"), 0);
        assert.deepStrictEqual(yield* markers.page({ actorId: "device-1", after: 0 }), [
          { actorId: "device-1", threadId: "B", position: 2, revision: 2 },
          { actorId: "device-1", threadId: "A", position: 2, revision: 3 },
        ]);
        assert.deepStrictEqual(yield* markers.page({ actorId: "device-1", after: 3 }), []);
        // Nobody has read what is not there yet.
        yield* read("B", 1_000);
        assert.strictEqual(markers.position("device-1", "B"), 2);
        const unknown = yield* read("nowhere", 1);
        assert.strictEqual(unknown.status, "rejected");
      }).pipe(Effect.provide(layer())),
    );

    it.effect("tells listeners and signals after the commit", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const signals = yield* Signals;
        const heard: Array<readonly [ReadonlyArray<string>, number]> = [];
        const signal = yield* signals.subscribe(["T"]);
        yield* signals.onCommit((threads) => heard.push([[...threads], writer.head()]));
        yield* writer.dispatch(createThread("T"), context);
        yield* signal.wait;
        assert.deepStrictEqual(heard, [[["T"], 1]]);
      }).pipe(Effect.scoped, Effect.provide(layer())),
    );

    it.effect("projects and threads are streams of their own", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const made = yield* writer.dispatch(
          { type: "project.create", commandId: "p1", projectId: "P", root: "/p", title: "One" },
          context,
        );
        assert.strictEqual(made.status, "accepted");
        yield* writer.dispatch({ type: "project.update", commandId: "p2", projectId: "P", title: "Two" }, context);
        assert.deepStrictEqual(writer.project("P"), {
          projectId: "P",
          root: "/p",
          title: "Two",
          deleted: false,
          version: 2,
        });
        assert.isUndefined(writer.state("P"));
      }).pipe(Effect.provide(layer())),
    );

    it.effect("states beyond the cache come from their rows", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const ids = Array.from({ length: 20 }, (_, index) => `T${index}`);
        for (const id of ids) yield* writer.dispatch(createThread(id), context);
        for (const id of ids) yield* writer.dispatch(rename(id, `r-${id}`, `title ${id}`), context);
        for (const id of ids) assert.strictEqual(writer.state(id)?.title, `title ${id}`);
        assert.strictEqual((yield* RowReader).get("SELECT count(*) AS n FROM {threads}")?.["n"], 20);
      }).pipe(Effect.provide(layer({ cachedThreads: 3 }))),
    );

    it.effect("handles what was accepted before it closes, and takes nothing after", () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make();
        const writer = Context.get(yield* Layer.buildWithScope(layer(), scope), Writer);
        const waiting = yield* Effect.forEach(
          Array.from({ length: 300 }, (_, index) => `T${index}`),
          (id) => Effect.forkChild(writer.dispatch(createThread(id), context), { startImmediately: true }),
        );
        yield* Scope.close(scope, Exit.void);
        for (const fiber of waiting) assert.strictEqual((yield* Fiber.join(fiber)).status, "accepted");
        const late = yield* Effect.flip(writer.dispatch(createThread("late"), context));
        assert.strictEqual(late.reason, "closed");
      }),
    );
  });
};
