import { assert, describe, it } from "@effect/vitest";
import * as domain from "@tributary/domain";
import {
  RowReader,
  Store,
  StoreConnections,
  Writer,
  type Domain,
  type Projector,
  type StoreError,
} from "@tributary/store";
import { Effect, Exit } from "effect";
import { context, createThread, rename, runtime } from "../support/commands.ts";
import type { StoreLayer } from "../support/layers.ts";
import { testProjector } from "../support/projector.ts";

/** A domain that throws for the title "boom". */
const brittle: Domain = {
  ...domain,
  decideThread: (state, command, given, look) => {
    if (command.type === "thread.rename" && command.title === "boom") throw new Error("boom");
    return domain.decideThread(state, command, given, look);
  },
};

/** A projector whose rows for the title "boom" break their table's rules: only writing them shows it. */
const clumsy: Projector = {
  ...testProjector,
  project: (event) =>
    event.type === "thread.renamed" && event.payload.title === "boom"
      ? [{ op: "put", table: "threads", row: { thread_id: event.streamId } }]
      : testProjector.project(event),
};

/** A projector that names a table which it does not have. */
const lost: Projector = {
  ...testProjector,
  project: (event) =>
    event.type === "thread.renamed" && event.payload.title === "boom"
      ? [{ op: "delete", table: "nowhere", key: { id: "x" } }]
      : testProjector.project(event),
};

const fifty = Array.from({ length: 50 }, (_, index) => `T${index}`);

const outcomes = (writer: Writer["Service"], bad: number) =>
  Effect.forEach(
    fifty,
    (id, index) => Effect.exit(writer.dispatch(rename(id, `r-${id}`, index === bad ? "boom" : "fine"), context)),
    { concurrency: "unbounded" },
  );

export const faultSuite = (layer: StoreLayer): void => {
  describe("faults in a group (I1)", () => {
    const faults = {
      "a decider that throws": { domain: brittle },
      "a row that can't be written": { projector: clumsy },
      "a table that is not there": { projector: lost },
    };
    for (const [name, options] of Object.entries(faults)) {
      it.effect(`${name} fails alone among fifty`, () =>
        Effect.gen(function* () {
          const writer = yield* Writer;
          yield* Effect.forEach(fifty, (id) => writer.dispatch(createThread(id), context), {
            concurrency: "unbounded",
          });
          const exits = yield* outcomes(writer, 17);
          for (const [index, exit] of exits.entries())
            assert.strictEqual(Exit.isSuccess(exit), index !== 17, `command ${index}`);
          assert.strictEqual(writer.head(), 99);
          assert.isUndefined(writer.state("T17")?.title);
          assert.deepStrictEqual(yield* (yield* Store).integrityCheck, []);
          assert.strictEqual(
            (yield* RowReader).get("SELECT count(*) AS n FROM {threads} WHERE title = 'fine'")?.["n"],
            49,
          );
          // It left no receipt, so its id is still free.
          const again = yield* writer.dispatch(rename("T17", "r-T17", "fine"), context);
          assert.strictEqual(again.status, "accepted");
        }).pipe(Effect.provide(layer(options))),
      );
    }

    it.effect("steps beside a row that can't be written are not called twice, and go through", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        for (const id of ["A", "B"]) yield* writer.dispatch(createThread(id), context);
        let calls = 0;
        const title = (threadId: string, text: string) =>
          writer.step(threadId, (tx) => {
            calls += 1;
            tx.checkpoint(1, calls, "{}");
            return tx.decide({ type: "thread.title", title: text }, runtime).ok;
          });
        const run = <A>(effect: Effect.Effect<A, StoreError>) => Effect.exit(effect);
        const [before, bad, after, other] = yield* Effect.all(
          [run(title("A", "first")), run(title("A", "boom")), run(title("A", "third")), run(title("B", "other"))],
          { concurrency: "unbounded" },
        );
        assert.strictEqual(calls, 4);
        assert.isTrue(Exit.isSuccess(before) && Exit.isSuccess(other), "the innocent steps are committed");
        assert.isTrue(Exit.isFailure(bad), "the bad one failed");
        assert.isTrue(Exit.isFailure(after), "what stood on the bad one failed too");
        assert.strictEqual(writer.state("A")?.title, "first");
        assert.strictEqual(writer.state("B")?.title, "other");
        assert.deepStrictEqual([writer.checkpoint("A")?.seq, writer.checkpoint("B")?.seq], [1, 4]);
        assert.deepStrictEqual(yield* (yield* Store).integrityCheck, []);
      }).pipe(Effect.provide(layer({ projector: clumsy }))),
    );
  });

  describe("a full disk (I1)", () => {
    it.effect("fails with `full`, leaves nothing half, and works again once there is room", () =>
      Effect.gen(function* () {
        const writer = yield* Writer;
        const { main } = yield* StoreConnections;
        yield* writer.dispatch(createThread("T"), context);
        const pages = Number(main.db.prepare("PRAGMA page_count").get()?.["page_count"]);
        main.exec(`PRAGMA max_page_count = ${pages + 2}`);
        const big = rename("T", "big", "x".repeat(200_000));
        const errors = yield* Effect.all(
          [
            Effect.flip(writer.dispatch(big, context)),
            Effect.flip(writer.dispatch(rename("T", "r2", "y".repeat(200_000)), context)),
          ],
          { concurrency: "unbounded" },
        );
        assert.deepStrictEqual(
          errors.map((error) => error.reason),
          ["full", "full"],
        );
        assert.include(errors[0].message, "Free disk space");
        assert.strictEqual(writer.head(), 1);
        assert.isUndefined(writer.state("T")?.title);
        assert.deepStrictEqual(yield* (yield* Store).integrityCheck, []);
        main.exec("PRAGMA max_page_count = 4294967294");
        assert.deepStrictEqual(yield* writer.dispatch(big, context), {
          status: "accepted",
          commandId: "big",
          sequence: 2,
        });
        assert.strictEqual(writer.state("T")?.title?.length, 200_000);
      }).pipe(Effect.provide(layer())),
    );
  });
};
