import type { ClientCommand } from "@tributary/contracts";
import type { DecideContext } from "@tributary/domain";
import { projector, Views } from "@tributary/projections";
import { benchNewestPage } from "@tributary/projections/bench";
import { Projection, Store, Writer } from "@tributary/store";
import { Effect, Fiber, Layer } from "effect";
import { percentile, scaled, type BenchContext } from "../harness.ts";
import { inScratch } from "../runs.ts";

const threads = Array.from({ length: 64 }, (_, index) => `writing-${index}`);

const context: DecideContext = {
  now: "2026-01-01T00:00:00.000Z",
  actor: { kind: "client", id: "bench" },
  place: { projectId: "project", cwd: "/project" },
  instance: { known: true, refusedOptions: {} },
};

const create = (threadId: string): ClientCommand => ({
  type: "thread.create",
  commandId: `create-${threadId}`,
  threadId,
  cwd: "/project",
  instance: "stub",
});

/** Submits an input, then takes it back, and so on: the queue stays short. */
const command = (threadId: string, n: number): ClientCommand => {
  const thread = { commandId: `${threadId}-${n}`, threadId, inputId: `${threadId}-${n >> 1}` };
  return n % 2 === 0
    ? { type: "input.submit", ...thread, text: "Please look at the failing test.", delivery: "queue" }
    : { type: "input.withdraw", ...thread };
};

interface UnderLoad {
  /** Milliseconds of each page, from the moment it was due: the wait for the writer's turn is in it. */
  readonly asked: ReadonlyArray<number>;
  /** Milliseconds of reading alone. */
  readonly read: ReadonlyArray<number>;
  /** Commands per second that were written meanwhile. */
  readonly written: number;
}

/** Resolves when it is due, or as late as the loop allows; the value is the moment it was due. */
const dueIn = (milliseconds: number): Promise<number> => {
  const due = performance.now() + milliseconds;
  return new Promise((resolve) => {
    setTimeout(() => resolve(due), milliseconds);
  });
};

/** Pages of the filled thread `T` of `dir`, while 64 clients write as fast as they can. */
const pagesUnderLoad = (dir: string, pages: number): Promise<UnderLoad> => {
  const store = Store.layer({ dir, synchronous: "full" }).pipe(Layer.provide(Layer.succeed(Projection, projector)));
  return Effect.gen(function* () {
    const writer = yield* Writer;
    const views = yield* Views;
    for (const thread of threads) yield* writer.dispatch(create(thread), context);
    let commands = 0;
    const client = (thread: string) =>
      Effect.gen(function* () {
        for (let n = 0; ; n += 1) {
          yield* writer.dispatch(command(thread, n), context);
          commands += 1;
        }
      });
    const load = yield* Effect.forkChild(Effect.forEach(threads, client, { concurrency: "unbounded", discard: true }));
    const asked: Array<number> = [];
    const read: Array<number> = [];
    const begun = performance.now();
    for (let page = 0; page < pages; page += 1) {
      // Not in step with the writer's groups.
      const due = yield* Effect.promise(() => dueIn(3 + (page % 7)));
      const start = performance.now();
      const found = yield* views.threadPage({ threadId: "T" });
      const end = performance.now();
      if (found === undefined || found.rows.length === 0) return yield* Effect.die("the thread has no page");
      asked.push(end - due);
      read.push(end - start);
    }
    const written = (commands / (performance.now() - begun)) * 1_000;
    yield* Fiber.interrupt(load);
    return { asked, read, written };
  }).pipe(Effect.provide(Views.layer.pipe(Layer.provideMerge(store))), Effect.runPromise);
};

/** The newest page of a long thread: in an idle store, and while others write. */
export const newestPage = ({ scale, report }: BenchContext, folder: string): Promise<void> =>
  inScratch(folder, async (dir) => {
    const events = scaled(100_000, scale, 200);
    const idle = await benchNewestPage({ dir, events, pages: scaled(2_000, scale, 50) });
    const loaded = await pagesUnderLoad(dir, scaled(1_000, scale, 50));
    const what = `newest page of a thread of ${events.toLocaleString("en-US")} events`;
    report(
      { what: `${what}, idle, p50`, value: idle.p50, unit: "ms" },
      { what: `${what}, idle, p99`, value: idle.p99, unit: "ms", budget: { atMost: 5 } },
      { what: `${what}, under write load, reading alone, p99`, value: percentile(loaded.read, 0.99), unit: "ms" },
      {
        what: `${what}, under write load, p99`,
        value: percentile(loaded.asked, 0.99),
        unit: "ms",
        budget: { atMost: 15 },
      },
      { what: "commands written while pages were read, FULL", value: loaded.written, unit: "commands/s" },
    );
  });
