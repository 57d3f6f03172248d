/**
 * The reducer against the server's own pages: every scenario file, a page after each of its lines. The client package
 * shares no code with the projections, so what both say is what the events say.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { apply, committed, open, start } from "@tributary/client/reducer";
import type { Page, PublicEvent, ThreadView } from "@tributary/client/reducer";
import { Views } from "@tributary/projections";
import { RowReader } from "@tributary/store";
import { Clock, Effect, Layer, References } from "effect";
import { toPublic } from "../../src/http/public-events.ts";
import { runLine } from "../../src/scenario/lines.ts";
import { parseScript } from "../../src/scenario/script.ts";
import { openStage } from "../../src/scenario/stage.ts";
import type { Stage } from "../../src/scenario/stage.ts";
import { scenarioFiles } from "../support/scenario-file.ts";

interface Played {
  readonly pages: ReadonlyArray<Page>;
  readonly events: ReadonlyArray<PublicEvent>;
}

const pagesOf = (stage: Stage, threadIds: Iterable<string>) => {
  const { rows } = stage.world();
  return Effect.forEach(threadIds, (threadId) =>
    Views.use((views) => views.threadPage({ threadId, maxBytes: 1024 * 1024 })),
  ).pipe(
    Effect.map((pages) => pages.filter((page) => page !== undefined)),
    Effect.provide(Views.layer.pipe(Layer.provide(Layer.succeed(RowReader, rows)))),
  );
};

const play = Effect.fnUntraced(function* (text: string, dir: string) {
  const stage = yield* openStage(dir, process.cwd());
  const pages: Array<Page> = [];
  const threads = new Set<string>();
  const look = Effect.gen(function* () {
    if (stage.threadId !== "") threads.add(stage.threadId);
    pages.push(...(yield* pagesOf(stage, threads)));
  });
  const all = Effect.gen(function* () {
    yield* stage.open;
    for (const line of parseScript(text)) {
      yield* runLine(stage, line);
      yield* stage.settle;
      yield* look;
    }
    yield* stage.drain;
    yield* look;
    const { log } = stage.world();
    const events = yield* log.page({ after: 0, limit: 10_000 });
    return { pages, events: events.flatMap((event) => toPublic(event, log.epoch) ?? []) } satisfies Played;
  });
  return yield* Effect.ensuring(all, stage.close).pipe(
    Effect.provideService(Clock.Clock, stage.time.clock),
    Effect.provideService(References.MinimumLogLevel, "Error"),
  );
});

const played = (text: string): Promise<Played> =>
  Effect.runPromise(
    Effect.acquireUseRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "tributary-client-"))),
      (dir) => play(text, dir),
      (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true })),
    ),
  );

const frame = (data: PublicEvent) => ({ event: "event" as const, data });

/**
 * A page and a view are compared as of the page's sequence, which other threads may have raised. A page names the turns of
 * its rows, and the newest; a view also those of which no row was made.
 */
const shown = (page: Omit<Page, "cursor"> | undefined, turnIds: ReadonlyArray<string>) => {
  if (page === undefined) return undefined;
  const { thread, rows, turns, inputs, plan } = page;
  const named = turns.filter(({ id }) => turnIds.includes(id));
  return JSON.parse(JSON.stringify({ thread, rows, turns: named, inputs, plan })) as unknown;
};

const same = (view: ThreadView, page: Page, message: string): void => {
  const turnIds = page.turns.map(({ id }) => id);
  assert.deepStrictEqual(shown(committed(view), turnIds), shown(page, turnIds), message);
};

const upTo = (view: ThreadView, events: ReadonlyArray<PublicEvent>, sequence: number): ThreadView =>
  apply(view, events.filter((event) => event.sequence <= sequence && event.sequence > view.sequence).map(frame));

describe("the reducer says what the server's page says", () => {
  it.each(scenarioFiles.map(({ name, text }) => [name, text] as const))("%s", async (_, text) => {
    const { pages, events } = await played(text);
    for (const threadId of new Set(pages.map(({ thread }) => thread.threadId))) {
      const ofThread = pages.filter(({ thread }) => thread.threadId === threadId);
      const last = ofThread.at(-1) as Page;
      let view = start(threadId);
      for (const page of ofThread) {
        view = upTo(view, events, page.sequence);
        // From the first event on.
        same(view, page, `at ${page.sequence}`);
        // From this snapshot on, to the end.
        same(upTo(open(page), events, last.sequence), last, `joined at ${page.sequence}`);
      }
    }
  });
});
