import { assert, describe, it } from "@effect/vitest";
import {
  InputView,
  ProjectView,
  RequestRow,
  ThreadPage,
  ThreadShell,
  TimelineRow,
  TurnView,
} from "@tributary/contracts";
import { RowReader, StoreError } from "@tributary/store";
import { Effect, Layer, Schema } from "effect";
import { CursorInvalid } from "../src/cursor.ts";
import { Views } from "../src/views.ts";
import { openHarness } from "./store.ts";
import { beginTurn, makeHistory, say, startActivity } from "./history.ts";
import { randomHistory, seeded } from "./random-history.ts";

const messageId = "t-last//m#0";
const head = () => history.events.length;
const history = makeHistory();
history.add("P", "project.created", { root: "/p", title: "p" });
randomHistory(history, seeded(11), 3, 80);
beginTurn(history, "T0", "in-last", "t-last");
startActivity(history, "T0", "t-last", "c", { title: "ls" });
say(history, "T0", "t-last", "m", ["hello"], false);
history.add("T0", "request.opened", {
  requestId: "q-last",
  turnId: "t-last",
  agentPath: [],
  generation: 1,
  subjectHash: "h",
  kind: "user_input",
  questions: [{ id: "which", text: "Which?", options: [{ label: "a" }], multiple: false, freeText: true }],
});

const opened = Effect.acquireRelease(
  Effect.promise(async () => {
    const harness = await openHarness();
    await harness.apply(history.events);
    return harness;
  }),
  (harness) => Effect.promise(harness.close),
);

const views = Views.layer.pipe(
  Layer.provide(
    Layer.effect(
      RowReader,
      Effect.map(opened, (harness) => harness.reader),
    ),
  ),
);

/** Fails when the value is not what the contract says. */
const conforms = <A>(schema: Schema.Codec<A, unknown>, value: unknown): void => {
  // As it crosses the wire.
  assert.deepStrictEqual(Schema.decodeUnknownSync(schema)(JSON.parse(JSON.stringify(value))), value as A);
};

describe("Views", () => {
  it.effect("gives what the contracts say", () =>
    Effect.gen(function* () {
      const views = yield* Views;
      const { shells, sequence } = yield* views.shells({});
      assert.strictEqual(shells.length, 3);
      assert.strictEqual(sequence, head());
      for (const each of shells) {
        conforms(ThreadShell, each);
        let before: string | undefined;
        do {
          const page = yield* views.threadPage({
            threadId: each.threadId,
            maxBytes: 3000,
            ...(before === undefined ? {} : { before }),
          });
          conforms(ThreadPage, page);
          assert.strictEqual(page?.sequence, head());
          before = page?.before;
        } while (before !== undefined);
        for (const input of yield* views.inputs(each.threadId)) conforms(InputView, input);
      }
      for (const state of ["pending", "answered", "withdrawn"] as const) {
        const page = yield* views.requests({ state });
        assert.isAbove(page.requests.length, 0);
        for (const request of page.requests) conforms(RequestRow, request);
      }
      conforms(TurnView, yield* views.turn("T0", "t-last"));
      conforms(TimelineRow, yield* views.message("T0", messageId));
      conforms(TimelineRow, (yield* views.itemOutput("T0", "c"))?.activity);
      assert.strictEqual((yield* views.sessions("T0"))[0]?.state, "ready");
      for (const each of yield* views.projects) conforms(ProjectView, each);
      assert.strictEqual((yield* views.project("P"))?.root, "/p");
      assert.strictEqual(yield* views.shell("none"), undefined);
      assert.strictEqual(yield* views.threadPage({ threadId: "none" }), undefined);
      assert.strictEqual(yield* views.reasoning("T0", "none"), undefined);
      assert.strictEqual(yield* views.turnDiff("T0", "none"), undefined);
    }).pipe(Effect.provide(views)),
  );

  it.effect("pages by cursors, both ways", () =>
    Effect.gen(function* () {
      const views = yield* Views;
      const newest = yield* views.threadPage({ threadId: "T0", maxTurns: 1 });
      assert.isDefined(newest?.before);
      assert.isUndefined(newest?.after);
      const older = yield* views.threadPage({ threadId: "T0", maxTurns: 1, before: newest?.before ?? "" });
      assert.isDefined(older?.after);
      const back = yield* views.threadPage({ threadId: "T0", maxTurns: 1, after: older?.after ?? "" });
      assert.deepStrictEqual(back?.rows, newest?.rows);
      const first = yield* views.shells({ limit: 2 });
      const rest = yield* views.shells({ limit: 2, before: first.before ?? "" });
      assert.strictEqual(new Set([...first.shells, ...rest.shells].map((each) => each.threadId)).size, 3);
      assert.isUndefined(rest.before);
    }).pipe(Effect.provide(views)),
  );

  it.effect("refuses cursors that are not of the event log", () =>
    Effect.gen(function* () {
      const views = yield* Views;
      const wrong: ReadonlyArray<Effect.Effect<unknown, CursorInvalid | StoreError>> = [
        views.shells({ before: "x" }),
        views.threadPage({ threadId: "T0", before: "r:3" }),
        views.threadPage({ threadId: "T0", after: "" }),
        views.requests({ state: "pending", after: "e:x" }),
      ];
      for (const query of wrong) assert.instanceOf(yield* Effect.flip(query), CursorInvalid);
    }).pipe(Effect.provide(views)),
  );

  it.effect("fails with StoreError when the store cannot be read", () =>
    Effect.gen(function* () {
      const harness = yield* opened;
      yield* Effect.promise(harness.close);
      const error = yield* Effect.flip(Views.make(harness.reader).shell("T0"));
      assert.instanceOf(error, StoreError);
      assert.strictEqual(error.reason, "io");
    }).pipe(Effect.scoped),
  );
});
