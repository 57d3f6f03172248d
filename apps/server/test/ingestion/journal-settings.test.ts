/** What the journal keeps is a setting, in force at the next sweep: at start, and every hour. */
import { assert, describe, it } from "@effect/vitest";
import type { RuntimeEvent } from "@tributary/contracts";
import { Effect } from "effect";
import { startServer, temporaryFolders } from "../support/server.ts";
import type { TestServer } from "../support/server.ts";
import { saying } from "./saying.ts";

const output = "line\n".repeat(40_000);
const events: ReadonlyArray<RuntimeEvent> = [
  { type: "turn.started", turnId: "t1", payload: { inputIds: ["i"] } },
  { type: "item.started", turnId: "t1", itemId: "ls", payload: { itemType: "command", title: "ls" } },
  { type: "content.delta", turnId: "t1", itemId: "ls", payload: { stream: "command_output", text: output } },
  { type: "item.completed", turnId: "t1", itemId: "ls", payload: { itemType: "command" } },
  {
    type: "content.delta",
    turnId: "t1",
    itemId: "m",
    payload: { stream: "assistant_text", text: "done" },
  },
  { type: "turn.completed", turnId: "t1", payload: { outcome: "completed" } },
];

const records = (server: TestServer) =>
  Effect.map(
    Effect.promise(() => server.call("/threads/T/records")),
    ({ body }) => body.records as ReadonlyArray<{ readonly seq: number }>,
  );

const until = <A>(look: Effect.Effect<A>, holds: (value: A) => boolean): Effect.Effect<A> =>
  Effect.flatMap(look, (value) =>
    holds(value) ? Effect.succeed(value) : Effect.andThen(Effect.sleep("50 millis"), until(look, holds)),
  );

describe("the journal's limits", () => {
  it.live(
    "are settings: what is beyond them is gone at the next start, reads as expired, and is missed by nothing else",
    () =>
      Effect.gen(function* () {
        const folders = yield* temporaryFolders;
        yield* Effect.gen(function* () {
          const server = yield* startServer(folders, { adapters: { said: saying(events) } });
          const call = (...args: Parameters<typeof server.call>) => Effect.promise(() => server.call(...args));
          yield* call("/projects", { body: { root: server.work } });
          yield* call("/instances", { body: { id: "said", runtime: "said" } });
          const input = { inputId: "i", text: "go" };
          yield* call("/threads", { body: { threadId: "T", cwd: server.work, instance: "said", input } });
          yield* until(call("/threads/T"), ({ body }) => body.thread.lastTurn?.state === "completed");
          assert.strictEqual((yield* records(server)).length, events.length);
          const whole = yield* call("/threads/T/items/ls/output");
          assert.deepInclude(whole.body, { output, complete: true });
          const refused = yield* call("/settings", { method: "PATCH", body: { journalMaxBytes: -1 } });
          assert.strictEqual(refused.status, 400);
          const changed = yield* call("/settings", { method: "PATCH", body: { journalMaxBytes: 1 } });
          assert.deepInclude(changed.body, { journalMaxBytes: 1 });
          // Not before the next sweep.
          assert.strictEqual((yield* records(server)).length, events.length);
        }).pipe(Effect.scoped);
        const server = yield* startServer(folders, { adapters: { said: saying(events) } });
        const call = (...args: Parameters<typeof server.call>) => Effect.promise(() => server.call(...args));
        yield* until(records(server), ({ length }) => length === 0);
        const { body } = yield* call("/threads/T");
        const texts = body.rows.filter((row: { kind: string }) => row.kind === "message");
        assert.strictEqual(texts.at(-1).text, "done");
        const cut = yield* call("/threads/T/items/ls/output");
        assert.strictEqual(cut.body.complete, false);
        assert.match(cut.body.output, /^line\n[^]*no longer kept[^]*line\n$/);
      }).pipe(Effect.scoped),
    60_000,
  );
});
